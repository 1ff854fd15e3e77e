"""Tables of survey answers in and out: CSV, TSV, XLSX, JSON lines and Parquet, in blocks of rows.

::

    open_table -> TableReader -> blocks of rows -> TableWriter <- create_table
                     |                                |
                   Source                            Sink
       CsvRows  XlsxRows  JsonlRows  ParquetRows     CsvSink  XlsxSink  JsonlSink

Neither side holds more than a block in memory. A writer's file gets its name when it is complete.
"""

from nldd.tables._cells import cell_number, cell_text, guarded
from nldd.tables._reader import TableReader, open_table
from nldd.tables._records import Block, Cell, TableFormat
from nldd.tables._writer import TableWriter, create_table

__all__ = [
    "Block",
    "Cell",
    "TableFormat",
    "TableReader",
    "TableWriter",
    "cell_number",
    "cell_text",
    "create_table",
    "guarded",
    "open_table",
]
