"""Data sets: the one that comes with the package."""

from nldd.datasets._yeast import Dataset, load_yeast

__all__ = ["Dataset", "load_yeast"]
