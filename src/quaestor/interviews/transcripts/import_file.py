"""Imports transcripts: turns a file of any recording program into turns with voices and the questions they answer."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError, StateError
from quaestor.interviews.model.question_matching import match_questions
from quaestor.interviews.model.records import Guide, Voice
from quaestor.interviews.participants.consent import explain_missing_consent, require_consent
from quaestor.interviews.repository import MATCHED, OCCASION, Interviews
from quaestor.interviews.transcript_formats import ENCODINGS, LARGEST, read_transcript
from quaestor.interviews.transcript_formats.records import ReadTranscript, RecordedTurn
from quaestor.interviews.transcript_formats.speaker_labels import strip_label
from quaestor.store.sealed_file import NewEntry, SealedEntry

_ASKING = re.compile(
    r"(?:interviewer(?:in)?|moderator(?:in)?|facilitator|researcher|host|i|q)[\s_#-]*\d{0,2}", re.IGNORECASE
)
_ANSWERING = re.compile(
    r"(?:interviewee|participant|respondent|guest|befragte[rn]?|teilnehmer(?:in)?|b|a|r|p)[\s_#-]*(?:\d{0,3}|[a-z])",
    re.IGNORECASE,
)
_WATCHING = re.compile(r"(?:observer|unknown speaker)[\s_#-]*\d{0,3}", re.IGNORECASE)
_HARDLY = 0.1
"""Somebody with less than this share of the most talkative speaker's words is not the interviewee."""
_ASKS_MOSTLY = 0.5
"""A further speaker counts as an interviewer from this share of turns with a question."""


@dataclass
class _Part:
    """What one speaker contributes to a conversation."""

    turns: int = 0
    words: int = 0
    questions: int = 0
    """Turns with a question mark."""
    guide: int = 0
    """Turns that ask a question of the guide."""

    @property
    def asking(self) -> float:
        return (2 * self.guide + self.questions) / max(self.turns, 1)


def propose_voices(turns: Sequence[RecordedTurn], guide: Guide) -> dict[str, Voice]:
    """Assigns a voice to each speaker: by the label in the file, else by who asks and who answers."""
    parts = _count_parts(turns, guide)
    voices = {speaker: voice for speaker in parts if (voice := _guess_voice(speaker)) is not None}
    most = max(
        (part.words for speaker, part in parts.items() if voices.get(speaker) is not Voice.INTERVIEWER), default=0
    )
    for speaker, voice in list(voices.items()):
        if voice is Voice.PARTICIPANT and parts[speaker].words < _HARDLY * most:
            voices[speaker] = Voice.OTHER  # a guest with few words
    open_ones = {speaker: part for speaker, part in parts.items() if speaker not in voices and speaker}
    if Voice.INTERVIEWER not in voices.values() and (len(open_ones) > 1 or Voice.PARTICIPANT in voices.values()):
        asker = max(
            open_ones, key=lambda open_one: (open_ones[open_one].asking, -open_ones[open_one].words), default=""
        )
        if asker and open_ones[asker].asking > 0:
            voices[asker] = Voice.INTERVIEWER
    left = [open_one for open_one in open_ones if open_one not in voices]
    if left and Voice.PARTICIPANT not in voices.values():
        voices[max(left, key=lambda label: open_ones[label].words)] = Voice.PARTICIPANT
    for label in left:
        asks = open_ones[label].guide > 0 and open_ones[label].asking >= _ASKS_MOSTLY
        voices.setdefault(label, Voice.INTERVIEWER if asks else Voice.OTHER)
    if "" in parts:  # without speaker labels, all turns are the participant's until somebody corrects single turns
        voices[""] = Voice.PARTICIPANT if len(parts) == 1 else Voice.OTHER
    return voices


def _guess_voice(speaker: str) -> Voice | None:
    speaker = strip_label(speaker)
    if _ASKING.fullmatch(speaker):
        return Voice.INTERVIEWER
    if _WATCHING.fullmatch(speaker):
        return Voice.OTHER
    return Voice.PARTICIPANT if _ANSWERING.fullmatch(speaker) else None


