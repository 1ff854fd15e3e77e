"""Tables of answers in and out: CSV, workbooks, JSON lines, Parquet, SPSS, Stata, SAS.

``read_table -> Spreadsheet``, a frame of cells in memory, and ``write_table`` of such a frame. No
other part of the package opens a table.
"""
