"""Writes free-text answers and transcript turns as the input of a source, so that raters code them like posts."""

from __future__ import annotations

import html
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from pydantic import ValidationError

from quaestor.base.errors import SettingsError
from quaestor.base.files import open_lock, write_atomically
from quaestor.base.table_files import format_csv, parse_csv
from quaestor.study.folder import Study, append_tables, edit_study_file, open_study, toml_table
from quaestor.study.settings.schema import StudySettings, explain

Line = Sequence[str]


@dataclass(frozen=True)
class DerivedSource:
    """A source that a feature derives from free text: its file, its columns, and the funnel step for its items."""

    name: str
    strand: str
    """The name of the strand of its items, unless they are the first of the study."""
    folder: str
    columns: tuple[str, ...]
    step: str
    about: str
    """What the source is and which command writes it, for a comment in study.toml."""

    def path(self, study: Study) -> Path:
        return study.root / self.folder / f"{self.name}.csv"


@dataclass(frozen=True)
class DerivedItems:
    """The outcome of writing a derived source, and its block for study.toml."""

    source: str
    strand: str
    """The strand of the items; empty for the first of the study."""
    path: Path
    items: int
    participants: int
    block: str
    """The source and its strand as TOML."""
    added: bool
    """Whether this run added the block to study.toml."""


def write_derived_items(
    study: Study, source: DerivedSource, read_lines: Callable[[bool], Sequence[Line]], person_column: str
) -> DerivedItems:
    """Writes the lines from `read_lines` as the input of a source, and adds the source to study.toml.

    `read_lines` is called under the lock of the folder, with whether study.toml already has the source.
    """
    known = source.name in study.settings.sources
    path = source.path(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _lock_folder(path.parent):
        lines = read_lines(known)
        _write_private(path, [source.columns, *lines])
    is_first = not (study.settings.sources or study.settings.strands or study.funnel.steps)
    block = _build_block(source, is_first=is_first)
    if not known:
        _append_to_study_file(study, block)
    people = len({line[source.columns.index(person_column)] for line in lines})
    strands = open_study(study.root).settings.strands
    strand = next((name for name, funnel in strands.items() if funnel.source == source.name), "")
    return DerivedItems(source.name, strand, path, len(lines), people, block, added=not known)


def erase_lines(folder: Path, column: int, person: str) -> bool:
    """Removes the lines of one person from all files of a folder; returns whether there were any."""
    return _rewrite_lines(folder, lambda lines: [line for line in lines if line[column : column + 1] != [person]])


def change_lines(folder: Path, change: Callable[[Line], Line]) -> bool:
    """Applies a function to each line of all files of a folder; returns whether any line changed."""
    return _rewrite_lines(folder, lambda lines: [list(change(line)) for line in lines])


def _rewrite_lines(folder: Path, change: Callable[[list[list[str]]], list[list[str]]]) -> bool:
    """Rewrites the files whose lines a function changes, without changing their headers."""
    if not folder.is_dir():
        return False
    any_changed = False
    with _lock_folder(folder):
        for path in sorted(folder.glob("*.csv")):
            head, *lines = parse_csv(path.read_bytes().decode("utf-8"))
            changed = change(lines)
            if changed != lines:
                any_changed = True
                _write_private(path, [head, *changed])
    return any_changed


def as_html(text: str) -> str:
    """Converts plain text to HTML paragraphs, which the rating page expects."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    paragraphs = (html.escape(part.strip()) for part in lines.split("\n\n") if part.strip())
    return "".join(f"<p>{part}</p>" for part in paragraphs).replace("\n", "<br>")


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Waits for other writers: lines that one process erases must not be written again by another."""
    try:
        import fcntl
    except ImportError:  # Windows has no such locks
        yield
        return
    with open_lock(folder / ".lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_private(path: Path, lines: Sequence[Line]) -> None:
    """Writes a CSV file that only its owner can read, like the free text itself."""
    path.parent.chmod(0o700)
    write_atomically(
        path, format_csv(lines, escape_formulas=False).encode(), private=True
    )  # evidence is read back verbatim, so formulas are not escaped


def _build_block(source: DerivedSource, *, is_first: bool) -> str:
    """Returns a source with its strand as TOML for the study file; the first strand of a study is its `[funnel]`."""
    table = toml_table({"kind": "table", "path": f"{source.folder}/{source.name}.csv", "item": "{id}"})
    for column in source.columns:
        table.append(tomlkit.key(["columns", column]), tomlkit.inline_table())
    tables: dict[str, Any] = {"sources": {source.name: table}}
    if is_first:
        tables["funnel"] = {"source": source.name, "steps": [{"step": source.step, "body_at_least": 1}]}
    else:
        tables["strands"] = {source.strand: {"source": source.name}}
    return f"# {source.about}\n{tomlkit.dumps(tables)}"


def _append_to_study_file(study: Study, block: str) -> None:
    """Appends a block to study.toml, unless that would make the file invalid."""

    def change(text: str) -> str:
        changed = append_tables(text, block)
        try:
            raw = tomllib.loads(changed.removeprefix("\ufeff"))
            StudySettings.model_validate(raw)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{study.file}: the source cannot be added ({error}): add it by hand") from None
        except ValidationError as error:
            problem = explain(error.errors()[0], StudySettings, raw)
            raise SettingsError(f"{study.file}: the source cannot be added: {problem}") from None
        return changed

    edit_study_file(study, change)
