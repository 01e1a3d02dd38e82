"""The interviews of a study: participants, guides, transcripts, and the sealed files that store them.

`interviews.db` and `audio.db` know participants only by pseudonym; `identities.db` has only contact data and the names
behind pseudonyms, under a key of its own.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.names import suggest
from quaestor.coding.session import CodingSession, StudyOrSession, find_study, open_coding
from quaestor.interviews.model.guide_checks import require_usable_guide
from quaestor.interviews.model.guide_file import FENCE, parse_guide, read_guide_text
from quaestor.interviews.model.question_matching import begins_other_question
from quaestor.interviews.model.records import (
    Guide,
    Interview,
    Participant,
    Replacement,
    SpokenTurn,
    Transcript,
    Voice,
    build_item_id,
)
from quaestor.store.erasure import ErasedList
from quaestor.store.records import new_key
from quaestor.store.sealed_file import NewEntry, SealedEntry, SealedFile, sealed_file_schema
from quaestor.store.text_versions import TextVersion
from quaestor.study.features import find_live_feature
from quaestor.study.folder import Study

INTERVIEWS_FILE, INTERVIEWS_KEY = "interviews.db", "interviews.key"
IDENTITIES_FILE, IDENTITIES_KEY = "identities.db", "identities.key"
AUDIO_FILE = "audio.db"
"""Audio recordings under the key of the interviews; a file of its own, since erasing rewrites a file completely."""
KEYS = "QUAESTOR_KEYS"
"""Environment variable with the folder of the interview keys, if they are not in the study folder."""
INTERVIEWS, IDENTITIES = sealed_file_schema("interviews", 0x51496E74), sealed_file_schema("identities", 0x51496465)
AUDIO = sealed_file_schema("audio", 0x51417564)
"""What a backup contains of the three files: their rows, which stay sealed, and never a key."""


def interviews_path(study: Study) -> Path:
    return study.root / INTERVIEWS_FILE


def identities_path(study: Study) -> Path:
    return study.root / IDENTITIES_FILE


def list_keys(study: Study) -> dict[str, Path]:
    """Returns the path of each file's key, whether or not it exists."""
    folder = Path(os.environ.get(KEYS) or study.root)
    return {INTERVIEWS.name: folder / INTERVIEWS_KEY, IDENTITIES.name: folder / IDENTITIES_KEY}


def open_interviews_file(study: Study) -> SealedFile:
    """Opens the file that knows participants by pseudonym; creates it and its key if there are none."""
    path, key = interviews_path(study), list_keys(study)[INTERVIEWS.name]
    if not key.parent.is_dir():
        raise StateError(f"{KEYS} names {key.parent}, which is not a folder: create it, readable by you only")
    return SealedFile(path, key, INTERVIEWS.kind, INTERVIEWS.name, ErasedList.for_file(path))


def open_audio_file(study: Study) -> SealedFile:
    """Opens the file of the audio recordings; creates it if there is none."""
    return SealedFile(study.root / AUDIO_FILE, list_keys(study)[INTERVIEWS.name], AUDIO.kind, AUDIO.name)


def open_copies(study: Study, interviews: sqlite3.Connection, identities: sqlite3.Connection) -> list[SealedFile]:
    """Opens copies of the two files with the available keys."""
    keys = list_keys(study)
    return [
        SealedFile(study.root / name, keys[form.name], form.kind, form.name, copy=copy)
        for name, form, copy in ((INTERVIEWS_FILE, INTERVIEWS, interviews), (IDENTITIES_FILE, IDENTITIES, identities))
    ]


def open_files(study: Study) -> tuple[SealedFile, SealedFile]:
    """Opens the two files with their keys; creates them if there are none."""
    interviews = open_interviews_file(study)
    try:
        path, key = identities_path(study), list_keys(study)[IDENTITIES.name]
        if not path.exists() and interviews.read_head():
            # An empty one would know no names, so nothing would keep names from being published.
            raise StateError(
                f"{path} is missing, which holds the names of the people in {interviews.path}: "
                "put it back, or restore a backup with `quaestor restore FILE --replace`"
            )
        return interviews, SealedFile(path, key, IDENTITIES.kind, IDENTITIES.name)
    except BaseException:
        interviews.close()
        raise


