"""Protocols: splits, preparation of the data, methods and their settings."""
