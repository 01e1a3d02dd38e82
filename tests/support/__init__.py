"""Helpers that tests, campaigns and benchmarks share."""
