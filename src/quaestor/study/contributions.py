"""What a feature can contribute to a study.

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

from quaestor.render.report_parts import Fact, ItemColumns, Section
from quaestor.store.backup_file import Backup
from quaestor.store.private_file_copy import PrivateFileSchema
from quaestor.study.folder import Study
from quaestor.study.session import Session


@dataclass(frozen=True)
class StatusLine:
    """One part of a study: its state in a word, and in a sentence."""

    name: str
    state: str  # done, doubtful, stale, waiting, none
    detail: str


@dataclass(frozen=True)
class Next:
    """The next thing to do: as a command, as a sentence, and the page of the desk on which it is done."""

    command: str
    words: str = ""
    page: str = ""
    """rounds, codebook, agreement, disagreements, phrases, survey, survey-results, interviews, guides; or a command."""
    round: str = ""
    survey: str = ""


@dataclass(frozen=True)
class StatusRequest:
    """What a feature needs to report its status."""

    study: Study
    session: Session[Any] | None
    """None where nothing was ever recorded."""
    opened: Mapping[str, Any]
    """By feature, what is open already, so that it is not read again."""
    wait: bool
    """Whether to wait for a large computation; else its line says that it is under way."""


@dataclass(frozen=True)
class StatusPart:
    """What a feature reports."""

    lines: tuple[StatusLine, ...] = ()
    next: Next | None = None
    collects: bool = False
    """Whether the lines are about people who are asked, whose answers become evidence."""
    precedes_evidence: bool = False
    """Whether the evidence of the study is still to be made by this feature."""
    is_evidence: bool = False
    """Whether the lines are about sources and the funnel."""
    is_empty: bool = False
    """Whether the lines only say that nothing is set up, and are left out where people are asked instead."""


@dataclass(frozen=True)
class ActKind:
    """How a kind of act is described to others, and which items it removes."""

    sentence: str
    """What the actor did; `{round}`, `{survey}` and `{count}` are filled in."""
    counted: str = ""
    """What `{count}` counts, in the singular."""
    is_joined: bool = False
    """Whether acts of one person in a row are described by one sentence; `{count}` is then their number."""
    actor: str = ""
    """Stands in the place of an actor who is not named."""
    removes: Callable[[Mapping[str, Any]], Callable[[str], object]] | None = None
    """Returns, for the payload of an act, a test for the ids of the feature's items that nobody can read after it."""

    def describe(self, *, round: str, survey: str, count: int) -> str:
        counted = f"{count:,} {self.counted}{'' if count == 1 else 's'}"
        return self.sentence.format(round=round, survey=survey, count=counted)


class RoundOutcomes(Protocol):
    """The outcome of a study's rounds, for the steps of its funnel that a round decides."""

    def kept_items(self, rounds: Collection[str]) -> dict[str, list[str]]:
        """By round the items that it keeps; a round that is not settled yet is missing."""

    def notes_on(self, reached: Mapping[str, Collection[str]]) -> list[str]:
        """What a reader of the funnel must know about rounds, given by round the items that reached its step."""

    def change_stamp(self, rounds: Collection[str]) -> object:
        """Changes when a round decides something else; cheap enough to ask for with every page."""


class KnownNames(Protocol):
    """Finds and masks known names in a text."""

    def mask(self, text: str) -> str:
        """The text with what surely is a known name replaced by what is shown instead."""

    def find(self, text: str) -> Sequence[str]:
        """For each known name in the text, in order, what is shown instead of it."""


class TextMask(KnownNames, Protocol):
    """Masks what pages show; the texts of an item are shown as its raters see them, however old the evidence is."""

    def item_text(self, item: str, title: str, body: str) -> tuple[str, str]:
        """Returns the title and body of an item without known names."""

    def passages(self, item: str, places: Sequence[tuple[int, int]]) -> Sequence[str] | None:
        """Returns the words of passages of an item, from start to end; None where the item has been erased."""


class NoNames:
    """The mask of a study that knows no names."""

    def mask(self, text: str) -> str:
        return text

    def find(self, text: str) -> Sequence[str]:
        return ()

    def item_text(self, item: str, title: str, body: str) -> tuple[str, str]:
        return title, body

    def passages(self, item: str, places: Sequence[tuple[int, int]]) -> Sequence[str] | None:
        return None


