"""Tables of answers in and out, in blocks: CSV, workbooks, JSON lines, Parquet, SPSS, Stata, SAS.

``open_table -> TableReader -> blocks of rows -> TableWriter <- create_table``

Neither side holds more than a block in memory as Python objects; of a workbook that is read, the
library that reads it (calamine) holds the sheet, and a file of SPSS, Stata or SAS is written from
memory. A writer's file gets its name when it is complete.
"""
