"""Tables of survey answers in and out: CSV, TSV, workbooks, JSON lines and Parquet, in blocks.

``open_table -> TableReader -> blocks of rows -> TableWriter <- create_table``

Neither side holds more than a block in memory as Python objects; of a workbook that is read, the
library that reads it (calamine) holds the sheet. A writer's file gets its name when it is complete.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
