"""Interrater agreement: one function, `agreement`, for the desk, the command line and publications."""

from quaestor.measures.agreement.confusion import find_confused_items
from quaestor.measures.agreement.report import agreement, to_json
from quaestor.measures.agreement.table import RatingTable, build_rating_table, build_set_table

__all__ = ["RatingTable", "agreement", "build_rating_table", "build_set_table", "find_confused_items", "to_json"]
