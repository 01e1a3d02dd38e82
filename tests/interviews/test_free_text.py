"""Texts of raters about turns are stored with the transcript, never in the journal, and are erased with it."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.coded_interviews import ROUND, coded_study, copy_of, stretch
from tests.support.settling import settle_with_assents
from tests.support.small_interviews import TALK

from quaestor.base.errors import StateError
from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.agreement import compute_round_agreement
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.model.records import Facet, Practice
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.model.state import State, write_plan
from quaestor.coding.pages.rounds import list_round_events
from quaestor.coding.rating_files import NewRating, export_ratings, import_decisions, import_ratings, queue_rating, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import CodingSession, open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.coding.decided_passages import read_coded_passages
from quaestor.interviews.items import make_items
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.remaining import find_remaining_names
from quaestor.interviews.names.rewording import replace_names_in_texts
from quaestor.interviews.participants.people import Contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.store.act_texts import NewText
from quaestor.store.records import NewAct
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import Study, open_study

FIRST, OTHER = ("P1/00001", "P1/00003"), ("P2/00001", "P2/00003")
MEMO, FIELD, ASIDE, REASON = (
    "a zygomorphic memo",
    "a quixotic threshold",
    "beside the vellichor",
    "from sonder",
)
WRITTEN = (b"zygomorphic", b"quixotic", b"vellichor", b"sonder")


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Two participants; rater-1 writes memos about the first, and a disagreement is settled with a reason."""
    study = coded_study(tmp_path_factory.mktemp("made"), (TALK, TALK))
    with open_coding(study) as coding:
        _code(coding)
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    settle_with_assents(study, ROUND, "lead", FIRST[1], "themes", [stretch(0, 9, "shapes")], "discussion", REASON)
    return study


def _code(coding: CodingSession) -> None:
    for rater in ("rater-1", "rater-2"):
        fields = {"what": "loss", "threshold": FIELD if rater == "rater-1" else "10"}
        coded = [stretch(0, 25, "indicator", memo=MEMO, fields=fields)]
        rate(coding, ROUND, rater, FIRST[0], {"themes": coded}, memo=ASIDE)
        rate(coding, ROUND, rater, FIRST[1], {"themes": [stretch(0, 9, "shapes")] if rater == "rater-1" else []})
        rate(coding, ROUND, rater, OTHER[0], {"themes": [stretch(0, 25, "indicator", memo="kept: theirs")]})
        rate(coding, ROUND, rater, OTHER[1], {"themes": []})


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path / "study")


def holding(folder: Path, words: tuple[bytes, ...] = WRITTEN) -> list[str]:
    return [
        path.name for path in folder.rglob("*") if path.is_file() and any(one in path.read_bytes() for one in words)
    ]


def texts_about_first(state: State) -> set[str]:
    """All free words about the first participant that a reader of the journal gets."""
    one = state.round(ROUND)
    found = {given[-1].memo for items in one.ratings.values() for item, given in items.items() if item in FIRST}
    for made in one.last_decisions("themes").values():
        found |= {made.reason} if made.item in FIRST else set()
        for each in made.answer if made.item in FIRST else ():
            found |= {each.get("memo", ""), *each.get("fields", {}).values()}
    return found - {""}


def test_texts_are_readable_through_the_journal_and_encrypted_in_files(study: Study) -> None:
    assert holding(study.root) == []
    with open_coding(study) as coding:
        assert texts_about_first(coding.state) == {MEMO, ASIDE, REASON, "loss", f"{FIELD} ‖ 10"}


def test_the_history_of_a_round_shows_reasons_until_a_withdrawal_erases_them(study: Study) -> None:
    with open_interviews(study) as interviews:
        events = list_round_events(interviews.coding, ROUND)
        assert {event.reason for event in events} == {"", REASON}
        assert "recorded 3 decisions by agreement" in {event.words for event in events}
        assert "recorded 1 decision by discussion" in {event.words for event in events}
        withdraw(interviews, "P1")
        assert {event.reason for event in list_round_events(interviews.coding, ROUND)} == {""}