@dataclass(frozen=True)
class ReportPart:
    """What a feature adds to a report."""

    section: Section
    made_from: str
    """What it was made from, with its number, such as `12 quotations`."""
    notices: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    quotations: ItemColumns | None = None
    """What its numbers count, where the report can list that; a report has one such list."""


class ReportSection(Protocol):
    """How a feature adds a section to the report."""

    @property
    def missing(self) -> str:
        """What has to be done before there is a section, as a sentence."""

    def is_used(self, study: Study) -> bool:
        """Whether a report without decided items may be made for this section."""

    def is_ready(self, study: Study, state: Any) -> bool:
        """Whether `build` returns a part, without making it; cheap enough to ask for with every page."""

    def build(self, session: Session[Any], used_names: Collection[str], tell: Callable[[str], None]) -> ReportPart:
        """Makes the part; its tables have none of the `used_names`."""


class PublicationGuard(Protocol):
    """Keeps out of what is published what nobody may read there."""

    def refuse(self, study: Study) -> None:
        """Raises StateError while the study holds something that must not be published, such as a known name."""

    def text_stamps(self, study: Study) -> Mapping[str, str]:
        """By document, a stamp that changes with what is left out of it; stored with what is published."""

    def watch_withdrawals(self, study: Study, what: str) -> Callable[[], AbstractContextManager[None]]:
        """Returns a context in which `what` (as `report`) is put in place, and nobody withdraws.

        The context raises StateError where somebody has withdrawn since this call.
        """

    def withheld(self, opened: Any, published: Mapping[str, Mapping[str, str]]) -> Collection[str]:
        """The names of published things that may hold what must not be read by now.

        `published` has the stamps by which each was made; `opened` is what the feature has open already, or None.
        """


@dataclass(frozen=True)
class BackupPart:
    """One private file of a study."""

    form: PrivateFileSchema
    file: str
    """Its name in the study folder."""
    counted: str
    """The name of what is counted, in JSON."""
    table: str
    """The table whose rows are counted."""
    words: str
    """What is counted, as a sentence says it after the number."""

    @property
    def name(self) -> str:
        return self.form.name

    def count(self, connection: sqlite3.Connection) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0])  # noqa: S608


@dataclass(frozen=True)
class PartCopy:
    """One file during a restore: what it shall hold, and what it holds now without what is known to be withdrawn."""

    path: Path
    copy: sqlite3.Connection
    present: sqlite3.Connection | None
    """None where there is no file that can be read."""


@dataclass
class WithdrawnData:
    """What a restore left out because people withdrew since the backup was made."""

    responses: int = 0
    participants: Sequence[str] = ()
    unknown: list[str] = field(default_factory=list)
    """Names of the lists that would say who withdrew after the backup, where nothing here says it."""
    found: Any = None
    """What the feature needs again in `after_restore`."""


class FeatureBackup(Protocol):
    """A feature's part in backup and restore."""

    @property
    def parts(self) -> tuple[BackupPart, ...]: ...

    def keys(self, study: Study) -> Mapping[str, Path]:
        """By part, the key without which nobody can read it; keys are in no backup."""

    def check(self, study: Study, part: BackupPart, copy: sqlite3.Connection, source: Path) -> None:
        """Raises ValueError, TypeError or RecursionError where what a backup holds of a part is not usable."""

    def read_acts(self, backup: Backup) -> Any:
        """Read what the acts of a backup say about withdrawals, before anything of the study is held.

        Raises LookupError, TypeError or ValueError where an act is not what it claims to be.
        """

    def leave_out(self, study: Study, acts: Any, copies: Mapping[str, PartCopy]) -> WithdrawnData:
        """Remove from all copies, the present ones too, what was withdrawn; `acts` is what `read_acts` returned."""

    def note_withdrawals(self, part: BackupPart, path: Path, copy: sqlite3.Connection) -> None:
        """Add what the restored part knows of withdrawals to the list next to the file."""

    def after_restore(self, study: Study, left_out: WithdrawnData) -> None:
        """Erase what other places still keep of people who withdrew, once everything is restored."""
