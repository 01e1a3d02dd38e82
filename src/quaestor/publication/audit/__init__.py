"""Computed against printed, cell by cell."""
