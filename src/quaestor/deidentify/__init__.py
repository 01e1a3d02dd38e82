"""Finds and replaces names in text, without side effects."""
