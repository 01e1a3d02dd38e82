"""Speaker labels with titles, pronouns, organisations or numbers are recognized, and only the name is a known name."""

from __future__ import annotations

import pytest
from tests.support.transcript_writers import WRITERS, Said, document

from quaestor.base.errors import InputError
from quaestor.interviews.transcript_formats import read_transcript
from quaestor.interviews.transcript_formats.speaker_labels import is_generic, list_names_in_label

LABELS = (
    "Obviax Trin (he/him)", "Prof. Obviax Trin", "Trin, Obviax [EXT]", "Obviax Trin - Initech / R&D", "+49 170 ***1234",
    "Obviax Trin (Guest)", "Obviax Trin, they/them",
)  # fmt: skip
ODD = (
    "trin; at work",
    "Trin = me?",
    "see/also",
    "“Trin”",
    "a very long way to say that it is Trin who speaks here",
    "12",
)


def talk(label: str) -> list[Said]:
    return [("Zanthor Quell", "hi"), (label, "fine"), ("Zanthor Quell", "and what?"), (label, "more: words")]


def read(data: bytes, named: tuple[str, ...] = ()) -> list[Said]:
    return [(turn.speaker, turn.text) for turn in read_transcript(data, "talk", named=named).turns]


@pytest.mark.parametrize("way", sorted({*WRITERS} - {"markdown"}))
@pytest.mark.parametrize("label", LABELS)
def test_additions_to_a_speaker_name_are_part_of_the_label(way: str, label: str) -> None:
    assert read(WRITERS[way](talk(label))) == talk(label)


@pytest.mark.parametrize("label", [one for one in LABELS if "*" not in one])
def test_bold_speaker_labels_with_additions_are_recognized(label: str) -> None:
    assert read(WRITERS["markdown"](talk(label))) == talk(label)


@pytest.mark.parametrize("way", ["zoom-webvtt", "subrip", "text", "timed-text", "headed-text", "teams-document"])
@pytest.mark.parametrize("label", [*LABELS, *ODD])
def test_an_explicitly_named_speaker_is_recognized_with_any_label(way: str, label: str) -> None:
    assert read(WRITERS[way](talk(label)), ("Zanthor Quell", f" {label}:")) == talk(label)


@pytest.mark.parametrize("label", [*LABELS, *ODD])
def test_a_cell_in_the_speaker_column_is_always_a_speaker(label: str) -> None:
    assert read(WRITERS["table-document"](talk(label))) == talk(label)


@pytest.mark.parametrize("way", [*WRITERS])
def test_a_named_speaker_who_does_not_occur_gives_an_error(way: str) -> None:
    data = WRITERS[way](talk("Guest A"))
    with pytest.raises(
        InputError, match=r"there is no speaker 'Guest B' in talk: write speakers exactly as in the file"
    ):
        read_transcript(data, "talk", named=["Zanthor Quell", "Guest A", "Guest B"])
    assert read(data, ("Zanthor Quell", "Guest A")) == talk("Guest A")


def test_a_colon_after_brackets_belongs_to_the_current_speaker() -> None:
    said = "Interviewer: Why?\nGuest: I thought [pause]: never.\nInterviewer: Yes?\nGuest: No [laughs]: none."
    assert [who for who, _ in read(f"{said}\nNote (well): so.".encode())] == ["Interviewer", "Guest"] * 2


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("Obviax Trin (he/him)", ("Obviax Trin",)),
        ("Trin, Obviax [EXT]", ("Trin, Obviax",)),
        ("Obviax Trin - Initech / R&D", ("Obviax Trin", "Initech")),
        ("Obviax Trin she/her/hers", ("Obviax Trin",)),
        ("Guest (Obviax Trin)", ("Obviax Trin",)),
        ("Trin1", ("Trin",)),
        ("Quell 2", ("Quell",)),
        ("Li1", ("Li",)),
        ("(Trin)", ("Trin",)),
    ],
)
def test_names_are_found_in_speaker_labels(label: str, names: tuple[str, ...]) -> None:
    assert list_names_in_label(label) == names
    assert not is_generic(label)


@pytest.mark.parametrize(
    "label",
    ["P1", "S00", "SP2", "I", "B 1", "Speaker 2 [EXT]", "Guest A (External)", "SPEAKER_01", "user42", "Answer",
     "Interviewer (she/her)"],
)  # fmt: skip
def test_a_generic_speaker_label_contains_no_name(label: str) -> None:
    assert list_names_in_label(label) == ()
    assert is_generic(label)


def test_a_phone_number_and_a_lower_case_name_are_not_generic_labels() -> None:
    for label in ("+49 170 ***1234", "Guest (trin)"):
        assert list_names_in_label(label) == ()
        assert not is_generic(label)


def test_a_long_cell_without_a_header_is_speech() -> None:
    def row(*cells: str) -> str:
        made = "".join(f"<w:tc><w:p><w:r><w:t>{cell}</w:t></w:r></w:p></w:tc>" for cell in cells)
        return f"<w:tr>{made}</w:tr>"

    rows = row("Guest", "so"), row("What is meant by that? Nobody knows.", "It is said.")
    assert read(document(f"<w:tbl>{''.join(rows)}</w:tbl>")) == [
        ("Guest", "so\nWhat is meant by that? Nobody knows.\nIt is said."),
    ]  # fmt: skip
