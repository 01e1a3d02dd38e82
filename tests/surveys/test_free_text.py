"""Texts about an open answer are erased when its respondent withdraws; codes and agreement are kept."""

from __future__ import annotations

import re
import shutil
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.acting import rebuilt
from tests.support.killing import killed, moments
from tests.support.postgres import new_database
from tests.support.quoted_survey import (
    MAIN,
    PLANTED,
    RATERS,
    Quoted,
    agreement_told,
    coded_answers,
    quoted_everywhere,
    words_in_journal,
    words_on_disk,
    words_read,
)
from tests.support.small_survey import NAME, answered

from quaestor.base.errors import InputError, StateError
from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.codebook import change_codebook
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.model.state import write_plan
from quaestor.coding.rating_files import NewRating, export_ratings, import_ratings, queue_rating, rate
from quaestor.coding.session import CodingSession, open_coding
from quaestor.store.records import NewAct
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.open_answers import erase_response
from quaestor.surveys.respond import withdraw
from quaestor.surveys.status import read_status


@pytest.fixture(params=["sqlite", "postgresql"])
def quoted(request: pytest.FixtureRequest, tmp_path: Path) -> Quoted:
    """The journal in a file, or in a new database on a real server."""
    store = ""
    if request.param == "postgresql":
        store = new_database(request.getfixturevalue("postgresql_server"))
    return quoted_everywhere(tmp_path / "study", store)


@pytest.fixture(scope="module")
def coded_once(tmp_path_factory: pytest.TempPathFactory) -> Quoted:
    return coded_answers(tmp_path_factory.mktemp("coded") / "study")


@pytest.fixture
def coded(coded_once: Quoted, tmp_path: Path) -> Quoted:
    """Four open answers in an open round, nothing rated yet."""
    copy = shutil.copytree(coded_once.study.root, tmp_path / "study")
    return replace(coded_once, study=open_study(Path(copy)))


def test_free_text_about_an_answer_is_stored_outside_the_journal_and_readable(quoted: Quoted) -> None:
    assert words_in_journal(quoted.study) == set()
    assert set(words_on_disk(quoted.study.root)) <= {"answers.db", "answers.db-wal"}
    with open_coding(quoted.study) as coding:
        # Answers to practice items are recorded but never shown.
        assert words_read(coding) == set(PLANTED.values()) - {PLANTED["practised text"]}


def test_a_withdrawal_leaves_no_byte_of_text_and_the_same_agreement(quoted: Quoted) -> None:
    with open_coding(quoted.study) as elsewhere:
        before = agreement_told(elsewhere)
        with open_surveys(quoted.study) as surveys:
            assert withdraw(surveys, quoted.code)
            assert words_read(surveys.coding) == set()
        assert words_read(elsewhere) == set(), "another process reads its state again"
        assert agreement_told(elsewhere) == before
    assert words_on_disk(quoted.study.root) == {}
    with open_coding(open_study(quoted.study.root)) as coding:
        assert agreement_told(coding) == before
        one = coding.state.round(MAIN)
        rating = one.current("rater-1", quoted.item)
        assert rating is not None
        assert (rating.memo, rating.answers["theme"], rating.answers["fit"]["answer"]) == ("", "layers", "exclude")
        kept = one.current("rater-2", quoted.others[0])
        assert kept is not None
        assert (kept.memo, kept.answers["note"]) == ("kept: theirs 0", "theirs 0")
        assert kept.answers["phrase"] == {"verb": "explain", "object": "model"}
        assert rebuilt(coding.journal).head == coding.state.head, "the journal alone can be folded too"


def memo_of(coding: CodingSession, rater: str, item: str) -> str:
    rating = coding.state.round(MAIN).current(rater, item)
    assert rating is not None
    return rating.memo


def test_erasing_a_response_erases_texts_about_it(tmp_path: Path) -> None:
    quoted = quoted_everywhere(tmp_path / "study")
    with open_surveys(quoted.study) as surveys:
        erase_response(surveys, NAME, quoted.response, "asked to by letter")
        (kept,) = [act for act in surveys.coding.state.unhandled_acts if act.kind == "survey.decide"]
        assert kept.payload == {"survey": NAME, "response": quoted.response, "keep": True, "why": ""}
    assert words_on_disk(quoted.study.root) == {}


