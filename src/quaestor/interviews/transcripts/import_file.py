"""Transcripts come in: from a file of any recording program to turns with voices and the questions they answer."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.instruments.interviews.matching import matched
from quaestor.instruments.interviews.records import Guide, Voice
from quaestor.sources.transcripts import ENCODINGS, LARGEST, transcript_in
from quaestor.sources.transcripts.records import ReadTranscript, RecordedTurn
from quaestor.store.sealed_file import Entry, NewEntry
from quaestor.study.interviews.consent import consent_missing, require_consent
from quaestor.study.interviews.room import Interviews
from quaestor.study.interviews.voices import proposed_voices

MATCHED, BY_HAND = "matched", "by hand"
PROPOSED = "proposed"
ENCODING_WORDS = {name: languages for name, (_, languages) in ENCODINGS.items()}
"""What a file can be said to be written in, and for which languages."""
_NEEDS_CONSENT = "import a transcript"


class AnotherTranscript(StateError):
    """There is a transcript from another file, and nobody said that this one shall take its place."""


@dataclass(frozen=True)
class Imported:
    """A transcript that came in, or was there already."""

    interview: str
    format: str
    encoding: str
    sha256: str
    turns: int
    words: int
    voices: tuple[int, ...]
    """How many speakers are taken for the participant, the interviewer and others."""
    asked: int
    """How many questions of the guide were found in it."""
    questions: int
    left_out: int = 0
    """How many notes, styles and headers stand in the file beside the conversation; `left_out_of` has their words."""
    doubtful: bool = False
    """Whether letters may be wrong: the file does not say its encoding, and they hardly belong together."""
    new: bool = True
    replaced: bool = False


def import_transcript(
    interviews: Interviews,
    name: str,
    path: Path,
    actor: str | None = None,
    format: str = "",
    named: Collection[str] = (),
    replace: bool = False,
    encoding: str = "",
    apart: bool = False,
) -> Imported:
    """Take in the transcript of an interview from a file, which is only read."""
    if not path.is_file():
        raise InputError(f"{path} is no file: name the transcript")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    return take_in(interviews, name, data, path.name, actor, format, named, replace, encoding, apart)


def take_in(
    interviews: Interviews,
    name: str,
    data: bytes,
    file: str,
    actor: str | None = None,
    format: str = "",
    named: Collection[str] = (),
    replace: bool = False,
    encoding: str = "",
    apart: bool = False,
) -> Imported:
    """The same of what a page sent; the same file again is nothing new, another one needs to be told to replace it."""
    interview = interviews.interview(name)
    require_consent(interviews, interview.participant, _NEEDS_CONSENT)
    known = latest_import(interviews.file.entries(about=name))
    sha256 = hashlib.sha256(data).hexdigest()
    if known is not None and known.said["sha256"] == sha256 and not replace:
        return _told(interviews, name, known.said, new=False)
    refused = import_refused(interviews, name)
    if refused:
        raise StateError(refused)
    if known is not None and not replace:
        raise AnotherTranscript(
            f"{name} has a transcript from another file: say --replace to have this one instead, "
            "without what was corrected and confirmed in it"
        )
    read = transcript_in(data, file, format, named, encoding, apart=apart)
    guide = interviews.guide_of(interview)
    voices = proposed_voices(read.turns, guide)
    said = {"format": read.format, "encoding": read.encoding, "sha256": sha256, "turns": len(read.turns)}
    said |= {"words": read.words, "left_out": [line[:500] for line in read.left_out[:100]]}
    said |= {"left_out_count": len(read.left_out), "doubtful": read.doubtful}
    who, about = actor or interviews.coding.lead, (interview.participant, name, interviews.now())
    interviews.file.put_pieces(
        name,
        interview.participant,
        [_piece(turn) for turn in read.turns],
        NewEntry("transcript", who, said, *about),
        *(
            NewEntry("speaker", who, {"speaker": speaker, "voice": voice, "how": PROPOSED}, *about)
            for speaker, voice in voices.items()
        ),
        NewEntry("match", who, {"questions": _matches(read, voices, guide), "how": MATCHED}, *about),
    )
    interviews.forget()
    return _told(interviews, name, said, new=True, replaced=known is not None)


def latest_import(entries: Sequence[Entry]) -> Entry | None:
    """The transcript of an interview as it came in last."""
    return next((one for one in reversed(entries) if one.kind == "transcript"), None)


def since_import(entries: Sequence[Entry]) -> Sequence[Entry]:
    """What was said about the transcript that is there now."""
    return entries[max((place for place, one in enumerate(entries) if one.kind == "transcript"), default=0) :]


def import_refused(interviews: Interviews, name: str) -> str:
    """Why no file can become the transcript of an interview now, in place of one or not; empty where one can."""
    interview = interviews.interview(name)
    missing = consent_missing(interviews, interview.participant, _NEEDS_CONSENT)
    return missing or (_given_out(interviews, name) if interview.transcript else "")


def _given_out(interviews: Interviews, name: str) -> str:
    transcript = interviews.transcript(name)
    items = {transcript.item(turn.number) for turn in transcript.turns}
    with interviews.coding.looking() as state:
        rounds = {round_: one for round_, one in state.rounds.items() if not items.isdisjoint(one.plan.items)}
        coded = any(not items.isdisjoint(given) for one in rounds.values() for given in one.ratings.values())
    if coded:
        return (
            f"the transcript of {name} has been coded, and codings hold for its very words: "
            "no other file can take its place"
        )
    if rounds:
        return (
            f"turns of {name} are given out to be coded ({', '.join(rounds)}), and codings hold for their very words: "
            "no other file can take their place"
        )
    return ""


def _piece(turn: RecordedTurn) -> dict[str, Any]:
    made = {"speaker": turn.speaker, "text": turn.text, "start": turn.start, "end": turn.end}
    return {**made, "cues": [[cue.place, cue.start, cue.end] for cue in turn.cues]} if turn.cues else made


def _matches(read: ReadTranscript, voices: Mapping[str, Voice], guide: Guide) -> dict[str, str]:
    spoken = [
        (number, turn.text) for number, turn in enumerate(read.turns) if voices[turn.speaker] is Voice.INTERVIEWER
    ]
    return {str(one.turn): one.question for one in matched(spoken, guide)}


def _told(interviews: Interviews, name: str, said: Mapping[str, Any], *, new: bool, replaced: bool = False) -> Imported:
    transcript = interviews.transcript(name)
    speakers = {
        one.said["speaker"]: one.said["voice"] for one in interviews.file.entries(about=name) if one.kind == "speaker"
    }
    counted = list(speakers.values())
    guide = interviews.guide(transcript.guide, transcript.version)
    return Imported(
        name,
        said["format"],
        said.get("encoding", ""),
        said["sha256"],
        said["turns"],
        said["words"],
        tuple(counted.count(voice) for voice in Voice),
        len({turn.question for turn in transcript.turns if turn.asks}),
        len(list(guide.questions())),
        said.get("left_out_count", len(said.get("left_out", ()))),
        said.get("doubtful", False),
        new,
        replaced,
    )
