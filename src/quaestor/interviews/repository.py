"""The interviews of a study: who takes part, by which guide, what was said, and the files that can forget it.

Two files, each sealed under a key of its own: `interviews.db` knows participants by their pseudonyms alone;
`identities.db` has how to reach them and the names that pseudonyms stand for, and nothing but that.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.coding.session import CodingSession, Where, open_coding, find_study
from quaestor.interviews.model.guide_checks import usable_guide
from quaestor.interviews.model.guide_file import FENCE, guide_from, guide_text_in
from quaestor.interviews.model.records import Guide, Interview, Participant, Replacement, SpokenTurn, Transcript, Voice
from quaestor.store.erasure import ErasedList
from quaestor.store.records import new_key
from quaestor.store.sealed_file import SealedEntry, NewEntry, SealedFile, sealed_file_schema
from quaestor.store.text_versions import TextVersion
from quaestor.study.folder import Study

INTERVIEWS_FILE, INTERVIEWS_KEY = "interviews.db", "interviews.key"
IDENTITIES_FILE, IDENTITIES_KEY = "identities.db", "identities.key"
KEYS = "QUAESTOR_KEYS"
"""Names a folder in which the keys of interviews lie, where they shall not lie in the study folder."""
INTERVIEWS, IDENTITIES = sealed_file_schema("interviews", 0x51496E74), sealed_file_schema("identities", 0x51496465)
"""What a backup holds of the two files: their rows, which stay sealed, and never a key."""


def interviews_path(study: Study) -> Path:
    return study.root / INTERVIEWS_FILE


def identities_path(study: Study) -> Path:
    return study.root / IDENTITIES_FILE


def keys_of(study: Study) -> dict[str, Path]:
    """Where the key of each file lies, or would lie."""
    folder = Path(os.environ.get(KEYS) or study.root)
    return {INTERVIEWS.name: folder / INTERVIEWS_KEY, IDENTITIES.name: folder / IDENTITIES_KEY}


def opened_interviews(study: Study) -> SealedFile:
    """The file that knows participants by their pseudonyms, with its key, made where there is none yet."""
    path, key = interviews_path(study), keys_of(study)[INTERVIEWS.name]
    if not key.parent.is_dir():
        raise StateError(f"{KEYS} names {key.parent}, which is no folder: make it, for your eyes alone")
    return SealedFile(path, key, INTERVIEWS.kind, INTERVIEWS.name, ErasedList.for_file(path))


def opened_copies(study: Study, interviews: sqlite3.Connection, identities: sqlite3.Connection) -> list[SealedFile]:
    """Copies of the two files, opened with the keys at hand."""
    keys = keys_of(study)
    return [
        SealedFile(study.root / name, keys[form.name], form.kind, form.name, copy=copy)
        for name, form, copy in ((INTERVIEWS_FILE, INTERVIEWS, interviews), (IDENTITIES_FILE, IDENTITIES, identities))
    ]


def opened_files(study: Study) -> tuple[SealedFile, SealedFile]:
    """The two files with their keys, made where there are none yet."""
    interviews = opened_interviews(study)
    try:
        path, key = identities_path(study), keys_of(study)[IDENTITIES.name]
        if not path.exists() and interviews.read_head():
            # An empty one in its place would know no name, and nothing would keep names from being published.
            raise StateError(
                f"{path} is not there, in which the names of the people in {interviews.path} are kept: "
                "bring it back, or restore a backup of it with `quaestor restore FILE --replace`"
            )
        return interviews, SealedFile(path, key, IDENTITIES.kind, IDENTITIES.name)
    except BaseException:
        interviews.close()
        raise


def spoken_turns(pieces: Sequence[Mapping[str, Any]], entries: Sequence[SealedEntry], guide: Guide) -> tuple[SpokenTurn, ...]:
    """The turns of a transcript after all that was said about them: the last word on each counts.

    Entries of a transcript: `transcript` (it came in: format, sha256, turns), `speaker` (whose voice a speaker is),
    `voice` (a single turn, corrected by hand), `match` (turns in which a question of the guide is asked, by turn),
    `replace` (names that a person confirmed or refused, by place). A new `transcript` begins anew.
    """
    begins = max((place for place, entry in enumerate(entries) if entry.kind == "transcript"), default=0)
    voices: dict[str, str] = {}
    corrected: dict[int, str] = {}
    questions: dict[int, str] = {}
    replaced: dict[tuple[int, int, int], Replacement | None] = {}
    for entry in entries[begins:]:
        content = entry.said
        if entry.kind == "speaker":
            voices[content["speaker"]] = content["voice"]
        elif entry.kind == "voice":
            corrected[content["turn"]] = content["voice"]
        elif entry.kind == "match":
            questions.update({int(turn): question for turn, question in content["questions"].items()})
        elif entry.kind == "replace":
            for place in content["places"]:
                at = (place["turn"], place["start"], place["end"])
                keep = place["confirmed"]
                replaced[at] = Replacement(*at, place["shown"], place["name"]) if keep else None
    known = {question.id for question in guide.questions()}
    by_turn: dict[int, list[Replacement]] = {}
    for turn_replacements in replaced.values():
        if turn_replacements is not None:
            by_turn.setdefault(turn_replacements.turn, []).append(turn_replacements)
    turns, question = [], ""
    for number, piece in enumerate(pieces):
        asks = questions.get(number, "") in known
        question = questions[number] if asks else question
        voice = corrected.get(number) or voices.get(piece["speaker"]) or Voice.OTHER
        spans = _apart(by_turn.get(number, ()))
        times = piece.get("start"), piece.get("end"), tuple((at, low, high) for at, low, high in piece.get("cues", ()))
        turns.append(SpokenTurn(number, Voice(voice), piece["text"], spans, question, asks, *times))
    return tuple(turns)


def _apart(replacements: Iterable[Replacement]) -> tuple[Replacement, ...]:
    """In the order of their places; of those that overlap the first, and of two that begin together the longer."""
    kept: list[Replacement] = []
    for replacement in sorted(replacements, key=lambda each: (each.start, -each.end)):
        if not kept or replacement.start >= kept[-1].end:
            kept.append(replacement)
    return tuple(kept)


GUIDES, _CANCELLED = "guide/", "cancelled"
PLANS = ("interview", _CANCELLED)
"""What is kept of an interview before a word of it is."""
_OTHER_FENCE = "---"
"""With which the front matter of other programs begins: a guide, too, and one that says what is wrong with it."""
_TALK = ("clock", "note", "tick", "mark")
"""What is kept of a conversation as it goes."""
_Made = TypeVar("_Made")


class Interviews:
    """The interviews of a study with their files at hand; safe for many threads.

    Those of a backup have no acts: there is nobody to act on them.
    """

    def __init__(self, coding: CodingSession | None, file: SealedFile, identities: SealedFile) -> None:
        self._coding = coding
        self.file = file
        self.identities = identities
        self._transcripts: dict[str, tuple[int, Transcript]] = {}
        self._worked_out: dict[str, tuple[object, Any]] = {}
        self._lock = threading.Lock()
        self._computing: dict[str, threading.Lock] = {}
        self._forgotten = 0

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

    @property
    def erasure_pending(self) -> bool:
        """Whether something erased may still be found in the bytes of either file."""
        return self.file.erasure_pending or self.identities.erasure_pending

    def today(self) -> str:
        return self.coding.journal.clock().date().isoformat()

    def now(self) -> str:
        return self.coding.now()

    def version(self) -> tuple[int, int]:
        """Changes with every change of the two files; nothing is opened with a key to find out."""
        return self.file.read_change_counter(), self.identities.read_change_counter()

    # Who takes part

    def participants(self) -> list[Participant]:
        """Everybody who takes part and has not withdrawn, in the order in which they were added."""
        return participants_in(self.file.read_entries(about=""))

    def participant(self, name: str) -> Participant:
        by_pseudonym = {participant.pseudonym: participant for participant in self.participants()}
        if name not in by_pseudonym:
            if name in self.file.list_erased():
                raise StateError(f"{name} has withdrawn on {self.file.list_erased()[name]}: nothing is kept about them")
            options = suggest(name, by_pseudonym) or "none yet"
            raise InputError(f"there is no participant {name!r}, there are: {options}")
        return by_pseudonym[name]

    # Interviews

    def interviews(self) -> list[Interview]:
        """All interviews, in the order of their participants."""
        entries_by_interview: dict[str, list[SealedEntry]] = {}
        for entry in self.file.read_entries():
            if entry.about:
                entries_by_interview.setdefault(entry.about, []).append(entry)
        order = {participant.pseudonym: place for place, participant in enumerate(self.participants())}
        interviews = [
            interview for entries in entries_by_interview.values() if (interview := interview_in(entries)) is not None
        ]
        return sorted(interviews, key=lambda interview: (order.get(interview.participant, len(order)), interview.id))

    def interview(self, name: str) -> Interview:
        interview = interview_in(self.file.read_entries(about=name)) if name else None
        if interview is None:
            self._require_not_over(name)
            options = suggest(name, [interview.id for interview in self.interviews()]) or "none yet"
            known = name in {participant.pseudonym for participant in self.participants()}
            plan = f"; plan it with `quaestor interview plan {name}`" if known else ""
            raise InputError(f"there is no interview {name!r}, there are: {options}{plan}")
        return interview

    def _require_not_over(self, name: str) -> None:
        """Say what became of an interview that is there no more."""
        who = name.partition("-")[0]
        if day := self.file.list_erased().get(who):
            raise StateError(f"{who} has withdrawn on {day}: nothing is kept about them")
        if any(entry.kind == _CANCELLED for entry in self.file.read_entries(about=name)):
            raise StateError(f"the interview {name} was cancelled: plan another with `quaestor interview plan {who}`")

    def plan(self, participant: str, guide: str, actor: str, key: str = "") -> Interview:
        """An interview to be held: by the guide as its file says now, which is kept as a version.

        Asked again with the same key, the same one.
        """
        self.participant(participant)
        guide_text = usable_guide(guide_file(self.study, guide))
        kept = self.file.texts.add(f"{GUIDES}{guide}", guide_text.text, self.today())
        content, sent = {"guide": guide, "version": kept.version}, key or new_key()

        def first(known: Sequence[SealedEntry]) -> list[NewEntry]:
            keys_by_name = {entry.about: entry.key for entry in known if entry.kind == "interview"}
            name = next(candidate for candidate in _names(participant) if keys_by_name.get(candidate, sent) == sent)
            return [NewEntry("interview", actor, content, participant, name, self.now(), sent)]

        return self.interview(self.file.add_computed(first, participant=participant)[0].about)

    def cancel(self, name: str, actor: str) -> None:
        """Take back the plan of an interview of which nothing is on record; its name is not given again."""
        planned = self.interview(name)

        def taken_back(known: Sequence[SealedEntry]) -> list[NewEntry]:
            if any(entry.kind != "interview" for entry in known):
                raise StateError(f"the interview {name} has begun: what was noted or brought in is not taken back")
            return [NewEntry(_CANCELLED, actor, {}, planned.participant, name, self.now())]

        self.file.add_computed(taken_back, about=name)

    def guide(self, name: str, version: int | None = None) -> Guide:
        """A guide as it was used, in a version or the newest; one that was never used, as its file says now."""
        kept = self.file.texts.get(f"{GUIDES}{name}", version)
        if kept is not None:
            return self.remembered(f"guide/{name}", kept.text, lambda: guide_from(kept.text, name))
        if version is not None:
            raise InputError(f"there is no version {version} of the guide {name!r}")
        return guide_from(guide_text_in(guide_file(self.study, name)), name)

    def guide_versions(self, name: str) -> list[TextVersion]:
        """The texts by which interviews were planned, the first one first."""
        return self.file.texts.list_versions(f"{GUIDES}{name}")

    def guide_of(self, interview: Interview) -> Guide:
        return self.guide(interview.guide, interview.version)

    # Transcripts

    def transcript(self, name: str) -> Transcript:
        """What was said in an interview, with all that was worked out and confirmed about it; read once, then kept."""
        head = self.file.read_head(name)
        with self._lock:
            known = self._transcripts.get(name)
        if known is not None and known[0] == head:
            return known[1]
        interview = self.interview(name)
        if not interview.transcript:
            raise StateError(f"the interview {name} has no transcript yet: `quaestor interview import {name} FILE`")
        entries = self.file.read_entries(about=name)
        turns = spoken_turns(self.file.read_pieces(name), entries, self.guide_of(interview))
        transcript = Transcript(name, interview.participant, interview.guide, interview.version, turns)
        with self._lock:
            self._transcripts[name] = (head, transcript)
        return transcript

    def transcripts(self) -> list[Transcript]:
        return [self.transcript(interview.id) for interview in self.interviews() if interview.transcript]

    def remembered(self, what: str, mark: object, make: Callable[[], _Made]) -> _Made:
        """Something that takes a while, worked out once as long as its mark is the same."""
        with self._lock:
            known, forgotten = self._worked_out.get(what), self._forgotten
        if known is not None and known[0] == mark:
            kept: _Made = known[1]
            return kept
        value = make()
        with self._lock:
            if forgotten == self._forgotten:  # else it may hold words that had to be forgotten meanwhile
                self._worked_out[what] = (mark, value)
        return value

    def computed_once(self, what: str, mark: object, make: Callable[[], _Made]) -> _Made:
        """The same for what takes a second or more: whoever asks for it meanwhile waits, and it is computed once.

        Never call it with the state of coding in hand (`Coding.looking`): what is computed may have to look at it.
        """
        with self._lock:
            computing = self._computing.setdefault(what, threading.Lock())
        with computing:
            return self.remembered(what, mark, make)

    def forget(self) -> None:
        """No word that was read from the files stays in memory."""
        with self._lock:
            self._forgotten += 1
            self._worked_out.clear()
            self._transcripts.clear()


def participants_in(entries: Sequence[SealedEntry]) -> list[Participant]:
    """Who takes part, as the last entry about each says it."""
    by_pseudonym = {
        entry.participant: Participant(entry.participant, **entry.said)
        for entry in entries
        if entry.kind == "participant"
    }
    return sorted(by_pseudonym.values(), key=lambda participant: int(participant.pseudonym.removeprefix("P")))


def interview_in(entries: Sequence[SealedEntry]) -> Interview | None:
    """An interview as its entries tell it; None where there is none."""
    first = next((entry for entry in entries if entry.kind == "interview"), None)
    if first is None or any(entry.kind == _CANCELLED for entry in entries):
        return None
    clocks = sorted(
        (entry for entry in entries if entry.kind == "clock"),
        key=lambda clock_entry: (_moment(clock_entry), clock_entry.number),
    )
    last = next((clock for clock in reversed(clocks) if clock.said["what"] != "section"), None)
    began = _moment(clocks[0]) if clocks else ""
    ended = last if last is not None and last.said["what"] == "end" else None
    return Interview(
        first.about,
        first.participant,
        first.said["guide"],
        first.said["version"],
        status="held" if ended else "under way" if any(entry.kind in _TALK for entry in entries) else "planned",
        day=began[:10],
        began=began,
        seconds=float(ended.said["at"]) if ended else 0.0,
        transcript=any(entry.kind == "transcript" for entry in entries),
    )


def _moment(entry: SealedEntry) -> str:
    """When something was done: a cut line brings it in late."""
    return str(entry.said.get("wall") or entry.time)


def _names(participant: str) -> Iterator[str]:
    """P1 for the first interview with P1, then P1-2, P1-3 …"""
    yield participant
    for number in range(2, 1_000):
        yield f"{participant}-{number}"


def next_pseudonym(given: Iterable[str]) -> str:
    """The pseudonym of whoever comes next; one that was given is never given again."""
    numbers = [int(match[1]) for name in given if (match := _P.fullmatch(name))]
    return f"P{max(numbers, default=0) + 1}"


_P = re.compile(r"P(\d+)")


def guide_files(study: Study) -> dict[str, Path]:
    """Interview guides of the study folder by their names."""
    files = sorted((study.root / "instruments").glob("*.md"))
    return {path.stem: path for path in files if path.is_file() and _begins_as_one(path)}


def _begins_as_one(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(256).decode("utf-8-sig", errors="replace").lstrip().startswith((FENCE, _OTHER_FENCE))


def guide_file(study: Study, name: str) -> Path:
    files = guide_files(study)
    written = {path.stem: path for path in (study.root / "instruments").glob("*.md") if path.is_file()}
    if name not in files and name in written:
        return written[name]  # it does not begin as a guide, which is said when it is read
    if name not in files:
        options = suggest(name, files) or "none: write instruments/NAME.md"
        raise InputError(f"there is no interview guide {name!r} in {study.root / 'instruments'}, there are: {options}")
    return files[name]


@contextmanager
def open_interviews(where: Where) -> Iterator[Interviews]:
    """The interviews of a study, for one command."""
    with open_coding(where) as coding:
        room = Interviews(coding, *opened_files(find_study(where)))
        try:
            yield room
        finally:
            room.close()
