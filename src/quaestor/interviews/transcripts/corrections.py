"""Corrections of a transcript by a person: whose voice a speaker or a turn is, and which question a turn asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, suggest
from quaestor.interviews.left_out_turns import record_left_out_turns
from quaestor.interviews.model.question_matching import match_questions
from quaestor.interviews.model.records import Interview, Transcript, Voice
from quaestor.interviews.participants.consent import list_declined
from quaestor.interviews.repository import BY_HAND, MATCHED, Interviews
from quaestor.interviews.transcript_formats.speaker_labels import is_generic, list_names_in_label
from quaestor.interviews.transcripts.import_file import list_entries_since_import
from quaestor.store.sealed_file import NewEntry

_BEGINS = 12


@dataclass(frozen=True)
class Speaker:
    """A speaker of a transcript."""

    number: int
    """Counted from 1 in the order of their first turns; can be used instead of the label."""
    label: str
    """The label in the file, which may be a name."""
    voice: Voice
    by_hand: bool
    """Whether a person set the voice."""
    turns: int
    words: int
    begins: str
    """Their first words, masked."""

    @property
    def shown(self) -> str:
        """A label that reveals no name: that of the file if it is generic, else `Voice N`."""
        return self.label if self.label and is_generic(self.label) else f"Voice {self.number}"


@dataclass(frozen=True)
class SpeakerName:
    """A name that a file uses for a speaker."""

    label: str
    interview: str
    voice: Voice
    participant: str = ""
    """The pseudonym of the person, if it is the participant's voice."""


@dataclass(frozen=True)
class MatchResult:
    """The result of matching: questions found, and turns with a new result."""

    questions_found: int
    changed: int


def list_speakers(interviews: Interviews, name: str) -> list[Speaker]:
    """Lists the speakers of a transcript in the order of their first turns."""
    transcript = interviews.transcript(name)
    voices = {
        entry.content["speaker"]: (Voice(entry.content["voice"]), entry.content.get("how", "") == BY_HAND)
        for entry in list_entries_since_import(interviews.file.read_entries(about=name))
        if entry.kind == "speaker"
    }
    places: dict[str, list[int]] = {}
    for place, piece in enumerate(interviews.file.read_pieces(name)):
        places.setdefault(piece["speaker"], []).append(place)
    names = []
    for number, (label, turns) in enumerate(places.items(), start=1):
        voice, by_hand = voices.get(label, (Voice.OTHER, False))
        words = sum(len(transcript.turns[place].words) for place in turns)
        begins = transcript.turns[turns[0]].text.split()
        first = " ".join(begins[:_BEGINS]) + (" …" if len(begins) > _BEGINS else "")
        names.append(Speaker(number, label, voice, by_hand, len(turns), words, first))
    return names


def list_speaker_names(interviews: Interviews) -> list[SpeakerName]:
    """Lists the names that transcripts use for speakers, without generic labels such as Guest 2."""
    speakers = []
    for interview in interviews.interviews():
        if interview.transcript:
            speakers += [
                SpeakerName(
                    label,
                    interview.id,
                    speaker.voice,
                    interview.participant if speaker.voice is Voice.PARTICIPANT else "",
                )
                for speaker in list_speakers(interviews, interview.id)
                for label in list_names_in_label(speaker.label)
            ]
    return speakers


def set_speaker(interviews: Interviews, name: str, speaker: str, voice: str, actor: str | None = None) -> Speaker:
    """Sets the voice of a speaker, given by label or number; questions, rounds and counts follow."""
    speaker_named = _find_speaker(list_speakers(interviews, name), speaker, name)
    _add_entry(
        interviews,
        name,
        "speaker",
        {"speaker": speaker_named.label, "voice": parse_voice(voice), "how": BY_HAND},
        actor,
    )
    match_again(interviews, name, actor)
    record_left_out_turns(interviews, list_declined(interviews), actor)
    return next(candidate for candidate in list_speakers(interviews, name) if candidate.label == speaker_named.label)


