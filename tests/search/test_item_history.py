"""The history of an item: every role sees all events, but only the answers that it may see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, coded_study, stretch
from tests.support.searched_study import (
    ITEMS,
    TELLING,
    WROTE,
    searched_study,
    with_closed_round,
    with_open_round,
    with_settled_round,
)
from tests.support.small_interviews import TALK

from quaestor.base.errors import StateError
from quaestor.coding.coded_items import VisibleDecisions, find_coded_items
from quaestor.coding.rating_files import rate, record_view
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer, Visibility
from quaestor.people.roles import Role
from quaestor.search.item_history import COMMENT, DECISION, RATING, TIE, ItemEvent, ItemHistory, build_item_history
from quaestor.search.query import Query
from quaestor.study.folder import Study

LEAD = Viewer("head-of-study", Role.LEAD)
VIEWER, REVIEWER = Viewer("reader", Role.VIEWER), Viewer("journal", Role.REVIEWER)
RATER, TIE_BREAKER = Viewer("rater-1", Role.RATER), Viewer("third-person", Role.TIE_BREAKER)
EVERYBODY = (LEAD, VIEWER, REVIEWER, RATER, TIE_BREAKER)
NAMES = ("rater-1", "rater-2", "third-person", "head-of-study", WROTE)
IN_DISPUTE = ITEMS[2]


def seen(study: Study, viewer: Viewer, item: str = IN_DISPUTE) -> ItemHistory:
    with open_coding(study) as coding:
        before = coding.state.head
        history = build_item_history(study, coding, item, viewer)
        shows_others = any(
            event.kind == RATING and event.actor != "you" for part in history.rounds for event in part.events
        )
        recorded = coding.state.head > before
        assert shows_others or not recorded, "a page without others' ratings is no look"
        main = coding.state.rounds.get("main")
        assert main is None or not shows_others or not main.plan.blind or viewer.name in main.unblinded
    return history


def events(study: Study, viewer: Viewer, item: str = IN_DISPUTE) -> Sequence[ItemEvent]:
    (part,) = seen(study, viewer, item).rounds
    return part.events


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return with_settled_round(searched_study(tmp_path_factory.mktemp("settled") / "study"))


@pytest.fixture
def closed(tmp_path: Path) -> Study:
    return with_closed_round(searched_study(tmp_path / "closed"))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return with_open_round(searched_study(tmp_path_factory.mktemp("open") / "study"))


def test_the_history_starts_with_evidence_and_funnel(settled: Study) -> None:
    history = seen(settled, LEAD, ITEMS[5])
    assert history.item_text is not None
    assert history.item_text.title == "How to be rarely seen"
    assert history.funnel_path is not None
    assert (history.funnel_path["passed"], history.funnel_path["fell_at"]) == (["asks how"], "viewed")
    assert history.rounds == ()


def test_the_lead_sees_all_events_in_order_with_names(settled: Study) -> None:
    told = events(settled, LEAD)
    assert [(event.kind, event.actor) for event in told] == [
        (RATING, "rater-1"), (RATING, "rater-2"), (DECISION, "you"), (COMMENT, "rater-1"), (TIE, "third-person"),
        (DECISION, "rater-1, rater-2, third-person"),
    ]  # fmt: skip
    assert told[1].answers == (("relevance", "exclude: crash"), ("phase", "model training"))
    assert told[1].text == f"{TELLING} of rater-2"
    assert told[5].answers == (("relevance", "keep"),)
    assert (told[5].how, told[5].text, told[5].decision) == ("together", "as third-person says", "relevance:keep")


@pytest.mark.parametrize("viewer", [VIEWER, REVIEWER], ids=lambda viewer: viewer.role)
def test_readers_see_the_answers_of_a_settled_round_without_names(settled: Study, viewer: Viewer) -> None:
    told = events(settled, viewer)
    assert [event.actor for event in told if event.kind in (RATING, COMMENT)] == ["rater A", "rater B", "rater A"]
    assert "rater-" not in repr(told)
    assert told[1].text == f"{TELLING} of rater B"
    assert next(event for event in told if event.kind == COMMENT).text == f"rater B read {TELLING} too fast"


def test_a_reviewer_sees_no_names(settled: Study) -> None:
    history = seen(settled, REVIEWER)
    assert not [name for name in NAMES if name in repr(history)]
    assert history.item_text is not None
    assert history.item_text.author == "asker"
    assert {event.actor for event in events(settled, REVIEWER)} == {
        "rater A", "rater B", "tie-breaker", "lead", "rater A, rater B, tie-breaker",
    }  # fmt: skip
    assert seen(settled, VIEWER).item_text.author == WROTE  # type: ignore[union-attr]


@pytest.mark.parametrize("viewer", [VIEWER, REVIEWER], ids=lambda viewer: viewer.role)
def test_readers_see_decisions_but_no_ratings_while_a_disagreement_is_open(closed: Study, viewer: Viewer) -> None:
    assert TELLING not in repr(seen(closed, LEAD))
    assert seen(closed, viewer).rounds[0].events == (), "the round could still be reopened with its raters blind"
    with open_coding(closed) as coding:
        record_view(coding, "main", LEAD.name)
    history = seen(closed, viewer)
    assert TELLING not in repr(history)
    assert [event.kind for event in history.rounds[0].events] == [DECISION]
    assert history.rounds[0].events[0].answers == (("phase", "model training"),)
    assert "every disagreement is settled" in history.rounds[0].hidden_reason
    assert TELLING in repr(seen(closed, LEAD))


@pytest.mark.parametrize("viewer", EVERYBODY, ids=lambda viewer: viewer.role)
def test_everyone_sees_only_their_own_ratings_of_an_open_blind_round(opened: Study, viewer: Viewer) -> None:
    history = seen(opened, viewer)
    assert f"{TELLING} of rater-2" not in repr(history)
    assert "exclude" not in repr(history)
    assert history.decided == ()
    assert [event.actor for event in history.rounds[0].events] == (["you"] if viewer is RATER else [])
    assert history.rounds[0].hidden_reason


@pytest.mark.parametrize("viewer", [RATER, TIE_BREAKER], ids=lambda viewer: viewer.role)
def test_raters_of_a_round_see_only_their_own_ratings(settled: Study, viewer: Viewer) -> None:
    assert {event.actor for event in events(settled, viewer)} <= {"you"}
    assert seen(settled, viewer).decided == ()


def test_a_lead_who_rates_sees_other_ratings_only_after_the_round_and_with_a_recorded_view(
    tmp_path: Path,
) -> None:
    study = with_open_round(searched_study(tmp_path / "study", second="head-of-study"), "head-of-study")
    assert [(event.actor, event.text) for event in events(study, LEAD)] == [("you", f"{TELLING} of head-of-study")]
    assert "the ratings of others are shown once it is closed" in seen(study, LEAD).rounds[0].hidden_reason
    close_by_name(study, "main", None)
    assert [event.actor for event in events(study, LEAD)] == ["you"]
    assert "that view is recorded" in seen(study, LEAD).rounds[0].hidden_reason
    with open_coding(study) as coding:
        record_view(coding, "main", "head-of-study")
    assert [(event.kind, event.actor) for event in events(study, LEAD)] == [
        (RATING, "rater-1"), (RATING, "you"), (DECISION, "you"),
    ]  # fmt: skip


def test_a_replaced_rating_stays_in_the_history(tmp_path: Path) -> None:
    study = searched_study(tmp_path / "study")
    study.file.write_text(
        study.file.read_text("utf-8").replace('settle = "two-step"', 'settle = "two-step"\nblind = false')
    )
    from quaestor.coding.codebook import import_codebook
    from quaestor.study.folder import open_study

    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "main", None)
    with open_coding(study) as coding:
        for phase in ("setting", "training"):
            answers = {"relevance": "keep", "phase": phase}
            rate(coding, "main", "rater-1", IN_DISPUTE, answers, unsure=("phase",))
    told = events(study, LEAD)
    assert [event.superseded for event in told] == [True, False]
    assert told[0].answers == (("relevance", "keep"), ("phase", "model setting"))
    assert told[0].unsure == ("phase",)


def test_an_unknown_item_is_refused(settled: Study) -> None:
    with pytest.raises(StateError, match="there is no item 'forum/question/99'"):
        seen(settled, LEAD, "forum/question/99")


def test_an_item_can_be_read_while_the_funnel_is_stale(tmp_path: Path) -> None:
    study = searched_study(tmp_path / "study")
    (study.funnel_folder / "funnel.json").unlink()
    history = build_item_history(study, None, ITEMS[0], LEAD)
    assert history.item_text is not None
    assert history.funnel_path is None
    assert "has not run yet" in history.no_path_reason


def test_a_turn_without_codes_is_shown_and_found_as_nothing_coded(tmp_path: Path) -> None:
    study, empty = coded_study(tmp_path / "study", (TALK,)), "P1/00003"
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            rate(coding, ROUND, rater, "P1/00001", {"themes": [stretch(0, 9, "shapes")]})
            rate(coding, ROUND, rater, empty, {"themes": []})
        close_by_name(coding, ROUND, None)
        lead = Viewer("lead", Role.LEAD)
        assert [answer.label for answer in build_item_history(study, coding, empty, lead).decided] == ["nothing coded"]
        decisions = VisibleDecisions(Visibility(coding.state, "lead", lead))
        assert "nothing coded" in [option.label for option in decisions.list_options()["themes"]]
        assert find_coded_items(decisions, Query(facet="themes", code="nothing coded")) == {empty}