def test_after_a_withdrawal_an_item_can_be_rated_only_without_text(coded: Quoted) -> None:
    said = {"theme": "layers", "fit": "exclude", "right": "no", "phrase": "cannot judge"}
    with open_surveys(coded.study) as surveys:
        rate(surveys.coding, MAIN, "rater-1", coded.others[0], {**said, "phrase": "explain, layer"})
        withdraw(surveys, coded.code)
        for more in ({"note": "as they say"}, {"phrase": "quote, words"}, {"right": "no: other words"}):
            with pytest.raises(StateError, match=f"{coded.response} has withdrawn.*leave them empty"):
                rate(surveys.coding, MAIN, "rater-1", coded.item, {**said, **more})
        with pytest.raises(StateError, match="has withdrawn"):
            rate(surveys.coding, MAIN, "rater-1", coded.item, said, memo="as they say")
        rate(surveys.coding, MAIN, "rater-1", coded.item, said)
        rate(surveys.coding, MAIN, "rater-2", coded.item, {**said, "phrase": "explain, layer"})
        assert b"as they say" not in coded.study.root.joinpath("answers.db").read_bytes()


def test_a_word_of_a_phrase_is_kept_while_another_answer_has_it(coded: Quoted) -> None:
    said = {"theme": "layers", "fit": "keep", "right": "yes"}
    with open_surveys(coded.study) as surveys:
        for rater, phrase in (("rater-1", "explain, layer"), ("rater-2", "explain, hobbledehoy")):
            rate(surveys.coding, MAIN, rater, coded.item, {**said, "phrase": phrase})
        rate(surveys.coding, MAIN, "rater-1", coded.others[0], {**said, "phrase": "explain, layer"})
        withdraw(surveys, coded.code)
        one = surveys.coding.state.round(MAIN)
        first, second = (one.ratings[rater][coded.item][-1].answers["phrase"] for rater in RATERS)
        assert first == {"verb": "explain", "object": "layer"}
        assert re.fullmatch(r"\(erased [0-9a-f]{12}\)", second["object"])


def test_ratings_resent_or_imported_again_after_a_withdrawal_are_recognized(coded: Quoted, tmp_path: Path) -> None:
    answers = {"theme": "layers", "fit": "keep", "right": "yes", "phrase": "explain, hobbledehoy"}
    said = NewRating(coded.item, answers, memo="borborygmus", key="once")
    file = tmp_path / "ratings.csv"
    write_table(
        ExportTable.from_mappings(
            "ratings", [{"item": coded.item, "rater": "rater-2", "note": "", **answers, "memo": "ratoon"}]
        ),
        file,
    )
    with open_surveys(coded.study) as surveys:
        coding = surveys.coding
        for withdrawn in (False, True):
            wanted = queue_rating(coding, MAIN, "rater-1", said)
            coding.pending.add(wanted)
            coding.pending.record()
            assert [(act.key, act.payload.get("memo")) for act in wanted.result()] == [
                ("once", "" if withdrawn else said.memo)
            ]
            assert import_ratings(coding, MAIN, file).added == (0 if withdrawn else 1)
            if not withdrawn:
                withdraw(surveys, coded.code)
        assert (memo_of(coding, "rater-1", coded.item), memo_of(coding, "rater-2", coded.item)) == ("", "")
    assert words_on_disk(coded.study.root) == {}


def test_a_repeated_key_with_another_text_is_refused(coded: Quoted) -> None:
    answers = {"theme": "layers", "fit": "keep", "right": "yes", "phrase": "explain, layer"}
    with open_coding(coded.study) as coding:
        rate(coding, MAIN, "rater-1", coded.item, answers, memo="first", key="once")
        assert rate(coding, MAIN, "rater-1", coded.item, answers, memo="first", key="once")
        with pytest.raises(StateError, match="was used before for another act"):
            rate(coding, MAIN, "rater-1", coded.item, answers, memo="second", key="once")
        assert memo_of(coding, "rater-1", coded.item) == "first"


