"""Turns as items: participants' words, removal after a withdrawal, and positions that any text keeps."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.support.coded_interviews import ROUND, coded_study, interviews_of
from tests.support.command_line import in_this_process
from tests.support.small_interviews import TALK, a_study, with_interview, with_transcript

from quaestor.base.errors import InputError, StateError
from quaestor.evidence import live_items
from quaestor.evidence.funnel import read_passed, run_funnel
from quaestor.evidence.item_text_cache import ItemTexts
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.text_index import build_index
from quaestor.interviews.items import SOURCE, TurnSource, forget_participant, make_items
from quaestor.interviews.model.records import Replacement, SpokenTurn, Voice, parse_item_id
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.pages.coding_sheet import assign_lanes, split_text
from quaestor.interviews.participants.consent import ACCEPTED, DECLINED, SPOKEN, record_consent
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.study.folder import open_study

MARKED = "zanthor-quell"


def test_items_are_participant_turns_with_masked_text(tmp_path: Path) -> None:
    a_study(tmp_path)
    odd = [*TALK, ("Guest", "Two\r\nlines & <b>marks</b>,\n\nthen more."), ("Guest", "   ")]
    with open_interviews(open_study(tmp_path)) as interviews:
        with_transcript(interviews, with_interview(interviews).id, odd, {0: "stages"})
        items = make_items(interviews)
        assert (items.items, items.participants, items.added, make_items(interviews).added) == (3, 1, True, False)
        with pytest.raises(StateError, match="not the lead"):
            make_items(interviews, "rater-1")
    rows = [
        dict(zip(TurnSource.columns, row, strict=True)) for row in TurnSource().read_rows(open_study(tmp_path), SOURCE)
    ]
    assert [row["id"] for row in rows] == ["P1/00001", "P1/00003", "P1/00004"]
    assert rows[0]["question"] == "Which stages does your work have?"
    assert rows[0]["title"].startswith("P1, turn 1: First I look at the data")
    assert rows[2]["body"] == "<p>Two<br>lines &amp; &lt;b&gt;marks&lt;/b&gt;,</p><p>then more.</p>"


def test_items_need_a_participant_turn(tmp_path: Path) -> None:
    with (
        open_interviews(a_study(tmp_path)) as interviews,
        pytest.raises(StateError, match="no transcript has anything said by a participant"),
    ):
        make_items(interviews)


def test_words_of_turns_are_on_disk_only_in_the_sealed_file(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [[*TALK, ("Guest", f"I am {MARKED}.")], TALK])
    with build_index(study, lambda *_: None).reading() as index:
        assert index.execute("SELECT count(*) FROM texts WHERE texts MATCH 'quell'").fetchone() == (1,)
    with closing(ItemTexts(study)) as texts:
        texts.prepare(ROUND, ["P1/00004"])
        assert MARKED in texts.get(["P1/00004"])["P1/00004"].body
    assert _mentions(tmp_path) == []
    assert (study.funnel_folder / "fell.parquet").stat().st_mode & 0o777 == 0o600


def test_a_withdrawn_participant_leaves_items_funnel_and_index(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [[*TALK, ("Guest", f"I am {MARKED}.")], TALK])
    build_index(study, lambda *_: None)
    with interviews_of(study) as interviews:
        withdraw(interviews, "P1")
        assert not forget_participant(interviews, "P1")
    with build_index(study, lambda *_: None).reading() as index:
        assert index.execute("SELECT count(*) FROM texts WHERE texts MATCH 'quell'").fetchone() == (0,)
    assert not any(item.startswith("P1/") for item in read_passed(study, -1))
    assert list(read_item_texts(study, ["P1/00001", "P2/00001"])) == ["P2/00001"]
    with interviews_of(study) as interviews:
        withdraw(interviews, "P2")
    assert read_item_texts(study, ["P2/00001"]) == {}
    told = in_this_process("ratings", "next", ROUND, "--as", "rater-1", "--study", tmp_path)
    assert (told.exit_code, told.exception) == (0, None), told.output
    assert run_funnel(study).entered == 0, "the last one too"


def test_a_withdrawal_removes_copies_that_an_earlier_version_made(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [[*TALK, ("Guest", f"I am {MARKED}.")], TALK])
    folder = tmp_path / "evidence/interviews"
    folder.mkdir()
    (folder / "turns.csv").write_text(f"id,body\nP1/00004,I am {MARKED}.\n", "utf-8")
    text = study.file.read_text("utf-8")
    assert 'kind = "interviews"\n' in text
    mapped = "".join(f"columns.{column} = {{}}\n" for column in TurnSource.columns)
    table = f'kind = "table"\npath = "evidence/interviews/turns.csv"\nitem = "{{id}}"\n{mapped}'
    study.file.write_text(text.replace('kind = "interviews"\n', table), "utf-8")
    older = open_study(tmp_path)
    assert _mentions(tmp_path) == [folder / "turns.csv"]
    assert len(read_item_texts(older, ["P1/00004"])) == 1, "the table is not read any more"
    with interviews_of(older) as interviews:
        assert interviews.item_prefix == ""
        withdraw(interviews, "P1")
    assert _mentions(tmp_path) == []


def test_a_name_that_becomes_known_is_masked_in_items_and_search_at_once(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [[*TALK, ("Guest", "Zanthor told me.")], TALK])
    build_index(study, lambda *_: None)
    with interviews_of(study) as interviews:
        add_name(interviews, "person", ["Zanthor"], "[somebody]")
    assert read_item_texts(study, ["P1/00004"])["P1/00004"].body == "<p>[somebody] told me.</p>"
    with build_index(study, lambda *_: None).reading() as index:
        assert index.execute("SELECT count(*) FROM texts WHERE texts MATCH 'zanthor'").fetchone() == (0,)


def test_a_missing_key_is_named_and_no_new_one_is_created(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [TALK])
    key = tmp_path / "interviews.key"
    key.rename(tmp_path / "elsewhere.key")
    live_items._CACHED.clear()  # as in a new process
    with pytest.raises(StateError, match=r"interviews\.key is missing"):
        read_item_texts(study, ["P1/00001"])
    assert not key.exists()


def test_a_participant_who_declines_has_no_items_until_they_accept_again(tmp_path: Path) -> None:
    study = coded_study(tmp_path, [TALK, TALK])
    with interviews_of(study) as interviews:
        record_consent(interviews, "P1", DECLINED, SPOKEN)
        assert (make_items(interviews).items, make_items(interviews).participants) == (2, 1)
        record_consent(interviews, "P1", ACCEPTED, SPOKEN)
        assert make_items(interviews).participants == 2


def _mentions(folder: Path) -> list[Path]:
    """Evidence files that contain a word, compressed or not."""
    import pyarrow.parquet as pq

    found = []
    for path in (folder / "evidence").rglob("*"):
        if path.is_file():
            text = str(pq.read_table(path).to_pylist()).encode() if path.suffix == ".parquet" else path.read_bytes()
            found += [path] if MARKED.encode() in text else []
    return found


@pytest.mark.parametrize("item", ["P1", "P1/x", "/1", "P1/¹"])
def test_an_invalid_turn_id_is_refused(item: str) -> None:
    with pytest.raises(InputError, match="is not a turn"):
        parse_item_id(item)


TEXT = some.text(some.characters(exclude_categories=["Cs"]), max_size=60) | some.text(
    "aé\u0301ש😀🇩🇪 \r\n.", max_size=60
)


@some.composite
def spoken(draw: some.DrawFn) -> SpokenTurn:
    """A turn with some names replaced."""
    raw = draw(TEXT)
    cuts = sorted(draw(some.sets(some.integers(0, len(raw)), max_size=6)))
    shown = some.text("[P]1😀", min_size=1, max_size=5)
    replaced = tuple(Replacement(0, low, high, draw(shown)) for low, high in zip(cuts[::2], cuts[1::2], strict=False))
    return SpokenTurn(0, Voice.PARTICIPANT, raw, replaced)


@given(spoken(), some.data())
@settings(max_examples=200, deadline=None)
def test_shown_and_recorded_positions_map_to_each_other(turn: SpokenTurn, data: some.DataObject) -> None:
    text = turn.text
    if not text:
        return
    start = data.draw(some.integers(0, len(text) - 1))
    end = data.draw(some.integers(start + 1, len(text)))
    low, high = turn.to_raw(start, end)
    assert 0 <= low < high <= len(turn.raw)
    first, last = turn.to_shown(low, high)
    assert first <= start, "all that was selected is in it"
    assert last >= end
    assert turn.to_raw(first, last) == (low, high)
    outside = all(replacement.end <= low or replacement.start >= high for replacement in turn.replacements)
    if outside:
        assert turn.raw[low:high] == text[start:end]
    units = len(text[:start].encode("utf-16-le")) // 2
    assert len(text.encode("utf-16-le")[: units * 2].decode("utf-16-le")) == start


@given(some.text(max_size=30), some.lists(some.tuples(some.integers(0, 30), some.integers(0, 30)), max_size=8))
@settings(max_examples=200, deadline=None)
def test_overlapping_passages_have_different_lanes_and_no_word_is_lost(
    text: str, given_: list[tuple[int, int]]
) -> None:
    places = [(min(one), max(one)) for one in given_ if one[0] != one[1]]
    pieces = split_text(text, places)
    assert "".join(piece.words for piece in pieces) == text
    at = 0
    for piece in pieces:
        inside = {number for number, (low, high) in enumerate(places) if low <= at and high >= at + len(piece.words)}
        assert set(piece.inside) == inside
        at += len(piece.words)
    lanes = assign_lanes(places)
    for one, (low, high) in enumerate(places):
        for other, (first, last) in enumerate(places[:one]):
            assert lanes[one] != lanes[other] or high <= first or low >= last
