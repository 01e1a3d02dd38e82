"""Builds items from turns: what participants said, with names masked, for raters, readers and search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from quaestor.base.errors import StateError
from quaestor.base.names import strip_strand
from quaestor.coding.session import require_lead
from quaestor.evidence.derived_items import (
    DerivedItems,
    DerivedSource,
    as_html,
    change_lines,
    erase_lines,
    write_derived_items,
)
from quaestor.evidence.erasure import erase_copies, erase_items, list_sources_in_folder, rebuild_stale_items
from quaestor.interviews.left_out_turns import record_left_out_turns
from quaestor.interviews.model.records import Transcript, build_item_id, is_coded
from quaestor.interviews.names.erased_names import FILLER, ErasedNames
from quaestor.interviews.names.remaining import refuse_names_in_transcripts
from quaestor.interviews.names.rewording import replace_matches
from quaestor.interviews.participants.consent import list_declined
from quaestor.interviews.repository import FOLDER, Interviews
from quaestor.study.folder import open_study

SOURCE, STEP = "turns", "turns"
_COLUMNS = ("id", "interview", "participant", "question", "title", "body")
_IDS = 3
"""The number of columns before the text."""
_TITLE = 60


def make_items(interviews: Interviews, actor: str | None = None) -> DerivedItems:
    """Writes what participants said as the input of a source, and adds the source to study.toml.

    A repeated call writes the current text without participants who have declined since; it is refused while a known
    name is left. `forget_participant` removes the words of withdrawn participants.
    """
    require_lead(interviews.coding, actor, "build items from transcripts")
    refuse_names_in_transcripts(interviews)
    record_left_out_turns(interviews, list_declined(interviews), actor)
    study = open_study(interviews.study.root)
    about = "What participants of interviews said, turn by turn, written by `quaestor interview items`."

    def list_lines(known: bool) -> list[tuple[str, ...]]:
        left_out = list_declined(interviews)
        talks = [transcript for transcript in interviews.transcripts() if transcript.participant not in left_out]
        lines = [line for talk in talks for line in _lines(interviews, talk)]
        if not lines and not known:
            raise StateError(
                "no transcript has anything said by a participant yet: import one, and set the speakers' voices"
            )
        return lines

    source = DerivedSource(SOURCE, SOURCE, FOLDER, _COLUMNS, STEP, about)
    return write_derived_items(study, source, list_lines, "participant")


def _lines(interviews: Interviews, transcript: Transcript) -> list[tuple[str, ...]]:
    guide = interviews.guide(transcript.guide, transcript.version)
    questions = {question.id: question.text for question in guide.questions()}
    return [
        (
            build_item_id(transcript.interview, turn.number),
            transcript.interview,
            transcript.participant,
            questions.get(turn.question, ""),
            f"{transcript.interview}, turn {turn.number}: {_beginning(turn.text)}",
            as_html(turn.text),
        )
        for turn in transcript.turns
        if is_coded(turn)
    ]


def _beginning(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rsplit(' ', 1)[0]} …"


def erase_names_in_items(interviews: Interviews, erased: ErasedNames) -> bool:
    """Erases the names of a participant from the items of others, and from all evidence and results built from them.

    Items can be older than the names. Items of turns with an overwritten name are written again; in all others the
    names are searched.
    """
    study = open_study(interviews.study.root)
    if not (study.root / FOLDER).is_dir() or not erased.names:
        return False
    talks = [talk for talk in interviews.transcripts() if any(FILLER in turn.raw for turn in talk.turns)]
    overwritten = {
        build_item_id(talk.interview, turn.number) for talk in talks for turn in talk.turns if FILLER in turn.raw
    }
    now = {line[0]: line for talk in talks for line in _lines(interviews, talk) if line[0] in overwritten}

    def changed(line: Sequence[str]) -> Sequence[str]:
        ids, words = line[:_IDS], now[line[0]][_IDS:] if line[0] in now else line[_IDS:]
        return [*ids, *(replace_matches(text, erased.find) for text in words)]

    def is_stale(row: Mapping[str, Any]) -> bool:
        item, words = (
            strip_strand(str(row.get("id", row.get("item")))),
            {name: row.get(name) for name in _COLUMNS[_IDS:]},
        )
        if item in now and words["body"] not in (None, now[item][_COLUMNS.index("body")]):
            return True
        return any(erased.find(text) for text in words.values() if isinstance(text, str))

    changes = [change_lines(study.root / FOLDER, changed)]
    changes += [rebuild_stale_items(study, source, is_stale) for source in list_sources_in_folder(study, FOLDER)]
    if any(changes):
        erase_copies(study)
    return any(changes)


def forget_participant(interviews: Interviews, participant: str) -> bool:
    """Removes the words of a participant from the items, and from all evidence and results built from them."""
    study = open_study(interviews.study.root)
    changes = [erase_lines(study.root / FOLDER, _COLUMNS.index("participant"), participant)]
    for source in list_sources_in_folder(study, FOLDER):
        # Their first interview is P1, the next ones are P1-2, P1-3 …
        changes += [erase_items(study, source, items) for items in (f"{participant}/", f"{participant}-")]
    return any(changes)
