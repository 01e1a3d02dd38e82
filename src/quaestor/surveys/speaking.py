"""What is said to respondents: in the language of their survey, else in one that their browser asks for."""

from __future__ import annotations

from quaestor.instruments.words.catalogue import accepted
from quaestor.instruments.words.refusals import told

__all__ = ["accepted", "told"]