def build_spoken_turns(
    pieces: Sequence[Mapping[str, Any]], entries: Sequence[SealedEntry], guide: Guide
) -> tuple[SpokenTurn, ...]:
    """Builds the turns of a transcript from its pieces and entries; the last entry on each matter counts.

    Entries of a transcript: `transcript` (an import: format, sha256, turns), `speaker` (a speaker's voice), `voice` (a
    single turn's voice, set by hand), `match` (the questions that turns ask), `replace` (names that a person
    confirmed or refused, by place). Entries before the last `transcript` do not count. An answer ends where the
    interviewer asks something outside the guide, or where a person decided that a turn asks no question of it.
    """
    begins = max((place for place, entry in enumerate(entries) if entry.kind == "transcript"), default=0)
    voices: dict[str, str] = {}
    corrected: dict[int, str] = {}
    questions: dict[int, str] = {}
    by_hand: set[int] = set()
    replaced: dict[tuple[int, int, int], Replacement | None] = {}
    for entry in entries[begins:]:
        content = entry.content
        if entry.kind == "speaker":
            voices[content["speaker"]] = content["voice"]
        elif entry.kind == "voice":
            corrected[content["turn"]] = content["voice"]
        elif entry.kind == "match":
            questions.update({int(turn): question for turn, question in content["questions"].items()})
            if content["how"] == BY_HAND:
                by_hand.update(map(int, content["questions"]))
        elif entry.kind == "replace":
            for place in content["places"]:
                at = (place["turn"], place["start"], place["end"])
                keep = place["confirmed"]
                replaced[at] = Replacement(*at, place["shown"], place["name"]) if keep else None
    known = {question.id: question for question in guide.questions()}
    by_turn: dict[int, list[Replacement]] = {}
    for turn_replacements in replaced.values():
        if turn_replacements is not None:
            by_turn.setdefault(turn_replacements.turn, []).append(turn_replacements)
    turns, question = [], ""
    for number, piece in enumerate(pieces):
        asks = questions.get(number, "") in known
        voice = corrected.get(number) or voices.get(piece["speaker"]) or Voice.OTHER
        if asks:
            question = questions[number]
        elif number in by_hand or (
            question and voice == Voice.INTERVIEWER and begins_other_question(piece["text"], known[question])
        ):
            question = ""
        spans = _drop_overlaps(by_turn.get(number, ()))
        times = piece.get("start"), piece.get("end"), tuple((at, low, high) for at, low, high in piece.get("cues", ()))
        turns.append(SpokenTurn(number, Voice(voice), piece["text"], spans, question, asks, *times))
    return tuple(turns)


def _drop_overlaps(replacements: Iterable[Replacement]) -> tuple[Replacement, ...]:
    """Sorts replacements by position; of overlapping ones the first is kept, of two with the same start the longer."""
    kept: list[Replacement] = []
    for replacement in sorted(replacements, key=lambda each: (each.start, -each.end)):
        if not kept or replacement.start >= kept[-1].end:
            kept.append(replacement)
    return tuple(kept)


MATCHED, BY_HAND = "matched", "by hand"
"""How it is known which question a turn asks."""
GUIDES, _CANCELLED = "guide/", "cancelled"
PLANS = ("interview", _CANCELLED)
"""Entries of an interview that is only planned."""
_OTHER_FENCE = "---"
"""The front matter of other programs: such a file counts as a guide, whose error message then tells what is wrong."""
OCCASION = "occasion"
"""The kind of an entry with the day of an interview that was not held at the desk, and its group."""
_TALK = ("clock", "note", "tick", "mark")
"""Entries of a conversation."""
_Value = TypeVar("_Value")