def test_a_withdrawal_erases_texts_and_keeps_codes_and_positions(study: Study) -> None:
    with open_coding(study) as elsewhere, open_interviews(study) as interviews:
        assert texts_about_first(elsewhere.state), "another process has read them"
        withdraw(interviews, "P1")
        for coding in (interviews.coding, elsewhere):
            assert texts_about_first(coding.state) == set()
            rating = coding.state.round(ROUND).current("rater-1", FIRST[0])
            assert rating is not None
            assert [(passage["start"], passage["end"], passage["code"]) for passage in rating.answers["themes"]] == [
                (0, 25, "indicator")
            ]
        assert [passage.memo for passage in read_coded_passages(interviews).passages] == ["kept: theirs"]
    with open_coding(study) as coding:
        assert texts_about_first(coding.state) == set()


def test_new_texts_about_a_withdrawn_participant_are_refused(study: Study) -> None:
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
        with pytest.raises(StateError, match=r"P1 (has withdrawn|withdrew)"):
            settle_with_assents(interviews.coding, ROUND, "lead", FIRST[1], "themes", [], "discussion", "again")
        settle_with_assents(interviews.coding, ROUND, "lead", FIRST[1], "themes", [], "discussion", "")


def test_a_repeated_key_with_another_text_is_refused(tmp_path: Path) -> None:
    study = coded_study(tmp_path)

    def given(coding: CodingSession, memo: str) -> int:
        said = NewRating(FIRST[0], {"themes": [stretch(0, 25, "shapes", memo=memo)]}, memo=memo, key="once")
        wanted = queue_rating(coding, ROUND, "rater-1", said)
        coding.pending.add(wanted)
        coding.pending.record()
        return wanted.result()[0].number

    with open_coding(study) as coding:
        number = given(coding, MEMO)
        assert given(coding, MEMO) == number
        with pytest.raises(StateError, match="was used before for another act"):
            given(coding, ASIDE)
        rating = coding.state.round(ROUND).current("rater-1", FIRST[0])
        assert rating is not None
        assert (rating.memo, rating.answers["themes"][0]["memo"]) == (MEMO, MEMO)


def test_a_withdrawal_removes_the_name_from_texts_about_other_participants(study: Study) -> None:
    with open_interviews(study) as interviews:
        set_contact(interviews, "P1", Contact("Wilhelmina Xanthe"))

        def noted(state: State) -> NewAct:
            said = {"round": ROUND, "item": OTHER[0], "facet": "themes", "text": "As Wilhelmina Xanthe said."}
            return NewAct("comment", "lead", said)

        interviews.coding.act(noted)
        assert [remaining_name.kind for remaining_name in find_remaining_names(interviews)] == ["memo"]
        withdraw(interviews, "P1")
        assert [comment.text for comment in interviews.coding.state.round(ROUND).comments] == ["As P1 said."]
        assert find_remaining_names(interviews) == []


def test_the_lead_removes_names_from_texts_even_in_settled_rounds(study: Study) -> None:
    with open_coding(study) as elsewhere, open_interviews(study) as interviews:
        add_name(interviews, "other", ["zygomorphic"], "[odd]")
        assert texts_about_first(elsewhere.state)
        assert {remaining_name.kind for remaining_name in find_remaining_names(interviews)} == {"memo"}
        make_items(interviews)  # they hold nothing of what raters write
        with pytest.raises(StateError, match="is not the lead"):
            replace_names_in_texts(interviews, "rater-1")
        assert replace_names_in_texts(interviews) == 3, "two ratings and what was decided"
        assert find_remaining_names(interviews) == []
        for coding in (interviews.coding, elsewhere):
            assert "a [odd] memo" in texts_about_first(coding.state)
            assert MEMO not in texts_about_first(coding.state)
        assert replace_names_in_texts(interviews) == 0