def set_voice(interviews: Interviews, name: str, turn: int, voice: str, actor: str | None = None) -> None:
    """Sets the voice of a single turn, independent of its speaker; questions, rounds and counts follow."""
    _require_turn(interviews.transcript(name), turn)
    _add_entry(interviews, name, "voice", {"turn": turn, "voice": parse_voice(voice)}, actor)
    match_again(interviews, name, actor)
    record_left_out_turns(interviews, list_declined(interviews), actor)


def set_question(interviews: Interviews, name: str, turn: int, question: str, actor: str | None = None) -> None:
    """Sets which question of the guide a turn asks; an empty text for none."""
    transcript = interviews.transcript(name)
    _require_turn(transcript, turn)
    known = [question.id for question in interviews.guide(transcript.guide, transcript.version).questions()]
    if question and question not in known:
        options = suggest(question, known)
        raise InputError(f"there is no question {question!r} in the guide {transcript.guide!r}; choose from: {options}")
    _add_entry(interviews, name, "match", {"questions": {str(turn): question}, "how": BY_HAND}, actor)


def match_again(interviews: Interviews, name: str, actor: str | None = None) -> MatchResult:
    """Matches turns with the questions of the guide again; what a person decided about a turn is kept."""
    transcript = interviews.transcript(name)
    guide = interviews.guide(transcript.guide, transcript.version)
    decided = list_manual_matches(interviews, name)
    turns = [(turn.number, turn.raw) for turn in transcript.turns if turn.voice is Voice.INTERVIEWER]
    questions_by_turn = {match.turn: match.question for match in match_questions(turns, guide, decided)}
    before = {turn.number: turn.question for turn in transcript.turns if turn.asks and turn.number not in decided}
    changed = {
        turn: questions_by_turn.get(turn, "")
        for turn in {*questions_by_turn, *before}
        if questions_by_turn.get(turn, "") != before.get(turn, "")
    }
    if changed:
        questions = {str(turn): question for turn, question in sorted(changed.items())}
        _add_entry(interviews, name, "match", {"questions": questions, "how": MATCHED}, actor)
    matched_questions = {turn.question for turn in interviews.transcript(name).turns if turn.asks}
    return MatchResult(len(matched_questions), len(changed))


def list_manual_matches(interviews: Interviews, name: str) -> Mapping[int, str]:
    """Returns the turns for which a person decided which question they ask, or that they ask none."""
    return {
        int(turn): question
        for entry in list_entries_since_import(interviews.file.read_entries(about=name))
        if entry.kind == "match" and entry.content["how"] == BY_HAND
        for turn, question in entry.content["questions"].items()
    }


def parse_voice(text: str) -> Voice:
    try:
        return Voice(text)
    except ValueError:
        raise InputError(f"there is no voice {text!r}; choose from: {suggest(text, Voice)}") from None


def _find_speaker(speakers: list[Speaker], label: str, name: str) -> Speaker:
    for speaker in speakers:
        if label in (speaker.label, speaker.shown) or label == str(speaker.number):
            return speaker
    options = join_with_or(f"{speaker.number} ({speaker.shown})" for speaker in speakers)
    raise InputError(f"there is no speaker {label!r} in the transcript of {name}; speakers: {options}")


def _require_turn(transcript: Transcript, turn: int) -> None:
    if not 0 <= turn < len(transcript.turns):
        raise InputError(
            f"there is no turn {turn} in the transcript of {transcript.interview}: use 0 to {len(transcript.turns) - 1}"
        )


def _add_entry(interviews: Interviews, name: str, kind: str, content: Mapping[str, Any], actor: str | None) -> None:
    interview: Interview = interviews.interview(name)
    interviews.file.add(
        NewEntry(kind, actor or interviews.coding.lead, content, interview.participant, name, interviews.now())
    )
