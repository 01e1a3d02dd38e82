"""What people said in their own words, written as the input of a source: raters code such items like posts."""

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
from quaestor.base.table_files import parse_csv, format_csv
from quaestor.study.file_edit import append_tables, edit_study_file, toml_table
from quaestor.study.folder import Study
from quaestor.study.settings.schema import StudySettings, explain

Line = Sequence[str]


@dataclass(frozen=True)
class DerivedSource:
    """A source made of words: where its file lies, what its lines say, and the step of the funnel that takes them."""

    name: str
    folder: str
    columns: tuple[str, ...]
    step: str
    about: str
    """What it is and which command writes it, as a comment in study.toml."""

    def path(self, study: Study) -> Path:
        return study.root / self.folder / f"{self.name}.csv"


@dataclass(frozen=True)
class DerivedItems:
    """Words written as the input of a source, and what stands in the study file for it."""

    source: str
    path: Path
    items: int
    participants: int
    block: str
    """The source, and the funnel that lets everything through, as study.toml says it."""
    added: bool
    """Whether the block was put into study.toml now."""
    by_hand: bool
    """Whether the lead has to put it there: the study has a funnel already, and only a person can say what it reads."""


def write_derived_items(study: Study, source: DerivedSource, found: Callable[[bool], Sequence[Line]], whose: str) -> DerivedItems:
    """Write what `found` gives as the input of a source, and put the source into study.toml.

    `found` is asked when nobody else writes, and told whether the source is known; `whose` is the column of people.
    """
    known = source.name in study.settings.sources
    path = source.path(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _in_turn(path.parent):
        lines = found(known)
        _write_private(path, [source.columns, *lines])
    by_hand = bool(not known and (study.settings.sources or study.settings.funnel.steps))
    block = _block(source, with_funnel=not by_hand)
    if not known and not by_hand:
        _append(study, block)
    people = len({line[source.columns.index(whose)] for line in lines})
    return DerivedItems(source.name, path, len(lines), people, block, not known and not by_hand, by_hand)


def erase_lines(folder: Path, place: int, whose: str) -> bool:
    """Take the words of one person out of all items of a folder; whether there were any."""
    return _rewrite_lines(folder, lambda lines: [line for line in lines if line[place : place + 1] != [whose]])


def change_lines(folder: Path, change: Callable[[Line], Line]) -> bool:
    """Write what a function makes of each line in its place, in all items of a folder; whether any changed."""
    return _rewrite_lines(folder, lambda lines: [list(change(line)) for line in lines])


def _rewrite_lines(folder: Path, change: Callable[[list[list[str]]], list[list[str]]]) -> bool:
    """Write all files of items again whose lines a function changes, the names of columns left alone."""
    if not folder.is_dir():
        return False
    any_changed = False
    with _in_turn(folder):
        for path in sorted(folder.glob("*.csv")):
            head, *lines = parse_csv(path.read_bytes().decode("utf-8"))
            changed = change(lines)
            if changed != lines:
                any_changed = True
                _write_private(path, [head, *changed])
    return any_changed


def as_html(words: str) -> str:
    """Words as HTML shows them, since that is what a rater's page reads."""
    lines = words.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    paragraphs = (html.escape(part.strip()) for part in lines.split("\n\n") if part.strip())
    return "".join(f"<p>{part}</p>" for part in paragraphs).replace("\n", "<br>")


@contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    """Wait until nobody else writes items: what one takes out, another must not put back."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    with open_lock(folder / ".lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_private(path: Path, lines: Sequence[Line]) -> None:
    """For the eyes of their owner alone, as the words themselves are."""
    path.parent.chmod(0o700)
    write_atomically(path, format_csv(lines, escape_formulas=False).encode(), private=True)  # evidence, which is read as it is


def _block(source: DerivedSource, *, with_funnel: bool) -> str:
    """A source as it is written into a study file; the same source always gives the same text."""
    table = toml_table({"kind": "table", "path": f"{source.folder}/{source.name}.csv", "item": "{id}"})
    for column in source.columns:
        table.append(tomlkit.key(["columns", column]), tomlkit.inline_table())
    tables: dict[str, Any] = {"sources": {source.name: table}}
    if with_funnel:
        tables["funnel"] = {"source": source.name, "steps": [{"step": source.step, "body_at_least": 1}]}
    return f"# {source.about}\n{tomlkit.dumps(tables)}"


def _append(study: Study, block: str) -> None:
    """Put a block at the end of study.toml, where the file can be read with it."""

    def change(text: str) -> str:
        changed = append_tables(text, block)
        try:
            raw = tomllib.loads(changed.removeprefix("\ufeff"))
            StudySettings.model_validate(raw)
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{study.file}: the source cannot be added, since {error}: add it by hand") from None
        except ValidationError as error:
            words = explain(error.errors()[0], StudySettings, raw)
            raise SettingsError(f"{study.file}: the source cannot be added, since {words}") from None
        return changed

    edit_study_file(study, change)