def _count_parts(turns: Sequence[RecordedTurn], guide: Guide) -> dict[str, _Part]:
    asking_turns = {
        match.turn for match in match_questions([(number, turn.text) for number, turn in enumerate(turns)], guide)
    }
    parts: dict[str, _Part] = {}
    for number, turn in enumerate(turns):
        part = parts.setdefault(turn.speaker, _Part())
        part.turns += 1
        part.words += len(turn.text.split())
        part.questions += "?" in turn.text or "？" in turn.text or "؟" in turn.text
        part.guide += number in asking_turns
    return parts


PROPOSED = "proposed"
ENCODING_WORDS = {name: languages for name, (_, languages) in ENCODINGS.items()}
"""The encodings a file can be said to have, with their languages."""
_NEEDS_CONSENT = "import a transcript"


class AnotherTranscript(StateError):
    """The interview has a transcript from another file, and the caller did not ask to replace it."""


@dataclass(frozen=True)
class TranscriptImport:
    """An imported transcript, or the same one that was imported before."""

    interview: str
    format: str
    encoding: str
    sha256: str
    turns: int
    words: int
    voices: tuple[int, ...]
    """How many speakers count as the participant, the interviewer and others."""
    asked: int
    """How many questions of the guide were found in it."""
    questions: int
    left_out: int = 0
    """How many notes, styles and headers are not part of the conversation; `read_omitted_text` has their text."""
    doubtful: bool = False
    """Whether letters may be wrong: the file does not declare its encoding, and their combinations are unusual."""
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
    held: str = "",
    group: str = "",
) -> TranscriptImport:
    """Imports the transcript of an interview from a file, which is only read."""
    if not path.is_file():
        raise InputError(f"{path} is not a file: name the transcript file")
    with path.open("rb") as file:
        data = file.read(LARGEST + 1)
    return import_bytes(interviews, name, data, path.name, actor, format, named, replace, encoding, apart, held, group)


def import_bytes(
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
    held: str = "",
    group: str = "",
) -> TranscriptImport:
    """Imports a transcript from bytes; the same file again changes nothing, another one needs `replace`."""
    interview = interviews.interview(name)
    require_consent(interviews, interview.participant, _NEEDS_CONSENT)
    check_day(held, interviews.today())
    known = find_latest_import(interviews.file.read_entries(about=name))
    sha256 = hashlib.sha256(data).hexdigest()
    if known is not None and known.content["sha256"] == sha256 and not replace:
        record_occasion(interviews, name, held, group, actor)
        return _build_result(interviews, name, known.content, new=False)
    refused = explain_import_refusal(interviews, name)
    if refused:
        raise StateError(refused)
    if known is not None and not replace:
        raise AnotherTranscript(
            f"{name} already has a transcript from another file: use --replace to import this one instead; "
            "corrections and confirmations of the old one are then lost"
        )
    read = read_transcript(data, file, format, named, encoding, apart=apart)
    guide = interviews.guide_of(interview)
    voices = propose_voices(read.turns, guide)
    content = {"format": read.format, "encoding": read.encoding, "sha256": sha256, "turns": len(read.turns)}
    content |= {"words": read.words, "left_out": [line[:500] for line in read.left_out[:100]]}
    content |= {"left_out_count": len(read.left_out), "doubtful": read.doubtful}
    who, about = actor or interviews.coding.lead, (interview.participant, name, interviews.now())
    interviews.file.put_pieces(
        name,
        interview.participant,
        [_build_piece(turn) for turn in read.turns],
        NewEntry("transcript", who, content, *about),
        *(
            NewEntry("speaker", who, {"speaker": speaker, "voice": voice, "how": PROPOSED}, *about)
            for speaker, voice in voices.items()
        ),
        NewEntry("match", who, {"questions": _match_questions(read, voices, guide), "how": MATCHED}, *about),
    )
    interviews.forget()
    record_occasion(interviews, name, held, group, actor)
    return _build_result(interviews, name, content, new=True, replaced=known is not None)


