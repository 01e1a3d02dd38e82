"""Quaestor takes an empirical study of how people use software from raw evidence to published findings."""

__version__ = "0.1.0"
