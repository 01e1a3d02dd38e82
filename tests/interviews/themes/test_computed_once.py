"""Themes that readers ask for are computed once, and again as soon as anything they show has changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.support.themed_interviews import themed_study

from quaestor.coding.codebook import change_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.visibility import Viewer
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.pages.themes import themes_page_seen
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.interviews.themes.quotations import read_visible_themes
from quaestor.interviews.withdrawal import withdraw
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study

READER, LEAD = Viewer("reader", Role.VIEWER), Viewer("lead", Role.LEAD)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return themed_study(tmp_path)


@pytest.fixture
def interviews(study: Study) -> Iterator[Interviews]:
    with open_interviews(study) as opened:
        yield opened


@pytest.mark.parametrize("viewer", [READER, LEAD])
def test_themes_are_cached_for_readers(interviews: Interviews, viewer: Viewer) -> None:
    assert read_visible_themes(interviews, viewer).quotations is read_visible_themes(interviews, viewer).quotations
    assert themes_page_seen(interviews, viewer) is themes_page_seen(interviews, viewer)


def test_simultaneous_readers_wait_for_one_computation(interviews: Interviews) -> None:
    together = threading.Barrier(4)

    def look(_: int) -> int:
        together.wait()
        return id(read_visible_themes(interviews, READER).quotations)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(look, range(4)))) == 1


def test_a_rating_in_an_open_round_does_not_recompute_themes(study: Study) -> None:
    add_round(study, {"round": "more", "items": {"after": "turns"}, "facets": ["themes"], "raters": ["rater-1"]})
    study = open_study(study.root)
    open_by_name(study, "more", None)
    with open_interviews(study) as interviews:
        before = read_visible_themes(interviews, READER)
        rate(interviews.coding, "more", "rater-1", interviews.coding.state.round("more").plan.items[0], {"themes": []})
        assert read_visible_themes(interviews, READER).quotations is before.quotations


def test_a_new_name_is_masked_in_cached_themes(interviews: Interviews, study: Study) -> None:
    word = read_visible_themes(interviews, READER).quotations[0].parts[0].words.split()[0]
    with open_interviews(study) as elsewhere:  # as the command line does it, in another process
        add_name(elsewhere, "product", [word])
    after = read_visible_themes(interviews, READER)
    assert not any(word in part.words.split() for quotation in after.quotations for part in quotation.parts)


def test_a_withdrawn_participant_disappears_from_cached_themes_at_once(interviews: Interviews) -> None:
    before = read_visible_themes(interviews, READER)
    gone = before.quotations[0].participant
    withdraw(interviews, gone)
    after = read_visible_themes(interviews, READER)
    assert gone not in {quotation.participant for quotation in after.quotations}
    assert after.quotations
    assert gone not in {quotation.participant for quotation in themes_page_seen(interviews, READER).themes.quotations}


def test_a_renamed_code_is_shown_at_once(interviews: Interviews) -> None:
    assert "training time" in {code.name for code in read_visible_themes(interviews, READER).codes}
    change_codebook(interviews.coding, "codebook.rename", {"code": "time", "name": "hours of training"})
    assert "hours of training" in {code.name for code in read_visible_themes(interviews, READER).codes}
