"""Compares printed figures with computed ones, cell by cell."""
