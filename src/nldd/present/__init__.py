"""Shared by both applications: tables as records, pages, figures and the terminal."""
