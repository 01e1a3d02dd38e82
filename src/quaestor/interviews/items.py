"""Turns as items: what participants said, with names masked, for raters, readers and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from quaestor.base.errors import StateError
from quaestor.coding.session import require_lead
from quaestor.evidence.erasure import contains_items, forget_items, remove_copies
from quaestor.evidence.live_items import AddedItems, add_live_source, as_html
from quaestor.interviews.left_out_turns import record_left_out_turns
from quaestor.interviews.model.records import Transcript, build_item_id, is_coded
from quaestor.interviews.names.masking import build_masker, mask_transcript
from quaestor.interviews.names.remaining import refuse_names_in_transcripts
from quaestor.interviews.participants.consent import list_declined
from quaestor.interviews.repository import (
    INTERVIEWS_FILE,
    Interviews,
    identities_path,
    interviews_path,
    list_keys,
    open_files,
)
from quaestor.store.sealed_file import change_stamp
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study, open_study
from quaestor.study.session import Session

SOURCE, STEP = "turns", "turns"
_TITLE = 60


class TurnSource:
    """What participants said, turn by turn, read from the sealed transcripts; implements `LiveSource`."""

    kind = "interviews"
    file = INTERVIEWS_FILE
    items_are = "turns of transcripts"
    columns: tuple[str, ...] = ("id", "participant", "interview", "question", "title", "body")

    def stamp(self, study: Study) -> object:
        paths = (interviews_path(study), identities_path(study))
        return tuple((change_stamp(path), path.stat().st_ino if path.exists() else 0) for path in paths)

    def read_rows(self, study: Study, source: str) -> list[tuple[str, ...]]:
        """Returns the turns of participants who have not declined; all certain names are masked, confirmed or not."""
        if not interviews_path(study).exists():
            return []
        for key in list_keys(study).values():
            if not key.exists():  # opening the files would create a new key, which cannot decrypt them
                raise StateError(f"{key} is missing, so transcripts cannot be read: restore it first")
        interviews = Interviews(None, *open_files(study))
        try:
            declined = list_declined(interviews)
            talks = [transcript for transcript in interviews.transcripts() if transcript.participant not in declined]
            return [row for talk in talks for row in _build_rows(interviews, mask_transcript(interviews, talk))]
        finally:
            interviews.close()

    def read_left_out(self, study: Study, session: Session[Any] | None) -> Callable[[str], bool]:
        return lambda item: False


def _build_rows(interviews: Interviews, transcript: Transcript) -> list[tuple[str, ...]]:
    guide, mask = interviews.guide(transcript.guide, transcript.version), build_masker(interviews)
    questions = {question.id: mask(question.text) for question in guide.questions()}
    return [
        (
            build_item_id(transcript.interview, turn.number),
            transcript.participant,
            transcript.interview,
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


def make_items(interviews: Interviews, actor: str | None = None) -> AddedItems:
    """Adds what participants said to study.toml as a source with a strand; refused while a known name is left.

    The items follow the transcripts: new turns enter with the next run of the funnel, erased ones are gone at once.
    """
    require_lead(interviews.coding, actor, "build items from transcripts")
    refuse_names_in_transcripts(interviews)
    record_left_out_turns(interviews, list_declined(interviews), actor)
    study = open_study(interviews.study.root)
    source = find_turn_source(study) or SOURCE
    if source not in study.settings.sources and not TurnSource().read_rows(study, source):
        raise StateError(
            "no transcript has anything said by a participant yet: import one, and set the speakers' voices"
        )
    about = f"What participants of interviews said, read from {INTERVIEWS_FILE}; added by `quaestor interview items`."
    return add_live_source(study, source, TurnSource(), {}, SOURCE, STEP, about)


def find_turn_source(study: Study) -> str:
    """Returns the source of turns in study.toml; empty if there is none."""
    for name in study.settings.sources:
        live = find_live_source(study, name)
        if live is not None and live.kind == TurnSource.kind:
            return name
    return ""


def forget_participant(interviews: Interviews, participant: str) -> bool:
    """Removes the turns of a participant from the results of funnels, and copies of words; returns if there were any.

    Before the erasure itself it only removes the copies.
    """
    study = open_study(interviews.study.root)
    # Their first interview is P1, the next ones are P1-2, P1-3 …
    starts = (f"{participant}/", f"{participant}-")
    if participant not in interviews.file.list_erased():
        return bool(remove_copies(study)) | any(contains_items(study, TurnSource.kind, start) for start in starts)
    had_items = [forget_items(study, TurnSource.kind, start) for start in starts]
    return any(had_items)
