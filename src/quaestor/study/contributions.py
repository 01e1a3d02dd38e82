"""Interfaces through which a feature contributes to a study.

Lock order, for everything that takes more than one lock:

1. the lock of the session within its process,
2. the write lock of the journal,
3. the private files in the order of `features.backup_parts()`, which is that of the features.

An act takes the first two and then the file of its free text. A backup takes the journal and all files for the moment
in which it starts to read them. A restore takes the journal and then all files of the backup. One exception: where a
restore finds the journal damaged after it has locked the files, it keeps them locked, sets the journal aside and locks
the new one. A session that has locked the new journal meanwhile waits for a file no longer than
`store.private_file.PATIENCE`, then gives up and releases the journal, so neither waits forever.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from quaestor.base.errors import InputError
from quaestor.render.report_parts import Fact, ItemColumns, Section
from quaestor.store.backup_file import Backup
from quaestor.store.private_file_copy import PrivateFileSchema
from quaestor.study.folder import Study
from quaestor.study.session import Session


@dataclass(frozen=True)
class StatusLine:
    """Status of one part of a study: a word and a sentence."""

    name: str
    state: str  # done, doubtful, stale, waiting, none
    detail: str


@dataclass(frozen=True)
class Next:
    """The next step: as a command, as a sentence, and the page of the desk for it."""

    command: str
    words: str = ""
    page: str = ""
    """rounds, codebook, agreement, disagreements, phrases, survey, survey-results, interviews, guides; or a command."""
    round: str = ""
    survey: str = ""
    is_optional: bool = False
    """Whether nothing waits for this step, so that any other step comes first."""


@dataclass(frozen=True)
class StatusRequest:
    """Input of a feature's status report."""

    study: Study
    session: Session[Any] | None
    """None if nothing was ever recorded."""
    opened: Mapping[str, Any]
    """By feature, sessions that are already open."""
    wait: bool
    """Whether to wait for long computations; else the line says that one is running."""


@dataclass(frozen=True)
class StatusPart:
    """The status report of a feature."""

    lines: tuple[StatusLine, ...] = ()
    next: Next | None = None
    collects: bool = False
    """Whether the lines are about people whose answers become evidence."""
    precedes_evidence: bool = False
    """Whether this feature has yet to produce the study's evidence."""
    is_evidence: bool = False
    """Whether the lines are about sources and the funnel."""
    is_empty: bool = False
    """Whether the lines only say that nothing is set up; omitted if the study asks people instead."""
    is_last: bool = False
    """Whether its next step comes after those of all other parts."""


@dataclass(frozen=True)
class ActKind:
    """Describes a kind of act, and which items it removes."""

    sentence: str
    """What the actor did; `{round}`, `{survey}` and `{count}` are filled in."""
    counted: str = ""
    """What `{count}` counts, in the singular."""
    is_joined: bool = False
    """Whether consecutive acts of a person are described by one sentence with their number as `{count}`."""
    actor: str = ""
    """Shown instead of an actor whose name is masked."""
    removes: Callable[[Mapping[str, Any]], Callable[[str], object]] | None = None
    """Returns, for an act's payload, a test for the ids of items that no longer count."""
    restores: Callable[[Mapping[str, Any]], Callable[[str], object]] | None = None
    """Returns, for an act's payload, a test for the ids of removed items that count again."""

    def describe(self, *, round: str, survey: str, count: int) -> str:
        counted = f"{count:,} {self.counted}{'' if count == 1 else 's'}"
        return self.sentence.format(round=round, survey=survey, count=counted)


@dataclass(frozen=True)
class RoundCounts:
    """What a round did with the items that reached its funnel step."""

    drawn: int
    """Items of the round; the others were not drawn, so nobody looked at them."""
    rated: int
    kept: int
    excluded: int


