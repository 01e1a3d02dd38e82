"""The study overview: consistent numbers, limited to what each viewer may see, at constant cost."""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.acting import PHRASE, Table
from tests.support.labelled_study import labelled_study
from tests.support.rated_study import TELLING, rate_now, rated_study, unrated_study
from tests.support.small_interviews import SMALL
from tests.support.small_survey import NAME, fielded
from tests.support.themed_interviews import themed_study

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding import agreement_cache as worked_out
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.agreement_access import find_access, record_agreement_view
from quaestor.coding.agreement_cache import find_agreement
from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.phrases import build_reread_act
from quaestor.coding.model.ratings import count_hours, list_labels, list_slot_labels
from quaestor.coding.model.rounds import build_replace_act, count_left_by_rater, list_missing
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, replace_by_name
from quaestor.coding.session import CodingSession, open_coding
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import open_interviews
from quaestor.people.roles import Role
from quaestor.publication.publication_status import check_freshness, report_can_be_made
from quaestor.publication.report.make import build_report
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import close_survey
from quaestor.web.study.pages import Overview, RoundLine, build_study_overview

LEAD, READER, JOURNAL = (
    Viewer("lead", Role.LEAD),
    Viewer("reader", Role.VIEWER),
    Viewer("journal", Role.REVIEWER),
)


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rated_study(tmp_path_factory.mktemp("overview") / "study", items=24).root


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(Path(shutil.copytree(study_template, tmp_path / "study")))


@pytest.fixture
def coding(study: Study) -> Iterator[CodingSession]:
    with open_coding(study) as opened:
        yield opened


def seen(coding: CodingSession, viewer: Viewer = LEAD) -> Overview:
    return build_study_overview(coding.study, coding, viewer)


def line(coding: CodingSession, name: str, viewer: Viewer = LEAD) -> RoundLine:
    return next(round_state for round_state in seen(coding, viewer).rounds if round_state.round == name)


def test_progress_missing_ratings_and_hours_match_the_ratings(coding: CodingSession) -> None:
    for name, one in coding.state.rounds.items():
        found = line(coding, name)
        assert found.missing == len(list_missing(one))
        for seat, shown in zip(one.slots, found.seats, strict=True):
            rated = [item for item in seat.items[0] if one.rating_in_slot(seat, item)]
            assert (shown.done, shown.of) == (len(rated), len(seat.items[0]))
        spent = sum(rating.seconds for rating in one.all_ratings()) / 3600
        assert sum(count_hours(one).values()) == pytest.approx(spent)
        if name != "own":
            assert found.hours == pytest.approx(spent)
    assert line(coding, "own").hours is None  # the lead rates there
    assert [line(coding, "later", one).hours for one in (READER, JOURNAL)] == [None, None]


def test_counts_of_remaining_items_are_right_after_new_sets_rereading_and_a_replaced_rater() -> None:
    dice = random.Random(2)
    for turn in range(30):
        table = Table()
        table.codebook()
        items = [f"i{number}" for number in range(1, 10)]
        table.open(items=items, facets=(PHRASE,), set_size=dice.choice([0, 3]))
        one = table.state.rounds["main"]
        for _ in range(dice.randrange(25)):
            rater, item = dice.choice([seat.rater for seat in one.slots]), dice.choice(one.open_items())
            try:
                table.rate(rater, item, phrase="load, model")
                if dice.random() < 0.2 and not list_missing(one):
                    table.record(build_reread_act(table.state, "main", rater, item))
                if dice.random() < 0.05:
                    table.record(build_replace_act(table.state, "main", "lead", one.slots[0].rater, f"third-{turn}"))
            except QuaestorError:
                pass  # not everything may be done at every moment
            assert sum(count_left_by_rater(one).values()) == len(list_missing(one))


def test_the_lead_sees_the_same_agreement_of_closed_rounds_as_on_the_command_line(coding: CodingSession) -> None:
    for name in ("pilot", "phases", "topics"):
        found = line(coding, name).reached
        assert found is not None
        round_agreement = compute_round_agreement(coding.state, name, coding.state.round(name).plan.measured)
        assert found.value == f"{round_agreement.kappa.value:.3f}"
        assert found.interval == f"{round_agreement.kappa.low:.3f} to {round_agreement.kappa.high:.3f}"
        assert (found.band, found.n) == (round_agreement.band, round_agreement.n)
    assert "0.4" in line(coding, "pilot").reached.verdict  # type: ignore[union-attr]


def test_viewing_an_open_blind_round_is_recorded_and_bars_the_lead_from_rating_in_it(coding: CodingSession) -> None:
    before = coding.state.head
    later = line(coding, "later")
    assert (later.look.may, later.reached) == ("ask", None)  # type: ignore[union-attr]
    assert coding.state.head == before  # a page that is opened records nothing
    record_agreement_view(coding, "later", "lead")
    assert coding.state.round("later").unblinded == ["lead"]
    assert line(coding, "later").reached is not None
    with pytest.raises(StateError, match="would not rate blind"):
        replace_by_name(coding, "later", "lead", "rater-1", "lead", "")
    coding.act(lambda state: build_replace_act(state, "phrases", "lead", "rater-1", "lead"))
    assert find_access(coding.state, "phrases", "lead", "lead").may == "not yet"


