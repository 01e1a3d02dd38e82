"""Whether a report would be made, found out before anything is worked out or drawn."""

from __future__ import annotations

from quaestor.coding.state import State
from quaestor.study.folder import Study
from quaestor.study.interviews.files import interviews_path
from quaestor.study.interviews.themes import has_themes
from quaestor.study.results.coded import results_can_be_made


def report_can_be_made(study: Study, state: State) -> bool:
    """Whether the results that a study names are decided, or interviews make a report by themselves."""
    return results_can_be_made(study, state) or has_themes_to_publish(study, state)


def has_themes_to_publish(study: Study, state: State) -> bool:
    """Whether a round that coded transcripts has decided anything."""
    return interviews_path(study).exists() and has_themes(state)