class RoundOutcomes(Protocol):
    """The outcome of a study's rounds, for funnel steps that depend on a round."""

    def kept_items(self, rounds: Collection[str]) -> dict[str, list[str]]:
        """Returns by round the items that it keeps; unsettled rounds are missing."""

    def notes_on(self, reached: Mapping[str, Collection[str]]) -> list[str]:
        """Returns notes on rounds for readers of the funnel, given by round the items that reached its step."""

    def planned_items(self, rounds: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Returns by round the items of its plan; raises StateError for a round that has not been opened."""

    def rated_items(self, name: str) -> frozenset[str]:
        """Returns the items of a round that somebody answered whether to keep."""

    def count_items(self, name: str, reached: Collection[str]) -> RoundCounts:
        """Counts what a settled round did with the items that reached its step."""

    def change_stamp(self, rounds: Collection[str]) -> object:
        """Returns a stamp that changes with the decisions of rounds; cheap enough for every request."""


class LiveSource(Protocol):
    """A kind of source whose items are read from a private file whenever they are needed, and never copied."""

    kind: str
    """The kind of the source in study.toml."""
    file: str
    """The private file within the study folder."""
    items_are: str
    """What the items are made of, as a noun in the plural."""
    columns: tuple[str, ...]
    """The columns of `read_rows`; the first is the id of an item, without its strand."""

    def stamp(self, study: Study) -> object:
        """Returns a stamp that changes with the words of any item; cheap enough for every request."""

    def read_rows(self, study: Study, source: str) -> Sequence[Sequence[str]]:
        """Returns all items, in order, without known names."""

    def read_left_out(self, study: Study, session: Session[Any] | None) -> Callable[[str], bool]:
        """Returns a test for ids of items that the funnel leaves out; without a session it reads the journal itself."""


class KnownNames(Protocol):
    """Finds and masks known names in a text."""

    def mask(self, text: str) -> str:
        """Returns the text with every certain occurrence of a known name replaced by its pseudonym."""

    def find(self, text: str) -> Sequence[str]:
        """Returns the pseudonym of each known name in the text, in order."""


class TextMask(KnownNames, Protocol):
    """Masks texts on pages; an item's text is shown as its raters see it, even if the evidence is older."""

    def item_text(self, item: str, title: str, body: str) -> tuple[str, str]:
        """Returns the title and body of an item without known names."""

    def passages(self, item: str, places: Sequence[tuple[int, int]]) -> Sequence[str] | None:
        """Returns the text of passages of an item, from start to end; None if the item was erased."""

    def locate(self, item: str, words: str, near: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Returns where an item contains these words; of several places, the one that overlaps `near` most."""


class NoNames:
    """The mask of a study without known names."""

    def mask(self, text: str) -> str:
        return text

    def find(self, text: str) -> Sequence[str]:
        return ()

    def item_text(self, item: str, title: str, body: str) -> tuple[str, str]:
        return title, body

    def passages(self, item: str, places: Sequence[tuple[int, int]]) -> Sequence[str] | None:
        return None

    def locate(self, item: str, words: str, near: Sequence[tuple[int, int]]) -> tuple[int, int]:
        raise InputError(f"the words of {item!r} cannot be read: choose one of the coded passages")


@dataclass(frozen=True)
class ReportPart:
    """A feature's part of a report."""

    sections: tuple[Section, ...]
    made_from: str
    """Its data with its number, such as `12 quotations`."""
    notices: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    quotations: ItemColumns | None = None
    """The items behind its numbers, if the report can list them; a report has one such list."""


class ReportSection(Protocol):
    """Adds a feature's sections to the report; they alone justify a report without decided items."""

    def is_used(self, study: Study) -> bool:
        """Tells whether the study uses the feature, so that a report without its sections lacks something."""

    def why_not_ready(self, study: Study, state: Any) -> str:
        """Returns what must be done before `build`; empty if it would return a part; cheap enough for every request."""

    def build(self, session: Session[Any], used_names: Collection[str], notify: Callable[[str], None]) -> ReportPart:
        """Builds the part; its tables use none of the `used_names`."""


class PublicationGuard(Protocol):
    """Keeps data that nobody may read out of publications."""

    def refuse(self, study: Study) -> None:
        """Raises StateError while the study contains data that must not be published, such as a known name."""

    def text_stamps(self, study: Study) -> Mapping[str, str]:
        """Returns by document a stamp that changes with what is masked in it; stored with the publication."""

    def watch_withdrawals(self, study: Study, what: str) -> Callable[[], AbstractContextManager[None]]:
        """Returns a context for putting `what` (as `report`) in place, during which nobody can withdraw.

        The context raises StateError if somebody has withdrawn since this call.
        """

    def withheld(self, opened: Any, published: Mapping[str, Mapping[str, str]]) -> Collection[str]:
        """Returns the names of publications that may contain data that must no longer be read.

        `published` has the stamps each was built with; `opened` is the feature's open session, or None.
        """


@dataclass(frozen=True)
class BackupPart:
    """One private file of a study."""

    form: PrivateFileSchema
    file: str
    """Its file name in the study folder."""
    counted: str
    """The JSON key of its count."""
    table: str
    """The table whose rows are counted."""
    words: str
    """The counted entries, as in a sentence after the number."""

    @property
    def name(self) -> str:
        return self.form.name

    def count(self, connection: sqlite3.Connection) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0])  # noqa: S608


@dataclass(frozen=True)
class PartCopy:
    """One file during a restore: its restored content, and its current content without withdrawn data."""

    path: Path
    copy: sqlite3.Connection
    present: sqlite3.Connection | None
    """None if there is no readable file."""


@dataclass
class WithdrawnData:
    """What a restore left out because people withdrew since the backup."""

    responses: int = 0
    participants: Sequence[str] = ()
    unknown: list[str] = field(default_factory=list)
    """The lists that would name withdrawals after the backup, if they are unknown here."""
    details: Any = None
    """Data for `after_restore`."""


class FeatureBackup(Protocol):
    """A feature's part in backup and restore."""

    @property
    def parts(self) -> tuple[BackupPart, ...]: ...

    def keys(self, study: Study) -> Mapping[str, Path]:
        """Returns by part the key needed to read it; keys are in no backup."""

    def check(self, study: Study, part: BackupPart, copy: sqlite3.Connection, source: Path) -> None:
        """Raises ValueError, TypeError or RecursionError if the content of a part is not usable."""

    def read_acts(self, backup: Backup) -> Any:
        """Reads withdrawals from the acts of a backup, before anything of the study is locked.

        Raises LookupError, TypeError or ValueError if an act is malformed.
        """

    def leave_out(self, study: Study, acts: Any, copies: Mapping[str, PartCopy]) -> WithdrawnData:
        """Removes withdrawn data from all copies, including the current ones; `acts` is the result of `read_acts`."""

    def note_withdrawals(self, part: BackupPart, path: Path, copy: sqlite3.Connection) -> None:
        """Adds the restored part's withdrawals to the list next to the file."""

    def after_restore(self, study: Study, left_out: WithdrawnData) -> None:
        """Erases other traces of people who withdrew, once everything is restored."""