def test_a_backup_restores_texts_with_the_key_but_none_of_withdrawn_participants(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "one.backup"
    back_up_study(study, file)
    assert b"zygomorphic" not in file.read_bytes()
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    restore_study(open_study(study.root), file, replacing=True)
    with open_coding(study) as coding:
        assert texts_about_first(coding.state) == set()
        rating = coding.state.round(ROUND).current("rater-2", OTHER[0])
        assert rating is not None
        assert rating.answers["themes"][0]["memo"] == "kept: theirs"


def test_without_the_key_other_data_is_readable_and_no_text_is_recorded(study: Study) -> None:
    key = study.root / "interviews.key"
    kept = key.read_text()
    key.unlink()
    with open_coding(study) as coding:
        assert texts_about_first(coding.state) == set()
        assert coding.state.round(ROUND).current("rater-1", FIRST[0]) is not None
        with pytest.raises(StateError, match=r"cannot be read without .*interviews\.key"):
            settle_with_assents(coding, ROUND, "lead", FIRST[1], "themes", [stretch(0, 9, "shapes")], "discussion", "")
        with pytest.raises(StateError, match="restore them first"):
            export_ratings(coding, ROUND, "lead")
        assert not key.exists()
        key.write_text(kept)
        assert MEMO in texts_about_first(coding.state), "there again, and read again"
        assert MEMO in str(export_ratings(coding, ROUND, "lead"))


def test_importing_the_same_file_again_does_not_bring_back_a_removed_name(tmp_path: Path) -> None:
    study, file = coded_study(tmp_path / "study"), tmp_path / "ratings.csv"
    row = {"item": FIRST[0], "rater": "rater-1", "themes": "[]", "memo": "Zorblatt told me"}
    write_table(ExportTable.from_mappings("ratings", [row]), file)
    with open_interviews(study) as interviews:
        coding = interviews.coding
        assert import_ratings(coding, ROUND, file).added == 1
        add_name(interviews, "person", ["Zorblatt"], "[somebody]")
        assert replace_names_in_texts(interviews) == 1
        assert import_ratings(coding, ROUND, file).added == 0
        rating = coding.state.round(ROUND).current("rater-1", FIRST[0])
        assert rating is not None
        assert rating.memo == "[somebody] told me"


def test_a_rating_resent_after_a_name_was_removed_is_recognized(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    said = NewRating(FIRST[0], {"themes": [stretch(0, 25, "shapes", memo="Zorblatt")]}, key="once")
    with open_interviews(study) as interviews:
        coding = interviews.coding
        for again in (False, True):
            wanted = queue_rating(coding, ROUND, "rater-1", said)
            coding.pending.add(wanted)
            coding.pending.record()
            assert wanted.result()[0].key == "once"
            if not again:
                add_name(interviews, "person", ["Zorblatt"], "[somebody]")
                replace_names_in_texts(interviews)


def test_texts_of_practice_items_and_published_decisions_are_stored_separately(tmp_path: Path) -> None:
    study, file = coded_study(tmp_path / "study"), tmp_path / "published.csv"
    write_table(ExportTable.from_mappings("decisions", [{"item": FIRST[0], "themes": f"as they say: {MEMO}"}]), file)
    with open_interviews(study) as interviews:
        coding = interviews.coding
        practice = Practice(FIRST[0], {"themes": [stretch(0, 9, "shapes", memo=FIELD)]}, feedback=ASIDE)
        plan = replace(coding.state.round(ROUND).plan, round="second", items=FIRST[1:], practice=(practice,))
        coding.act(lambda state: build_open_act(state, plan, "lead"))
        import_decisions(coding, "earlier", file, "lead", "a paper")
        assert holding(study.root) == []
        (read,) = coding.state.round("second").plan.practice
        assert (read.feedback, read.answers["themes"][0]["memo"]) == (ASIDE, FIELD)
        assert MEMO in str(coding.state.published["earlier"][FIRST[0], "themes"].answer)
        withdraw(interviews, "P1")
        (read,) = coding.state.round("second").plan.practice
        assert (read.feedback, read.answers["themes"][0]["memo"]) == ("", "")


def test_raters_and_backups_never_deadlock(tmp_path: Path) -> None:
    study = coded_study(tmp_path / "study")
    done: list[int] = []

    def give() -> None:
        with open_coding(study) as coding:
            memos = (f"{MEMO} {number}" for number in range(40))
            done.extend(rate(coding, ROUND, "rater-1", FIRST[0], {"themes": []}, memo=memo) for memo in memos)

    rater = threading.Thread(target=give)
    rater.start()
    backups = 0
    while rater.is_alive():
        back_up_study(study, tmp_path / f"{backups}.backup")
        backups += 1
    rater.join()
    assert (len(done), backups > 0) == (40, True)


def test_table_rows_with_ids_like_turns_are_not_turns(study: Study) -> None:
    """The origin that a round recorded decides: P1, who withdraws, said nothing of what is in the table."""
    table = study.root / "rows.csv"
    table.write_text("id,title,body\nP1/00001,one,first\nP1/00002,two,second\n", "utf-8")
    text = study.file.read_text("utf-8").replace('source = "turns"', 'source = "rows"')
    source = '[sources.rows]\nkind = "table"\npath = "rows.csv"\nitem = "{id}"\n'
    source += "columns.id = {}\ncolumns.title = {}\ncolumns.body = {}\n"
    study.file.write_text(f'{text}\n{source}\n[facets.choice]\nkind = "single"\noptions = ["a", "b"]\n', "utf-8")
    study = open_study(study.root)
    ingest_source(study, "rows")
    run_funnel(study)
    wanted = {"items": {"after": "turns"}, "facets": ["choice"], "raters": ["rater-1", "rater-2"]}
    add_round(study, {"round": "of a table", **wanted})
    open_by_name(open_study(study.root), "of a table", None)
    with open_interviews(open_study(study.root)) as interviews:
        coding = interviews.coding
        rate(coding, "of a table", "rater-1", "P1/00001", {"choice": "a"}, memo="kept:0")
        withdraw(interviews, "P1")
        one = coding.state.round("of a table")
        assert one.gone == frozenset()
        assert one.slots[1].items == [("P1/00001", "P1/00002")]
        assert [given[-1].memo for given in one.ratings["rater-1"].values()] == ["kept:0"]
        assert coding.state.round(ROUND).gone, "turns of the round over transcripts are gone"


def test_a_withdrawal_erases_phrases_and_corrections_about_turns(study: Study) -> None:
    facets = (Facet("right", "confirm"), Facet("phrase", "phrase"))
    with open_interviews(study) as interviews:
        coding = interviews.coding
        plan = replace(coding.state.round(ROUND).plan, round="confirmed", facets=facets, measured="phrase")
        coding.act(lambda state: build_open_act(state, plan, "lead"))
        said = {"right": "no: a zygomorphic one", "phrase": "say, vellichor"}
        for rater in ("rater-1", "rater-2"):
            rate(coding, "confirmed", rater, FIRST[0], said)
            rate(coding, "confirmed", rater, OTHER[0], {"right": "yes", "phrase": "say, nothing"})
        assert holding(study.root) == []
        assert compute_round_agreement(coding.state, "confirmed", "phrase").n == 2
        withdraw(interviews, "P1")
        rating = coding.state.round("confirmed").current("rater-1", FIRST[0])
        assert rating is not None
        assert (rating.answers["right"], rating.answers["phrase"]["verb"]) == ({"answer": "no", "instead": ""}, "say")
        assert rating.answers["phrase"]["object"].startswith("(erased ")
        assert compute_round_agreement(coding.state, "confirmed", "phrase").n == 1


def test_an_older_act_is_matched_to_turns_by_the_form_of_its_ids(tmp_path: Path) -> None:
    study = coded_study(tmp_path)
    with open_interviews(study) as interviews:
        coding = interviews.coding
        plan = write_plan(replace(coding.state.round(ROUND).plan, round="older"))
        del plan["origin"]
        interviews.file.words.store([NewText("then", 0, ("P1",), MEMO)])
        rating = {"round": "older", "item": FIRST[0], "answers": {"themes": []}, "memo": "kept:0"}
        coding.journal.append([NewAct("round.open", "lead", {"plan": plan})])
        coding.journal.append([NewAct("rating", "rater-1", rating, key="then")])
        (given,) = coding.state.round("older").ratings["rater-1"][FIRST[0]]
        assert given.memo == MEMO
        withdraw(interviews, "P1")
        assert coding.state.round("older").gone
        assert [one.memo for one in coding.state.round("older").ratings["rater-1"][FIRST[0]]] == [""]
