"""Benchmarks: methods on data sets under a protocol, cell by cell and resumable."""