class Interviews:
    """The interviews of a study with their open files; thread-safe.

    Interviews opened from a backup have no coding session.
    """

    def __init__(self, coding: CodingSession | None, file: SealedFile, identities: SealedFile) -> None:
        self._coding = coding
        self.file = file
        self.identities = identities
        self._transcripts: dict[str, tuple[tuple[int, str], Transcript]] = {}
        self._worked_out: dict[str, tuple[object, Any]] = {}
        self._lock = threading.Lock()
        self._computing: dict[str, threading.Lock] = {}
        self._forgotten = 0
        self._audio: SealedFile | None = None

    def open_audio(self, *, create: bool = False) -> SealedFile | None:
        """Returns the open file of the audio recordings; None if there is none and none is to be created."""
        with self._lock:
            if self._audio is None and (create or (self.study.root / AUDIO_FILE).exists()):
                self._audio = open_audio_file(self.study)
            return self._audio

    @property
    def coding(self) -> CodingSession:
        if self._coding is None:
            raise RuntimeError("interviews of a backup have no acts")
        return self._coding

    @property
    def study(self) -> Study:
        return self.coding.study

    def close(self) -> None:
        self.file.close()
        self.identities.close()
        if self._audio is not None:
            self._audio.close()

    @property
    def erasure_pending(self) -> bool:
        """Whether traces of erased content may remain in the bytes of any of the files."""
        audio = self.open_audio()
        return (
            self.file.erasure_pending
            or self.identities.erasure_pending
            or (audio is not None and audio.erasure_pending)
        )

    def today(self) -> str:
        return self.coding.journal.clock().date().isoformat()

    def now(self) -> str:
        return self.coding.now()

    def version(self) -> tuple[int, int]:
        """Changes with every change of the two files; reading it needs no key."""
        return self.file.read_change_counter(), self.identities.read_change_counter()

    # Participants

    def participants(self) -> list[Participant]:
        """Returns all participants who have not withdrawn, in the order in which they were added."""
        return read_participants(self.file.read_entries(about=""))

    def participant(self, name: str) -> Participant:
        by_pseudonym = {participant.pseudonym: participant for participant in self.participants()}
        if name not in by_pseudonym:
            if name in self.file.list_erased():
                raise StateError(f"{name} withdrew on {self.file.list_erased()[name]}: nothing is kept about them")
            options = suggest(name, by_pseudonym) or "none yet"
            raise InputError(f"there is no participant {name!r}; participants: {options}")
        return by_pseudonym[name]

    # Interviews

    def interviews(self) -> list[Interview]:
        """Returns all interviews, in the order of their participants."""
        entries_by_interview: dict[str, list[SealedEntry]] = {}
        for entry in self.file.read_entries():
            if entry.about:
                entries_by_interview.setdefault(entry.about, []).append(entry)
        order = {participant.pseudonym: place for place, participant in enumerate(self.participants())}
        interviews = [
            interview for entries in entries_by_interview.values() if (interview := read_interview(entries)) is not None
        ]
        return sorted(interviews, key=lambda interview: (order.get(interview.participant, len(order)), interview.id))

    def interview(self, name: str) -> Interview:
        interview = read_interview(self.file.read_entries(about=name)) if name else None
        if interview is None:
            self._require_not_over(name)
            options = suggest(name, [interview.id for interview in self.interviews()]) or "none yet"
            known = name in {participant.pseudonym for participant in self.participants()}
            plan = f"; plan it with `quaestor interview plan {name}`" if known else ""
            raise InputError(f"there is no interview {name!r}; interviews: {options}{plan}")
        return interview

    def _require_not_over(self, name: str) -> None:
        """Raises StateError if the interview was erased or cancelled."""
        who = name.partition("-")[0]
        if day := self.file.list_erased().get(who):
            raise StateError(f"{who} withdrew on {day}: nothing is kept about them")
        if any(entry.kind == _CANCELLED for entry in self.file.read_entries(about=name)):
            raise StateError(f"the interview {name} was cancelled: plan another with `quaestor interview plan {who}`")

    def plan(self, participant: str, guide: str, actor: str, key: str = "") -> Interview:
        """Plans an interview with the current text of a guide, which is kept as a version.

        The same key returns the same interview.
        """
        self.participant(participant)
        guide_text = require_usable_guide(find_guide_file(self.study, guide))
        kept = self.file.texts.add(f"{GUIDES}{guide}", guide_text.text, self.today())
        content, sent = {"guide": guide, "version": kept.version}, key or new_key()

        def first(known: Sequence[SealedEntry]) -> list[NewEntry]:
            keys_by_name = {entry.about: entry.key for entry in known if entry.kind == "interview"}
            name = next(candidate for candidate in _names(participant) if keys_by_name.get(candidate, sent) == sent)
            return [NewEntry("interview", actor, content, participant, name, self.now(), sent)]

        return self.interview(self.file.add_computed(first, participant=participant)[0].about)

    def cancel(self, name: str, actor: str) -> None:
        """Cancels a planned interview that has no other entries; its name is not reused."""
        planned = self.interview(name)

        def build_cancellation(known: Sequence[SealedEntry]) -> list[NewEntry]:
            if any(entry.kind != "interview" for entry in known):
                raise StateError(f"the interview {name} has begun, so it cannot be cancelled")
            return [NewEntry(_CANCELLED, actor, {}, planned.participant, name, self.now())]

        self.file.add_computed(build_cancellation, about=name)

    def guide(self, name: str, version: int | None = None) -> Guide:
        """Returns a guide in a used version or the newest one; a guide that was never used is read from its file."""
        kept = self.file.texts.get(f"{GUIDES}{name}", version)
        if kept is not None:
            return self.remembered(f"guide/{name}", kept.text, lambda: parse_guide(kept.text, name))
        if version is not None:
            raise InputError(f"there is no version {version} of the guide {name!r}")
        return parse_guide(read_guide_text(find_guide_file(self.study, name)), name)

    def guide_versions(self, name: str) -> list[TextVersion]:
        """Returns the versions by which interviews were planned, oldest first."""
        return self.file.texts.list_versions(f"{GUIDES}{name}")

    def guide_of(self, interview: Interview) -> Guide:
        return self.guide(interview.guide, interview.version)

    # Transcripts

    def transcript(self, name: str) -> Transcript:
        """What was said in an interview, with voices, questions and confirmed names; cached until it changes."""
        head = self.file.read_head(name)
        with self._lock:
            known = self._transcripts.get(name)
        prefix = self.item_prefix
        if known is not None and known[0] == (head, prefix):
            return known[1]
        interview = self.interview(name)
        if not interview.transcript:
            raise StateError(f"the interview {name} has no transcript yet: `quaestor interview import {name} FILE`")
        entries = self.file.read_entries(about=name)
        turns = build_spoken_turns(self.file.read_pieces(name), entries, self.guide_of(interview))
        transcript = Transcript(name, interview.participant, interview.guide, interview.version, turns, prefix)
        with self._lock:
            self._transcripts[name] = ((head, prefix), transcript)
        return transcript

    @property
    def item_prefix(self) -> str:
        """Returns the beginning of the item ids of turns: the strand that is made of transcripts."""
        if self._coding is None:  # of a backup, whose turns are not coded
            return ""
        for strand in self.study.in_each_strand():
            with suppress(SettingsError):
                features = [find_live_feature(strand, source) for source in strand.funnel_sources()]
                if any(feature is not None and feature.name == INTERVIEWS.name for feature in features):
                    return strand.prefix
        return ""

    def item(self, interview: str, turn: int) -> str:
        """Returns the item id of a turn."""
        return f"{self.item_prefix}{build_item_id(interview, turn)}"

    def transcripts(self) -> list[Transcript]:
        return [self.transcript(interview.id) for interview in self.interviews() if interview.transcript]

    def remembered(self, what: str, mark: object, make: Callable[[], _Value]) -> _Value:
        """Returns a cached value, or computes and caches it if its change stamp differs."""
        with self._lock:
            known, forgotten = self._worked_out.get(what), self._forgotten
        if known is not None and known[0] == mark:
            kept: _Value = known[1]
            return kept
        value = make()
        with self._lock:
            if forgotten == self._forgotten:  # otherwise it may contain words that had to be forgotten meanwhile
                self._worked_out[what] = (mark, value)
        return value

    def computed_once(self, what: str, mark: object, make: Callable[[], _Value]) -> _Value:
        """Like `remembered`, for what takes a second or more: concurrent callers wait, and it is computed once.

        Never call it inside `CodingSession.locked_state`: the computation may need that lock.
        """
        with self._lock:
            computing = self._computing.setdefault(what, threading.Lock())
        with computing:
            return self.remembered(what, mark, make)

    def forget(self) -> None:
        """Clears everything read from the files from memory."""
        with self._lock:
            self._forgotten += 1
            self._worked_out.clear()
            self._transcripts.clear()


