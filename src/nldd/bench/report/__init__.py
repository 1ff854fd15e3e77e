"""The report of a benchmark: its tables, figures and the paper's values beside them."""
