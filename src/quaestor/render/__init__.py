"""Renders tables and figures from values that other packages compute."""
