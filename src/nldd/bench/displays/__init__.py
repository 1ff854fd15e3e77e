"""Figures as objects: they hold what was computed, and `plot` draws it."""
