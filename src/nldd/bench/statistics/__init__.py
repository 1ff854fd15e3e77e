"""Comparisons of methods over data sets: ranks and tests."""
