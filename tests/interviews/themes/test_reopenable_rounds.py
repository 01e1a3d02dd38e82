"""Themes contain nothing from a round that can still be reopened."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.themed_interviews import themed_study

from quaestor.coding.codebook import change_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.visibility import Viewer
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.themes.quotations import read_visible_themes
from quaestor.interviews.themes.tables import themes_table
from quaestor.people.roles import Role
from quaestor.study.folder import open_study


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.LEAD])
def test_readers_of_themes_see_nothing_of_a_round_that_can_be_reopened(tmp_path: Path, role: Role) -> None:
    study = themed_study(tmp_path / "study")
    viewer = Viewer("lead" if role is Role.LEAD else "reader", role)
    code = {"id": "secret", "facet": "themes", "parent": "measures", "name": "secret code"}
    change_codebook(study, "codebook.add", code)
    settings = {"round": "more", "items": {"after": "turns"}, "facets": ["themes"], "raters": ["rater-1", "rater-2"]}
    add_round(study, settings)
    study = open_study(study.root)
    open_by_name(study, "more", None)
    with open_interviews(study) as interviews:
        before = read_visible_themes(interviews, viewer)
        item = interviews.coding.state.round("more").plan.items[0]
        for rater, code in (("rater-1", "data"), ("rater-2", "secret")):
            rate(interviews.coding, "more", rater, item, {"themes": [{"start": 0, "end": 4, "code": code}]})
    close_by_name(study, "more", None, "they stopped")
    with open_interviews(study) as interviews:
        after = read_visible_themes(interviews, viewer)
        assert after.quotations == before.quotations
        assert (after.undecided, after.unsettled) == (before.undecided, before.unsettled)
        assert "can still be reopened" in after.hidden["more"]
        assert "Not decided yet" not in " ".join(themes_table(after).notes)
    reopen_by_name(study, "more", None, "they go on")