def test_a_backup_from_before_a_withdrawal_restores_no_withdrawn_text(tmp_path: Path) -> None:
    quoted = quoted_everywhere(tmp_path / "study")
    file = tmp_path / "before.backup"
    back_up_study(quoted.study, file)
    with open_surveys(quoted.study) as surveys:
        withdraw(surveys, quoted.code)
    restored = restore_study(open_study(quoted.study.root), file, replacing=True)
    assert restored.withdrawn == 1
    assert words_on_disk(quoted.study.root) == {}
    with open_coding(quoted.study) as coding:
        assert words_read(coding) == set()
        assert memo_of(coding, "rater-2", quoted.others[0]) == "kept: theirs 0"
    # Elsewhere, where nothing but the list of withdrawals says who withdrew.
    other = copy_without_data(quoted.study.root, tmp_path / "other")
    restore_study(open_study(other), file)
    assert words_on_disk(other) == {}
    with open_coding(open_study(other)) as coding:
        assert words_read(coding) == set()
        assert memo_of(coding, "rater-2", quoted.others[0]) == "kept: theirs 0"


def copy_without_data(folder: Path, target: Path) -> Path:
    shutil.copytree(folder, target, ignore=shutil.ignore_patterns("*.db*", "backups", "evidence"))
    return target


def test_without_the_answers_file_other_data_is_readable_and_no_text_is_lost(tmp_path: Path) -> None:
    quoted = quoted_everywhere(tmp_path / "study")
    answers, aside = (quoted.study.root / name for name in ("answers.db", "elsewhere"))
    answers.rename(aside)
    with open_coding(quoted.study) as coding:
        assert words_read(coding) == set()
        with pytest.raises(StateError, match=r"cannot be read without .*answers\.db: restore it first"):
            export_ratings(coding, MAIN, "lead")
        with pytest.raises(StateError, match="restore it first"):
            rate(coding, "again", "rater-2", quoted.others[0], {"right": "yes"})
        aside.rename(answers)
        assert memo_of(coding, "rater-1", quoted.item) == PLANTED["memo"]
        assert PLANTED["memo"] in str(export_ratings(coding, MAIN, "lead"))


def test_an_acknowledged_text_survives_a_kill(coded: Quoted, tmp_path: Path) -> None:
    """The file of answers has the text before the journal has the act."""
    acknowledged = tmp_path / "acknowledged"
    answers = {"theme": "layers", "fit": "keep", "right": "yes", "phrase": "explain, layer"}

    def work(many: int = 1_000) -> None:
        with open_coding(coded.study) as coding, acknowledged.open("ab", buffering=0) as told:
            for number in range(many):
                made = rate(coding, MAIN, "rater-1", coded.item, answers, memo=f"memo {number}")
                told.write(f"{made} {number}\n".encode())

    for moment in moments(lambda: work(60), 5):
        killed(work, moment)
        with open_coding(coded.study) as coding:
            given = {one.number: one.memo for one in coding.state.round(MAIN).ratings["rater-1"][coded.item]}
        assert all(given.values()), "no act is without its text"
        for line in acknowledged.read_text().splitlines():
            number, memo = line.split()
            assert given[int(number)] == f"memo {memo}"


def test_raters_respondents_and_backups_never_deadlock(coded: Quoted, tmp_path: Path) -> None:
    answers = {"theme": "layers", "fit": "keep", "right": "yes", "phrase": "explain, layer"}
    done: list[int] = []

    def give() -> None:
        with open_coding(coded.study) as coding:
            done.extend(rate(coding, MAIN, "rater-1", coded.item, answers, memo=f"memo {one}") for one in range(40))

    rater = threading.Thread(target=give)
    rater.start()
    rounds = 0
    with open_surveys(coded.study) as surveys:
        while rater.is_alive():
            code, _ = answered(surveys)
            withdraw(surveys, code)
            back_up_study(coded.study, tmp_path / f"{rounds}.backup")
            rounds += 1
    rater.join()
    assert (len(done), rounds > 0) == (40, True)


def older_plan(coding: CodingSession, name: str) -> NewAct:
    """A round as it was opened before plans said where their items come from."""
    plan = write_plan(replace(coding.state.round(MAIN).plan, round=name))
    del plan["origin"]
    return NewAct("round.open", "lead", {"plan": plan})


