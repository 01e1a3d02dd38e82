"""The lead's pages of rounds: previews, progress and events, but no answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.small_study import small_study

from quaestor.base.errors import StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.pages.rounds import build_round_overview, list_round_events, list_round_overviews
from quaestor.coding.rating_files import (
    build_decisions_file,
    build_ratings_file,
    find_view_consent,
    rate,
    record_consented_view,
)
from quaestor.coding.round_acts import (
    close_by_name,
    list_rounds,
    next_set_by_name,
    open_by_name,
    reopen_by_name,
    replace_by_name,
    waive_by_name,
)
from quaestor.coding.round_setup import add_round, preview_planned_round
from quaestor.coding.session import CodingSession, open_coding
from quaestor.study.folder import Study, open_study

TELLING = "tellingword"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = small_study(tmp_path / "study")
    text = study.file.read_text("utf-8")
    study.file.write_text(text.replace('kept_by = "main", set_size = 4', 'after = "how-to", set_size = 4'), "utf-8")
    study = open_study(study.root)
    import_codebook(study)
    return study


def rated(coding: CodingSession, name: str, rater: str, most: int = 99, seconds: float = 30) -> None:
    facet = coding.state.round(name).plan.facets[0].id
    answers = {"relevance": "keep", "phrase": "save, layer"}
    for number, item in enumerate(coding.state.round(name).open_items()[:most]):
        differs = number == 0 and rater == "rater-1" and facet == "relevance"
        answer = "exclude: crash" if differs else answers[facet]
        rate(coding, name, rater, item, {facet: answer}, seconds=seconds, memo=TELLING)


def missing(coding: CodingSession) -> dict[str, int]:
    return {one["round"]: one["missing"] for one in list_rounds(coding)}


def overviews(coding: CodingSession) -> dict[str, int]:
    return {one.round: one.missing for one in list_round_overviews(coding.study, coding.state)}


def test_missing_ratings_in_the_overview_equal_those_in_the_state(study: Study) -> None:
    with open_coding(study) as coding:
        assert overviews(coding) == missing(coding)
        open_by_name(coding, "pilot", None)
        open_by_name(coding, "phrases", None)
        assert overviews(coding) == missing(coding)
        rated(coding, "pilot", "rater-1", 2)
        rated(coding, "phrases", "rater-1")
        assert overviews(coding) == missing(coding) != {}
        replace_by_name(coding, "pilot", None, "rater-1", "rater-3", "")
        assert overviews(coding) == missing(coding)
        for item in coding.state.round("pilot").slots[0].items_of("rater-3"):
            rate(coding, "pilot", "rater-3", item, {"relevance": "keep"})
        rated(coding, "phrases", "rater-2")
        assert overviews(coding) == missing(coding)
        seats = build_round_overview(study, coding.state, "pilot").slots
        assert [(seat.label, seat.done, seat.total) for seat in seats] == [
            ("rater-1 then rater-3", 4, 4),
            ("rater-2", 0, 4),
        ]
        next_set_by_name(coding, "phrases", None)
        assert overviews(coding) == missing(coding)
        close_by_name(coding, "pilot", None, "enough")
        assert overviews(coding)["pilot"] == missing(coding)["pilot"] == 4


def test_the_offered_acts_are_the_allowed_ones(study: Study) -> None:
    with open_coding(study) as coding:

        def acts(name: str) -> tuple[str, ...]:
            return build_round_overview(study, coding.state, name).acts

        assert acts("pilot") == ("open",)
        open_by_name(coding, "pilot", None)
        assert acts("pilot") == ("close", "deadline", "replace")
        assert not build_round_overview(study, coding.state, "pilot").complete
        for rater in ("rater-1", "rater-2"):
            rated(coding, "pilot", rater)
        assert build_round_overview(study, coding.state, "pilot").complete
        close_by_name(coding, "pilot", None)
        assert acts("pilot") == ("waive", "reopen")
        waive_by_name(coding, "pilot", None, "small")
        assert acts("pilot") == ("reopen",)
        record_consented_view(coding, "pilot", "rater-1")
        assert acts("pilot") == ("reopen as not blind",)
        open_by_name(coding, "phrases", None)
        rated(coding, "phrases", "rater-1")
        assert "next set" not in acts("phrases")
        rated(coding, "phrases", "rater-2")
        assert acts("phrases")[0] == "next set"


def test_a_preview_shows_what_opening_would_fix(study: Study) -> None:
    wanted = {
        "round": "half",
        "items": {"after": "how-to"},
        "facets": ["relevance"],
        "raters": ["a", "b"],
        "overlap": 0.5,
    }
    add_round(study, wanted)
    study = open_study(study.root)
    found = preview_planned_round(study, "half")
    assert (found.items, found.shared, found.codebook, found.pace, found.obstacle) == (12, 6, 1, None, "")
    assert [(share.rater, share.items, share.hours) for share in found.shares] == [("a", 9, None), ("b", 9, None)]
    with open_coding(study) as coding:
        open_by_name(coding, "pilot", None)
        rated(coding, "pilot", "rater-1", 3, seconds=40)
        rated(coding, "pilot", "rater-2", 1, seconds=100)
    found = preview_planned_round(study, "half")
    assert (found.pace, found.like) == (40, ("pilot",))
    assert found.shares[0].hours == pytest.approx(9 * 40 / 3600)
    opened = open_by_name(study, "half", None)
    assert (opened["items"], opened["missing"], opened["codebook"]) == (found.items, 18, found.codebook)


@pytest.mark.parametrize(
    ("name", "words"),
    [("main", "comes after 'pilot', which has not been opened"), ("phases", "keeps, which is not settled yet"),
     ("triplets", "keeps, which is not settled yet")],
)  # fmt: skip
def test_a_preview_gives_the_reason_why_a_round_cannot_open(study: Study, name: str, words: str) -> None:
    assert words in preview_planned_round(study, name).obstacle


def test_the_event_log_contains_no_answers(study: Study) -> None:
    with open_coding(study) as coding:
        open_by_name(coding, "pilot", None)
        rated(coding, "pilot", "rater-1")
        close_by_name(coding, "pilot", None, "enough for now")
        reopen_by_name(coding, "pilot", None, "one more try")
        open_by_name(coding, "phrases", None)
        log = list_round_events(coding, "pilot")
    assert [(one.actor, one.words, one.reason) for one in log] == [
        ("lead", "opened it with 4 items", ""),
        ("lead", "closed it with ratings missing", "enough for now"),
        ("lead", "reopened it", "one more try"),
    ]
    assert TELLING not in repr(log)


def test_a_ratings_file_equals_the_export_and_its_first_view_needs_a_confirmation(study: Study) -> None:
    with open_coding(study) as coding:
        open_by_name(coding, "pilot", None)
        rated(coding, "pilot", "rater-2")
        rated(coding, "pilot", "rater-1", 1)
        own = build_ratings_file(coding, "pilot", "rater-1").content.decode()
        assert "rater-1" in own
        assert "rater-2" not in own
        assert find_view_consent(coding, "pilot", "rater-1") is None
        before = coding.state.head
        view_consent = find_view_consent(coding, "pilot", "lead")
        assert view_consent is not None
        assert view_consent.is_open
        assert coding.state.head == before
        record_consented_view(coding, "pilot", "lead")
        record_consented_view(coding, "pilot", "lead")
        assert coding.state.head == before + 1
        assert find_view_consent(coding, "pilot", "lead") is None
        assert build_ratings_file(coding, "pilot", "lead").content.decode().count("rater-2") == 4
        with pytest.raises(StateError, match="has no role in"):
            find_view_consent(coding, "pilot", "stranger")
        with pytest.raises(StateError, match="rates in 'pilot': the ratings of others"):
            build_decisions_file(coding, "pilot", "rater-1")


def test_a_formula_like_memo_is_escaped_in_a_file(study: Study) -> None:
    with open_coding(study) as coding:
        open_by_name(coding, "pilot", None)
        item = coding.state.round("pilot").plan.items[0]
        rate(coding, "pilot", "rater-1", item, {"relevance": "keep"}, memo="=1+1", seconds=2)
        text = build_ratings_file(coding, "pilot", "rater-1").content.decode()
        assert "'=1+1" in text
        assert build_ratings_file(coding, "pilot", "rater-1", "xlsx").content.startswith(b"PK")