def test_a_lead_who_rates_in_a_round_sees_nothing_of_it_until_it_is_closed(coding: CodingSession) -> None:
    own = line(coding, "own")
    assert own.reached is None
    assert own.look.message == "You rate in this round: agreement is shown once it is closed."  # type: ignore[union-attr]
    with pytest.raises(StateError, match="once it is closed"):
        record_agreement_view(coding, "own", "lead")
    told = [(act.who, act.what) for act in seen(coding).latest]
    assert ("You", "rated 3 items in own") in told
    assert not [what for who, what in told if who != "You" and what.endswith("in own")]
    assert ("rater-1", "rated 6 items in own") in [(act.who, act.what) for act in seen(coding, READER).latest]
    close_by_name(coding, "own", None, "enough")
    found = seen(coding)
    assert line(coding, "own").look.may == "ask"  # type: ignore[union-attr]
    stage = next(stage for stage in found.stages if stage.name == "round own")
    assert not [letter for letter in stage.detail if letter.isdigit()]


def test_readers_see_agreement_after_everything_is_settled_and_reviewers_see_no_names(coding: CodingSession) -> None:
    for viewer in (READER, JOURNAL):
        found = seen(coding, viewer)
        assert [round_state.reached for round_state in found.rounds] == [None] * 6
        assert (found.next, found.command) == (None, "")
        assert not [stage for stage in found.stages if "disagreements" in stage.detail]
    assert "rater-1" in repr(seen(coding, READER))
    told = repr(seen(coding, JOURNAL))
    assert "rater A" in told
    for name in ("rater-1", "rater-2", "rater-3", "'lead'"):
        assert name not in told
    assert not [viewer for viewer in (LEAD, READER, JOURNAL) if TELLING in repr(seen(coding, viewer))]


def test_consecutive_ratings_are_one_line_of_recent_activity(coding: CodingSession) -> None:
    lines = [(act.who, act.what) for act in seen(coding, READER).latest]
    assert lines[:3] == [
        ("rater-1", "rated 6 items in own"),
        ("lead", "rated 3 items in own"),
        ("rater-2", "rated 20 items in later"),
    ]
    for item in coding.state.round("own").plan.items[3:5]:
        rate(coding, "own", "lead", item, {"relevance": "keep"})
        rate(coding, "own", "rater-1", item, {"relevance": "keep"})
    after = [(act.who, act.what) for act in seen(coding, READER).latest]
    assert after[:2] == [("rater-1", "rated 8 items in own"), ("lead", "rated 5 items in own")]


def test_a_report_is_suggested_only_if_it_can_be_built(tmp_path: Path) -> None:
    study = unrated_study(tmp_path / "study", items=3)
    study.file.write_text(study.file.read_text("utf-8").partition("[[rounds]]")[0], "utf-8")
    study = open_study(study.root)
    run_funnel(study)
    found = build_study_overview(study, None, LEAD).command
    assert "quaestor report" not in found
    assert "a report needs a settled round" in found
    with pytest.raises(QuaestorError):
        build_report(study, lambda words: None)
    published = labelled_study(tmp_path / "labelled")
    with open_coding(published) as coding:
        assert report_can_be_made(published, coding.state)


def test_an_interview_study_is_asked_to_publish_and_again_after_a_participant_declines(tmp_path: Path) -> None:
    study = themed_study(tmp_path, [("{data:One}.", "two", "three")])

    def holds() -> bool:
        with open_coding(study) as coding:
            return check_freshness(study, coding.state)[0].is_current

    with open_coding(study) as coding:
        study_overview = build_study_overview(study, coding, LEAD)
    assert study_overview.next is None
    assert study_overview.command == "Everything planned is done: publish it with `quaestor report`."
    with open_interviews(study) as interviews:
        build_report(study, lambda words: None)
        assert holds()
        shown = build_study_overview(study, interviews.coding, LEAD)
        assert shown.command == "Everything planned is done, and the report is up to date."
        record_consent(interviews, "P1", DECLINED, SPOKEN)
        assert not holds()
        record_consent(interviews, "P1", ACCEPTED, SPOKEN)
        declining = iter([DECLINED])  # at the first word of how far it is

        def tell(words: str) -> None:
            for one in declining:
                record_consent(interviews, "P1", one, SPOKEN)

        build_report(study, tell)
        assert not holds(), "their words were read before"


