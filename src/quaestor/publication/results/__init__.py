"""Computes tables, figures and findings from decided items."""