def record_occasion(
    interviews: Interviews, name: str, day: str = "", group: str = "", actor: str | None = None
) -> None:
    """Records when an interview was held elsewhere, and with which group; what is empty stays as it is."""
    interview = interviews.interview(name)
    check_day(day, interviews.today())
    if not day and not group:
        return
    before = next(
        (entry.content for entry in reversed(interviews.file.read_entries(about=name)) if entry.kind == OCCASION), {}
    )
    content = {"day": day or before.get("day", ""), "group": " ".join(group.split()) or before.get("group", "")}
    if content != before:
        who = actor or interviews.coding.lead
        interviews.file.add(NewEntry(OCCASION, who, content, interview.participant, name, interviews.now()))


def check_day(day: str, today: str) -> None:
    """Raises InputError unless a day is a date of the past or today, or empty."""
    try:
        valid = not day or date.fromisoformat(day).isoformat() == day
    except ValueError:
        valid = False
    if not valid:
        raise InputError(f"{day[:40]!r} is not a date: write it as 2026-03-01")
    if day > today:
        raise InputError(f"the date {day} is in the future: give the day on which the interview was held")


def find_latest_import(entries: Sequence[SealedEntry]) -> SealedEntry | None:
    """Returns the entry of the last import."""
    return next((entry for entry in reversed(entries) if entry.kind == "transcript"), None)


def list_entries_since_import(entries: Sequence[SealedEntry]) -> Sequence[SealedEntry]:
    """Returns the entries from the last import on."""
    return entries[max((place for place, entry in enumerate(entries) if entry.kind == "transcript"), default=0) :]


def explain_import_refusal(interviews: Interviews, name: str) -> str:
    """Returns why no transcript can be imported or replaced now; empty if one can."""
    interview = interviews.interview(name)
    missing = explain_missing_consent(interviews, interview.participant, _NEEDS_CONSENT)
    return missing or (_explain_coded(interviews, name) if interview.transcript else "")


def _explain_coded(interviews: Interviews, name: str) -> str:
    transcript = interviews.transcript(name)
    items = {transcript.item(turn.number) for turn in transcript.turns}
    with interviews.coding.locked_state() as state:
        rounds = {
            round_: round_state
            for round_, round_state in state.rounds.items()
            if not items.isdisjoint(round_state.plan.items)
        }
        coded = any(
            not items.isdisjoint(rating) for round_state in rounds.values() for rating in round_state.ratings.values()
        )
    if coded:
        return (
            f"the transcript of {name} has been coded, and codes refer to its exact text: it can no longer be replaced"
        )
    if rounds:
        return (
            f"turns of {name} are assigned to raters ({', '.join(rounds)}), and codes refer to their exact text: "
            "the transcript can no longer be replaced"
        )
    return ""


def _build_piece(turn: RecordedTurn) -> dict[str, Any]:
    piece = {"speaker": turn.speaker, "text": turn.text, "start": turn.start, "end": turn.end}
    return {**piece, "cues": [[cue.place, cue.start, cue.end] for cue in turn.cues]} if turn.cues else piece


def _match_questions(read: ReadTranscript, voices: Mapping[str, Voice], guide: Guide) -> dict[str, str]:
    spoken = [
        (number, turn.text) for number, turn in enumerate(read.turns) if voices[turn.speaker] is Voice.INTERVIEWER
    ]
    return {str(match.turn): match.question for match in match_questions(spoken, guide)}


def _build_result(
    interviews: Interviews, name: str, content: Mapping[str, Any], *, new: bool, replaced: bool = False
) -> TranscriptImport:
    transcript = interviews.transcript(name)
    speakers = {
        entry.content["speaker"]: entry.content["voice"]
        for entry in interviews.file.read_entries(about=name)
        if entry.kind == "speaker"
    }
    counted = list(speakers.values())
    guide = interviews.guide(transcript.guide, transcript.version)
    return TranscriptImport(
        name,
        content["format"],
        content.get("encoding", ""),
        content["sha256"],
        content["turns"],
        content["words"],
        tuple(counted.count(voice) for voice in Voice),
        len({turn.question for turn in transcript.turns if turn.asks}),
        len(list(guide.questions())),
        content.get("left_out_count", len(content.get("left_out", ()))),
        content.get("doubtful", False),
        new,
        replaced,
    )
