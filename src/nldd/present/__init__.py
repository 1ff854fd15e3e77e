"""What both applications show: tables as records, pages, figures and the terminal."""