def read_participants(entries: Sequence[SealedEntry]) -> list[Participant]:
    """Returns the participants, each according to the last entry about them."""
    by_pseudonym = {
        entry.participant: Participant(entry.participant, **entry.content)
        for entry in entries
        if entry.kind == "participant"
    }
    return sorted(by_pseudonym.values(), key=lambda participant: int(participant.pseudonym.removeprefix("P")))


def read_interview(entries: Sequence[SealedEntry]) -> Interview | None:
    """Builds an interview from its entries; None if there is none."""
    first = next((entry for entry in entries if entry.kind == "interview"), None)
    if first is None or any(entry.kind == _CANCELLED for entry in entries):
        return None
    clocks = sorted(
        (entry for entry in entries if entry.kind == "clock"),
        key=lambda clock_entry: (_moment(clock_entry), clock_entry.number),
    )
    last = next((clock for clock in reversed(clocks) if clock.content["what"] != "section"), None)
    began = _moment(clocks[0]) if clocks else ""
    occasion = next((entry.content for entry in reversed(entries) if entry.kind == OCCASION), {})
    ended = last if last is not None and last.content["what"] == "end" else None
    has_transcript = any(entry.kind == "transcript" for entry in entries)
    is_under_way = any(entry.kind in _TALK for entry in entries)
    return Interview(
        first.about,
        first.participant,
        first.content["guide"],
        first.content["version"],
        status="held" if ended or has_transcript else "under way" if is_under_way else "planned",
        day=began[:10] or occasion.get("day", ""),
        began=began,
        seconds=float(ended.content["at"]) if ended else 0.0,
        transcript=has_transcript,
        group=occasion.get("group", ""),
    )


