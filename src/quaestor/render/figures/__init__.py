"""Figures of a study as SVG, PDF and PNG: drawn from given values, the same bytes each time."""