def test_an_older_study_opens_unchanged_and_stores_new_texts_separately(coded: Quoted) -> None:
    answers = {"theme": "layers", "fit": "keep", "right": "yes", "phrase": "explain, layer"}
    with open_coding(coded.study) as coding:
        coding.journal.append([older_plan(coding, "older")])
        with coding.locked_state() as state:
            then = build_rating_act(
                state, "older", "rater-1", coded.item, answers, now=coding.now(), memo="written then"
            )
        coding.journal.append([then])
        assert coding.state.round("older").plan.origin == ""
        rate(coding, "older", "rater-1", coded.item, answers, memo="borborygmus")
        given = coding.state.round("older").ratings["rater-1"][coded.item]
        assert [one.memo for one in given] == ["written then", "borborygmus"]
    assert words_in_journal(coded.study) == set()
    with open_surveys(coded.study) as surveys:
        withdraw(surveys, coded.code)
        given = surveys.coding.state.round("older").ratings["rater-1"][coded.item]
        assert [one.memo for one in given] == ["written then", ""], "the journal keeps what it held before"


def test_an_import_recorded_with_texts_in_the_journal_is_recognized(coded: Quoted, tmp_path: Path) -> None:
    row = {"item": coded.item, "rater": "rater-1", "theme": "layers", "fit": "keep", "right": "yes"}
    file = tmp_path / "ratings.csv"
    write_table(
        ExportTable.from_mappings("ratings", [row | {"note": "", "phrase": "explain, layer", "memo": "written then"}]),
        file,
    )
    older = open_study(Path(shutil.copytree(coded.study.root, tmp_path / "older")))
    with open_coding(coded.study) as coding:
        import_ratings(coding, MAIN, file)
        known = [act for act in coding.journal.acts() if act.kind in ("ratings.import", "rating")]
    with open_coding(older) as coding:
        plain = {"memo": "written then", "answers": {"phrase": {"verb": "explain", "object": "layer"}}}
        for act in known:
            said = {name: value for name, value in act.payload.items() if name != "free_text"}
            if act.kind == "rating":
                said |= {"memo": plain["memo"], "answers": {**said["answers"], **plain["answers"]}}
            coding.journal.append([NewAct(act.kind, act.actor, said, act.codebook, act.key)])
        assert import_ratings(coding, MAIN, file).added == 0
        assert memo_of(coding, "rater-1", coded.item) == "written then"


def test_a_withdrawal_reports_remaining_quotations_of_the_answer_to_the_lead(coded: Quoted, tmp_path: Path) -> None:
    before = tmp_path / "before.backup"
    answers = {"theme": "layers", "fit": "keep", "right": "yes", "phrase": "explain, layer"}
    quote = "People speak of “layers that nobody explains”."
    with open_coding(coded.study) as coding:
        payload = {"facets": [{"id": "topic"}], "codes": [{"id": "hard", "facet": "topic", "name": "hard"}]}
        change_codebook(coding, "codebook.import", payload)
        change_codebook(coding, "codebook.redefine", {"code": "hard", "definition": quote})
        rate(coding, MAIN, "rater-1", coded.others[0], answers, memo=f"as the other one, {quote}")
        rate(coding, MAIN, "rater-1", coded.item, answers, memo=quote)
    back_up_study(coded.study, before)
    with open_surveys(coded.study) as surveys:
        with pytest.raises(InputError, match="the reason quotes the answer"):
            erase_response(surveys, NAME, coded.response, f"who wrote {quote}?")
        places = erase_response(surveys, NAME, coded.response, "asked to by letter")
        assert places == (
            "change 2 of the codebook, redefine hard",
            f"what rater-1 wrote about {coded.others[0]} in the round 'main'",
        )
        assert set(read_status(surveys, NAME).quoted) == set(places)
        assert memo_of(surveys.coding, "rater-1", coded.item) == ""
    restore_study(open_study(coded.study.root), before, replacing=True)
    with open_surveys(coded.study) as surveys:
        assert set(read_status(surveys, NAME).quoted) == set(places), "a restore does not forget it"


def test_withdrawing_a_response_without_texts_does_not_reload_the_journal(tmp_path: Path) -> None:
    quoted = quoted_everywhere(tmp_path / "study")
    with open_surveys(quoted.study) as surveys:
        code, _ = answered(surveys)
        with surveys.coding.locked_state() as before:
            pass
        withdraw(surveys, code)
        with surveys.coding.locked_state() as after:
            assert after is before
