"""Raters see no known names, and a coded passage keeps its words whatever happens to names."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.coded_interviews import ROUND, code_all, coded_study, copy_of, interviews_of, stretch
from tests.support.filled_spreadsheets import read_sheets

from quaestor.base.errors import StateError
from quaestor.coding.pages.disputed_answers import AnswerSource, DisputedAnswer, DisputeQuestion, mask_question
from quaestor.coding.rating_spreadsheet import build_rating_spreadsheet
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.evidence.item_texts import ItemText, mask_item_text, read_item_texts
from quaestor.interviews.coding.acts import (
    PassageSubmission,
    WordSelection,
    build_coding_act,
    find_selection,
    find_turn_shown,
    list_passages_shown,
)
from quaestor.interviews.items import STEP
from quaestor.interviews.names.confirmations import answer_all_places, answer_places, change_replacement
from quaestor.interviews.names.known_names import add_name, list_all_names, remove_name
from quaestor.interviews.names.masking import HIDE, read_transcript_as, show_transcript, show_transcript_at
from quaestor.interviews.names.matches import REFUSED, list_proposals
from quaestor.interviews.pages.coding_sheet import CodedTurn, build_coding_sheet
from quaestor.interviews.repository import Interviews
from quaestor.interviews.text_mask import text_mask
from quaestor.interviews.withdrawal import withdraw
from quaestor.store.sealed_file import NewEntry
from quaestor.study.folder import Study, open_study

SAID = "First Obviax bought Zentor Brimm, then Wexla left 🙂 and Zentor stayed with Quellix."
TALK = (("Interviewer", "Who did what, Wexla?"), ("Guest", SAID))
FORMS = {"[a]": "Obviax", "[b]": "Zentor", "[c]": "Zentor Brimm", "[d]": "Wexla", "[e]": "bought Zentor"}
ITEM = "P1/00001"
_TOKEN = re.compile(r"\[\w+\]|[^\s\[\]]+")


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return coded_study(tmp_path_factory.mktemp("made"), [TALK])


@pytest.fixture
def study(study_template: Study, tmp_path: Path) -> Study:
    return copy_of(study_template, tmp_path)


def page(room: Interviews, rater: str = "rater-1") -> tuple[CodedTurn, int]:
    """The turn of the participant as a rater has it on the page, and what tells its words later."""
    sheet = build_coding_sheet(room.coding, room, ROUND, rater, "P1", page=1)
    return [turn for answer in sheet.answers for turn in answer.turns][1], sheet.seen


def save(room: Interviews, stretches: Sequence[dict[str, Any]], seen: int) -> None:
    coding_act = build_coding_act(room.coding, room, ROUND, "rater-1", PassageSubmission("P1", 1, stretches, seen))
    room.coding.act(coding_act.build_act)


def recorded(room: Interviews) -> list[tuple[int, int]]:
    rating = room.coding.state.round(ROUND).current("rater-1", ITEM)
    return [(passage["start"], passage["end"]) for passage in rating.answers["themes"]] if rating else []


def test_a_known_name_is_hidden_from_raters_immediately(study: Study) -> None:
    with interviews_of(study) as room:
        assert page(room)[0].text == SAID
        add_name(room, "person", ["Wexla"], "[d]")
        sheet = build_coding_sheet(room.coding, room, ROUND, "rater-2", "P1", page=1)
        assert "Wexla" not in repr(sheet)
        assert "Who did what, [d]?" in repr(sheet), "what the interviewer says too"
        assert find_turn_shown(room, "P1", 1).text == SAID.replace("Wexla", "[d]")
        assert "Wexla" in read_transcript_as(room, "P1", None).turns[1].text, "the lead decides about it"
        assert "Wexla" not in read_transcript_as(room, "P1", "rater-1").turns[1].text
        answer_all_places(room, False)
        assert page(room)[0].text == SAID, "a place that is no name after all is shown"


def test_masking_is_recorded_once_without_the_name(study: Study) -> None:
    with interviews_of(study) as room:
        assert (page(room)[1], page(room)[1]) == (room.file.read_head("P1"),) * 2
        assert not [entry for entry in room.file.read_entries(about="P1") if entry.kind == HIDE], (
            "nothing to hide, nothing kept"
        )
        add_name(room, "person", ["Wexla"], "[d]")
        first = page(room)[1]
        assert [page(room, rater)[1] for rater in ("rater-1", "rater-2")] == [first, first]
        (kept,) = [entry for entry in room.file.read_entries(about="P1") if entry.kind == HIDE]
        assert "Wexla" not in repr(kept)
        answer_all_places(room, True)
        assert page(room)[0].text == SAID.replace("Wexla", "[d]")
        assert len([entry for entry in room.file.read_entries(about="P1") if entry.kind == HIDE]) == 1, (
            "confirmed, as it was shown"
        )
        remove_name(room, "[d]")
        assert page(room)[1] == room.file.read_head("P1")
        withdraw(room, "P1")
        assert not room.file.read_entries(about="P1")
    with interviews_of(study) as room, pytest.raises(StateError, match="P1 withdrew"):
        show_transcript(room, "P1")


def test_a_coding_of_a_replaced_transcript_is_refused(study: Study) -> None:
    with interviews_of(study) as room:
        seen = page(room)[1]
        came = next(entry for entry in room.file.read_entries(about="P1") if entry.kind == "transcript")
        room.file.add(NewEntry(came.kind, came.actor, came.content, "P1", "P1", room.now()))
        with pytest.raises(StateError, match="has been replaced since you opened this page"):
            show_transcript_at(room, "P1", seen)


def test_without_javascript_words_are_counted_in_the_shown_text(study: Study) -> None:
    with interviews_of(study) as room:
        add_name(room, "person", ["Wexla"], "[the one who left]")
        seen = page(room)[1]
        answer_all_places(room, False)
        place = find_selection(room, "P1", WordSelection(1, from_word=7, to_word=10), seen)
        save(room, [stretch(*place, "shapes")], seen)
        assert [SAID[start:end] for start, end in recorded(room)] == ["Wexla"]
        (held,) = list_passages_shown(room.coding, room, ROUND, "rater-1", ITEM, seen)
        assert find_turn_shown(room, "P1", 1, seen).text[held["start"] : held["end"]] == "[the one who left]"


def test_disagreement_pages_show_no_known_names(study: Study) -> None:
    told = stretch(6, 20, "indicator", memo="Wexla again", fields={"what": "Obviax"})
    code_all(study, {"rater-1": {ITEM: [told]}, "rater-2": {}})
    close_by_name(study, ROUND, None)
    with interviews_of(study) as room:
        for shown, form in FORMS.items():
            add_name(room, "other", [form], shown)
        opinion = DisputedAnswer(json.dumps([told]), "", voices=(AnswerSource("rater-1", memo="of Wexla"),))
        asked = DisputeQuestion("themes", "stretches", "", (opinion,), ())
        (one,) = mask_question(asked, ITEM, room.coding.state.history.latest, text_mask(room)).opinions
        assert [(quote.words, quote.more) for quote in one.quotes] == [("[a] [e]", ("what: [a]", "[d] again"))]
        assert one.voices[0].memo == "of [d]"


def test_an_item_text_hides_names_that_became_known_after_ingest(study: Study) -> None:
    reading = read_item_texts(study, [ITEM])[ITEM]
    other = replace(reading, item="example/question/12")
    assert SAID[:6] in reading.body
    with interviews_of(study) as room:
        assert mask_item_text(text_mask(room), reading) == reading
        add_name(room, "person", ["Wexla"], "[d]")
        assert mask_item_text(text_mask(room), reading).body == reading.body.replace("Wexla", "[d]")
        assert "Wexla" not in mask_item_text(text_mask(room), reading).title
        add_name(room, "other", ["Obviax"], "[a]")
        told = mask_item_text(text_mask(room), replace(reading, is_prepared=True))
        assert (told.title, told.is_prepared) == ("P1, turn 1", False)
        assert "Obviax" not in told.body
        assert [mask_item_text(text_mask(room), other), mask_item_text(text_mask(None), reading)] == [other, reading]
        answer_all_places(room, True)
        assert mask_item_text(text_mask(room), reading) == replace(told, is_prepared=False), (
            "as long as evidence is older"
        )
        withdraw(room, "P1")
        assert mask_item_text(text_mask(room), reading) == reading


def test_a_rating_spreadsheet_hides_known_names(study: Study) -> None:
    text = study.file.read_text("utf-8").replace("[facets.themes]", '[facets.note]\nkind = "text"\n\n[facets.themes]')
    study.file.write_text(text, "utf-8")
    changed = open_study(study.root)
    add_round(changed, {"round": "notes", "items": {"after": STEP}, "facets": ["note"], "raters": ["rater-1"]})
    with interviews_of(open_study(study.root)) as room:
        open_by_name(room.coding, "notes", None)
        assert "Wexla" in repr(read_sheets(build_rating_spreadsheet(room.coding, "notes", "rater-1").content))
        add_name(room, "person", ["Wexla"], "[d]")
        shown = repr(read_sheets(build_rating_spreadsheet(room.coding, "notes", "rater-1").content))
    assert "Wexla" not in shown
    assert "then [d] left 🙂" in shown


def test_a_table_row_with_an_id_like_a_turn_keeps_its_text(study: Study) -> None:
    row = ItemText(ITEM, "A row about Wexla", "<p>Its own words.</p>")
    text = (study.root / "study.toml").read_text("utf-8")
    with interviews_of(study) as room:
        add_name(room, "person", ["Wexla"], "[d]")
        assert mask_item_text(text_mask(room), row).body != row.body
    (study.root / "rows.csv").write_text(f"item,title\n{ITEM},A row about Wexla\n", "utf-8")
    source = '[sources.rows]\nkind = "table"\npath = "rows.csv"\nitem = "{item}"\n'
    (study.root / "study.toml").write_text(text.partition("[sources.")[0] + source, "utf-8")
    with interviews_of(open_study(study.root)) as room:
        assert mask_item_text(text_mask(room), row) == row


ACTS = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "confirm", "refuse", "all", "none", "other"]), st.integers(0, 4)),
    max_size=5,
)


def do(room: Interviews, what: str, which: int) -> None:
    """Something that the lead does with names; nothing where there is nothing to do it with."""
    shown = list(FORMS)[which]
    known = {known_name.forms[0]: known_name.id for known_name in list_all_names(room)}
    proposals = list_proposals(room)
    match what:
        case "add" if FORMS[shown] not in known:
            add_name(room, "other", [FORMS[shown]], shown)
        case "remove" if FORMS[shown] in known:
            remove_name(room, known[FORMS[shown]])
        case "other" if FORMS[shown] in known:
            change_replacement(room, known[FORMS[shown]], f"[{shown[1]}{which}other]")
        case "confirm" | "refuse" if proposals:
            answer_places(room, [proposals[which % len(proposals)].place], what == "confirm")
        case "all" | "none":
            answer_all_places(room, what == "all")


def spans(shown: str) -> list[tuple[int, int, int, int]]:
    """Shown and recorded position of each word."""
    found, after = [], 0
    for token in _TOKEN.finditer(shown):
        words = FORMS[f"[{token[0][1]}]"] if token[0].startswith("[") else token[0]
        start = SAID.index(words, after)
        after = start + len(words)
        found.append((*token.span(), start, after))
    return found


@settings(max_examples=40, deadline=None)
@given(before=ACTS, between=ACTS, later=ACTS, picked=st.tuples(st.integers(0, 20), st.integers(0, 20)))
def test_a_coded_passage_covers_the_selected_words_whatever_happens_to_names(
    study_template: Study, before: list[Any], between: list[Any], later: list[Any], picked: tuple[int, int]
) -> None:
    with tempfile.TemporaryDirectory() as folder, interviews_of(copy_of(study_template, Path(folder))) as room:
        for act in before:
            do(room, *act)
        turn, seen = page(room)
        wholly = {proposal.words for proposal in list_proposals(room) if proposal.sure} - {
            proposal.words for proposal in list_proposals(room, state=REFUSED)
        }
        assert not [one for one in wholly if one in turn.text]
        words = spans(turn.text)
        first, last = sorted(one % len(words) for one in picked)
        for act in between:
            do(room, *act)
        save(room, [stretch(words[first][0], words[last][1], "shapes")], seen)
        assert recorded(room) == [(words[first][2], words[last][3])]
        for act in later:
            do(room, *act)
        turn, seen = page(room)
        for act in between:
            do(room, *act)
        save(room, [stretch(mark.start, mark.end, mark.code) for mark in turn.marks], seen)
        assert recorded(room) == [(words[first][2], words[last][3])], "what nobody moved stays where it was"