def _moment(entry: SealedEntry) -> str:
    """Returns when something was done: without a connection it arrives late."""
    return str(entry.content.get("wall") or entry.time)


def _names(participant: str) -> Iterator[str]:
    """Yields P1 for the first interview with P1, then P1-2, P1-3 …"""
    yield participant
    for number in range(2, 1_000):
        yield f"{participant}-{number}"


def build_next_pseudonym(used_pseudonyms: Iterable[str]) -> str:
    """Returns the next pseudonym; none is ever reused."""
    numbers = [int(match[1]) for name in used_pseudonyms if (match := _P.fullmatch(name))]
    return f"P{max(numbers, default=0) + 1}"


_P = re.compile(r"P(\d+)")


def list_guide_files(study: Study) -> dict[str, Path]:
    """Returns the interview guides of the study folder by name."""
    files = sorted((study.root / "instruments").glob("*.md"))
    return {path.stem: path for path in files if path.is_file() and _begins_as_one(path)}


def _begins_as_one(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(256).decode("utf-8-sig", errors="replace").lstrip().startswith((FENCE, _OTHER_FENCE))


def find_guide_file(study: Study, name: str) -> Path:
    files = list_guide_files(study)
    written = {path.stem: path for path in (study.root / "instruments").glob("*.md") if path.is_file()}
    if name not in files and name in written:
        return written[name]  # it does not begin like a guide; reading it reports that
    if name not in files:
        options = suggest(name, files) or "none: write instruments/NAME.md"
        raise InputError(f"there is no interview guide {name!r} in {study.root / 'instruments'}; guides: {options}")
    return files[name]


@contextmanager
def open_interviews(study_or_session: StudyOrSession) -> Iterator[Interviews]:
    """Opens the interviews of a study for one command."""
    with open_coding(study_or_session) as coding:
        room = Interviews(coding, *open_files(find_study(study_or_session)))
        try:
            yield room
        finally:
            room.close()
