"""Interviews of a study, one use case a module."""