def test_a_missed_threshold_is_the_next_step_only_until_it_is_dealt_with(tmp_path: Path) -> None:
    study = unrated_study(tmp_path / "study", items=8)
    with open_coding(study) as coding:
        import_codebook(coding)
        open_by_name(coding, "pilot", None)
        rate_now(
            coding, "pilot", lambda _, place, rater: {"relevance": "keep" if rater == "rater-1" else "exclude: crash"},
            random.Random(1),
        )  # fmt: skip
        close_by_name(coding, "pilot", None)
        before = seen(coding).next
        assert before is not None
        assert before.command == "quaestor agreement pilot"
        record_agreement_view(coding, "pilot", "lead")
        after = seen(coding).next
        assert after is not None
        assert after.command.startswith("quaestor round waive pilot")
        open_by_name(coding, "later", None)
        then = seen(coding).next
        assert then is not None
        assert "pilot" not in then.command


def test_a_closed_survey_does_not_hide_the_interviews_that_wait(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        study = surveys.study
        close_survey(surveys, NAME)
    assert study_status(study).next == f"quaestor survey results {NAME}"
    (study.root / "instruments" / "guide.md").write_text(SMALL, "utf-8")
    assert study_status(study).next.startswith("quaestor interview")


def test_the_next_step_names_its_page(coding: CodingSession) -> None:
    found = seen(coding).next
    assert found is not None
    assert (found.page, found.round, found.command) == (
        "disagreements",
        "phases",
        "quaestor decisions list phases --open",
    )


def test_a_study_without_acts_shows_the_first_step(tmp_path: Path) -> None:
    study = unrated_study(tmp_path / "study", items=3)
    study_overview = build_study_overview(study, None, LEAD)
    assert study_overview.next is not None
    assert study_overview.next.words == "Import the codebook"
    assert {round_state.status for round_state in study_overview.rounds} == {"not opened"}
    assert "rater-1" not in repr(build_study_overview(study, None, JOURNAL))
    assert not (study.root / "study.db").exists()


def finish(coding: CodingSession) -> None:
    """Wait for all background computations."""
    with coding.locked_state() as state:
        kept = [entry for round_state in state.rounds.values() for entry in round_state.cache.items()]
    under_way = [work for key, work in kept if isinstance(key, tuple) and key[0] == "at work"]
    for work in under_way:
        work.join()


def test_agreement_of_a_large_round_is_computed_in_the_background_and_cached(
    coding: CodingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worked_out, "LARGE", 10)
    assert find_agreement(coding, "phases", "phase", wait=False) is None
    finish(coding)
    agreement = find_agreement(coding, "phases", "phase", wait=False)
    assert agreement is not None
    assert agreement.agreement == compute_round_agreement(coding.state, "phases", "phase")
    assert find_agreement(coding, "phases", "phase", wait=False) is agreement


def test_cached_agreement_of_a_large_open_round_is_kept_until_enough_ratings_are_added(
    coding: CodingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worked_out, "LARGE", 10)
    monkeypatch.setattr(worked_out, "_SHARE", 0.05)  # of 44 ratings: two more are not worth the work, three are
    record_agreement_view(coding, "later", "lead")
    first = find_agreement(coding, "later", "relevance")
    items = coding.state.round("later").plan.items
    for more, item in enumerate(items[20:22], start=1):
        rate(coding, "later", "rater-2", item, {"relevance": "keep"})
        assert find_agreement(coding, "later", "relevance", wait=False) is first
        finish(coding)
        assert line(coding, "later").reached.more == more  # type: ignore[union-attr]
    rate(coding, "later", "rater-2", items[22], {"relevance": "keep"})
    assert find_agreement(coding, "later", "relevance", wait=False) is first
    finish(coding)
    again = find_agreement(coding, "later", "relevance", wait=False)
    assert again is not None
    assert again.ratings == 47
    assert again.agreement == compute_round_agreement(coding.state, "later", "relevance")
    finish(coding)


def test_a_round_read_in_pieces_is_consistent(coding: CodingSession) -> None:
    state, one = coding.state, coding.state.round("later")
    head, before = state.head, list_labels(state, "later", "relevance")
    item = one.plan.items[0]
    for rater in ("rater-1", "rater-2"):
        for answer in ("keep", "exclude: installation"):
            rate(coding, "later", rater, item, {"relevance": answer})
            rate(coding, "later", rater, one.plan.items[-1], {"relevance": answer})
    pieces = [
        label
        for seat in one.slots
        for start in range(0, len(seat.items[0]), 5)
        for label in list_slot_labels(state, one, seat, "relevance", seat.items[0][start : start + 5], until=head)
    ]
    assert pieces == before
    assert list_labels(coding.state, "later", "relevance") != before


def test_new_ratings_change_the_shown_agreement_at_once(coding: CodingSession) -> None:
    record_agreement_view(coding, "later", "lead")
    before = line(coding, "later").reached
    rate_now(coding, "later", lambda dice, place, rater: {"relevance": "keep"}, random.Random(1))
    after = line(coding, "later").reached
    assert before is not None
    assert after is not None
    assert after.n == 24 > before.n
