"""Turns of transcripts as items: what participants said, with nobody's name in it, for raters, readers and search."""

from __future__ import annotations

import shutil

from quaestor.base.errors import InputError, StateError
from quaestor.corpus.evidence import read_manifest
from quaestor.instruments.interviews.records import SpokenTurn, Transcript, Voice
from quaestor.study.coding import require_lead
from quaestor.study.folder import Study, open_study
from quaestor.study.funnel import last_result, run_funnel
from quaestor.study.interviews.remaining import refuse_names_in
from quaestor.study.interviews.room import Interviews
from quaestor.study.search.index import index_folder
from quaestor.study.sources import ingest_source, what_changed
from quaestor.study.worded_items import ItemsMade, WordedSource, as_html, forget_lines, write_items

FOLDER = "evidence/interviews"
"""Generated, and so among what git does not keep: these are people's own words."""
SOURCE, STEP = "turns", "turns"
_COLUMNS = ("id", "interview", "participant", "question", "title", "body")
_TITLE = 60


def item_of(interview: str, turn: int) -> str:
    """The id of a turn as an item."""
    return f"{interview}/{turn:05d}"


def place_of(item: str) -> tuple[str, int]:
    """The interview and the turn that an item is."""
    interview, _, turn = item.rpartition("/")
    if not interview or not (turn.isascii() and turn.isdigit()):
        raise InputError(f"{item!r} is no turn of a transcript: it would be INTERVIEW/00012")
    return interview, int(turn)


def is_coded(turn: SpokenTurn) -> bool:
    """Whether raters code a turn: a participant's, if anything is said in it."""
    return turn.voice is Voice.PARTICIPANT and bool(turn.text.strip())


def make_items(interviews: Interviews, actor: str | None = None) -> ItemsMade:
    """Write what participants said as the input of a source, and put the source into study.toml.

    Called again it writes what stands then; it is refused while a known name remains. Words of who withdraws are taken
    out by `forget_participant`.
    """
    require_lead(interviews.coding, actor, "make items of transcripts")
    refuse_names_in(interviews)
    study = open_study(interviews.study.root)
    about = "What participants of interviews said, turn by turn, written by `quaestor interview items`."

    def found(known: bool) -> list[tuple[str, ...]]:
        lines = [line for transcript in interviews.transcripts() for line in _lines(interviews, transcript)]
        if not lines and not known:
            raise StateError(
                "no participant says anything in a transcript yet: import one, and say whose voice is whose"
            )
        return lines

    return write_items(study, WordedSource(SOURCE, FOLDER, _COLUMNS, STEP, about), found, "participant")


def _lines(interviews: Interviews, transcript: Transcript) -> list[tuple[str, ...]]:
    guide = interviews.guide(transcript.guide, transcript.version)
    questions = {one.id: one.text for one in guide.questions()}
    return [
        (
            transcript.item(turn.number),
            transcript.interview,
            transcript.participant,
            questions.get(turn.question, ""),
            f"{transcript.interview}, turn {turn.number + 1}: {_beginning(turn.text)}",
            as_html(turn.text),
        )
        for turn in transcript.turns
        if is_coded(turn)
    ]


def _beginning(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _TITLE else f"{line[:_TITLE].rsplit(' ', 1)[0]} …"


def forget_participant(interviews: Interviews, participant: str, names: tuple[str, ...] = ()) -> bool:
    """Take the words of a participant out of the items, the evidence made of them, and all that was made of that."""
    study = open_study(interviews.study.root)
    found = forget_lines(study.root / FOLDER, _COLUMNS.index("participant"), participant)
    ingested = SOURCE in study.settings.sources and read_manifest(study.evidence_of(SOURCE)) is not None
    if ingested and (found or what_changed(study, SOURCE)):
        _made_anew(study)
    return found


def _made_anew(study: Study) -> None:
    """Evidence without whoever withdrew; what was copied from it to read and search is copied again on demand."""
    for folder in (index_folder(study), study.funnel_folder / "texts"):
        shutil.rmtree(folder, ignore_errors=True)
    made = ingest_source(study, SOURCE)
    if study.funnel_source() == SOURCE and last_result(study) is not None:
        if any(table.rows for table in made.manifest.tables.values()):
            run_funnel(study)
        else:  # the last one has withdrawn
            shutil.rmtree(study.funnel_folder)
