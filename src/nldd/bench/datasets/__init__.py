"""Data sets: the catalogue of the paper's nine, and files of your own."""
