"""What is said to respondents: in the language of their survey, else in one that their browser asks for."""

from __future__ import annotations

from quaestor.surveys.model.wording.catalogue import accepted
from quaestor.surveys.model.wording.refusals import told

__all__ = ["accepted", "told"]
