"""Finds and replaces names in text; pure."""
