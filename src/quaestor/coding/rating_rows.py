"""Reads a file of ratings, and checks every cell of it before anything is recorded.

The file is a table of one or several raters, or a spreadsheet that `rating_spreadsheet` wrote for one rater.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from quaestor.base.clock import parse_utc
from quaestor.base.errors import InputError, Problem, QuaestorError
from quaestor.base.names import parse_whole_number, suggest
from quaestor.coding.model.answers import check_answer
from quaestor.coding.model.conditions import describe_condition, find_asked
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.ratings import build_rating_act, require_open_round
from quaestor.coding.model.records import CANNOT_JUDGE, Codebook, Facet, Rating, RoundPlan
from quaestor.coding.model.state import RoundState, State
from quaestor.evidence.table_rows import UploadedRow, UploadedTable, read_uploaded_table
from quaestor.store.records import NewAct

FIXED = ("item", "rater", "time", "codebook", "unsure", "memo", "seconds", "simulated", "superseded", "blindness")
"""The columns of an export in addition to the facets."""
RATINGS, ABOUT = "Ratings", "About"
"""The sheets of a spreadsheet: what the rater fills in, and for whom it was written."""
_CONTEXT = ("title", "text", "link")
_BY_LEAD_ONLY = ("time", "seconds", "simulated")
_OPTIONAL_COLUMNS = ("unsure", "memo", "seconds", "time")
_YES = ("true", "1", "yes")
_Value = TypeVar("_Value", str, float)


def name_context_column(name: str, plan: RoundPlan) -> str:
    """Returns the name of the column with an item's title, text or link; a facet of that name has precedence."""
    return f"item {name}" if any(facet.id == name for facet in plan.facets) else name


def name_proposal_column(facet: Facet) -> str:
    """Returns the name of the column with what a rater confirms."""
    return f"{facet.id}: proposed"


class InvalidCells(InputError):
    """Problems in the cells of a file; nothing of it is recorded."""

    def __init__(self, path: Path, problems: Sequence[Problem]) -> None:
        self.problems = merge_problems(problems)
        lines = [f"{problem.where}: {problem.words}" for problem in self.problems]
        if len(lines) == 1:
            super().__init__(f"{path}, {lines[0]}")
        else:
            listed = "\n".join(f"  {line}" for line in lines)
            super().__init__(f"{path} has {len(lines)} problems, nothing was imported:\n{listed}")


def merge_problems(problems: Iterable[Problem]) -> list[Problem]:
    """Returns each problem once with all its cells, in the order of the file."""
    cells: dict[str, list[str]] = {}
    for problem in problems:
        cells.setdefault(problem.words, []).append(problem.where)
    return [Problem(_join_cells(where), words) for words, where in cells.items()]


def _join_cells(cells: Sequence[str]) -> str:
    """Returns cells as text, those below each other as a range: `C2:C9, C12`."""
    ranges: list[tuple[str, str]] = []
    for cell in cells:
        if ranges and _find_cell_below(ranges[-1][1]) == cell:
            ranges[-1] = (ranges[-1][0], cell)
        else:
            ranges.append((cell, cell))
    return ", ".join(first if first == last else f"{first}:{last}" for first, last in ranges)


def _find_cell_below(cell: str) -> str:
    column = cell.rstrip("0123456789")
    return f"{column}{int(cell[len(column) :]) + 1}"


@dataclass(frozen=True)
class SpreadsheetOrigin:
    """For whom and when a spreadsheet was written."""

    study: str
    round: str
    rater: str
    opened: str
    codebook: str
    rated: int
    """How many ratings this rater had given; the number of any act would tell how much others have done."""
    again: tuple[str, ...] = ()
    """Items that had to be rated again, whose rows were blank."""


def list_origin_rows(origin: SpreadsheetOrigin) -> list[tuple[str, str]]:
    """Returns the origin as the rows of the sheet About."""
    return [
        ("study", origin.study),
        ("round", origin.round),
        ("rater", origin.rater),
        ("round opened", origin.opened),
        ("codebook version", origin.codebook),
        ("ratings so far", str(origin.rated)),
        ("to rate again", "; ".join(origin.again)),
    ]


def _read_origin(rows: Sequence[Sequence[str]]) -> SpreadsheetOrigin | None:
    values = {row[0]: row[1] for row in rows if len(row) > 1}
    rated = parse_whole_number(values.get("ratings so far", ""))
    again = tuple(item.strip() for item in values.get("to rate again", "").split(";"))
    texts = [values.get(name, "") for name in ("study", "round", "rater", "round opened", "codebook version")]
    if rated is None or not all(texts[1:]):
        return None
    study, name, rater, opened, codebook = texts
    return SpreadsheetOrigin(study, name, rater, opened, codebook, rated, again)


@dataclass(frozen=True)
class RatingFile:
    """A file of ratings with canonical column names."""

    path: Path
    table: UploadedTable
    origin: SpreadsheetOrigin | None
    rater: str
    """The rater of every row; empty if a column names them."""
    ignored: tuple[str, ...]
    """Columns that no rating has, as the file names them."""

    def has(self, column: str) -> bool:
        return column in self.table.columns and column not in self.ignored

    def problem(self, column: str, row: UploadedRow, words: object) -> Problem:
        return Problem(self.table.locate(column, row.number), str(words))


def read_rating_file(
    state: State, name: str, path: Path, data: bytes | None = None, rater: str | None = None, *, is_own: bool = False
) -> RatingFile:
    """Reads a file and its header; raises InputError if a column is missing or it is of another round or rater.

    `is_own` ignores columns that only the lead may import.
    """
    round_state = state.round(name)
    table = read_uploaded_table(path, data, sheet=RATINGS, others=[ABOUT])
    origin = _read_origin(table.other_sheets.get(ABOUT, ()))
    if origin is not None:
        _check_origin(path, origin, state, round_state, rater)
        rater = rater or state.current_name(origin.rater)
    facets = [facet.id for facet in round_state.plan.facets]
    context = {name_context_column(column, round_state.plan) for column in _CONTEXT}
    context |= {name_proposal_column(facet) for facet in round_state.plan.facets}
    known_columns = [
        column for column in (*FIXED, *facets) if not (is_own and column in _BY_LEAD_ONLY and column not in facets)
    ]
    canonical = {column.casefold(): column for column in (*context, *known_columns)}
    columns = [canonical.get(column.casefold(), column) for column in table.columns]
    columns = [table.columns[number] if column in columns[:number] else column for number, column in enumerate(columns)]
    needed = ["item", *([] if rater else ["rater"]), *facets]
    _check_columns(path, columns, needed, is_filled=bool(table.rows))
    names = {"": ""} | {column: new for column, new in zip(table.columns, columns, strict=True) if new in known_columns}
    rows = tuple(
        replace(
            row,
            cells={names[column]: cell for column, cell in row.cells.items() if column in names},
            faults={names[column]: fault for column, fault in row.faults.items() if column in names},
        )
        for row in table.rows
    )
    ignored = tuple(column for column in columns if column not in context and column not in known_columns)
    return RatingFile(path, replace(table, columns=tuple(columns), rows=rows), origin, rater or "", ignored)


def _check_origin(
    path: Path, origin: SpreadsheetOrigin, state: State, round_state: RoundState, rater: str | None
) -> None:
    plan = round_state.plan
    if origin.round != plan.round:
        raise InputError(
            f"{path} is a spreadsheet of the round {origin.round!r}, not of {plan.round!r}: import it there"
        )
    if origin.opened != round_state.opened:
        raise InputError(
            f"{path} is a spreadsheet of the round {plan.round!r} of another study, {origin.study!r}:"
            f" write one for this study"
        )
    if origin.codebook != str(plan.codebook):
        raise InputError(
            f"{path} was written with version {origin.codebook} of the codebook, and the round uses version"
            f" {plan.codebook}: write a new spreadsheet"
        )
    if rater and state.current_name(origin.rater) != rater:
        raise InputError(f"{path} is the spreadsheet of {origin.rater!r}, not of {rater!r}: choose the right file")


def _check_columns(path: Path, columns: Sequence[str], needed: Sequence[str], *, is_filled: bool) -> None:
    missing = [column for column in needed if column not in columns]
    if len(missing) == 1:
        nearest = suggest(missing[0], columns)
        raise InputError(f"{path} has no column {missing[0]!r}, found: {nearest}; it needs {', '.join(needed)}")
    if missing:
        names = ", ".join(map(repr, missing))
        raise InputError(f"{path} has no columns {names}, found: {', '.join(columns)}; it needs {', '.join(needed)}")
    if not is_filled:
        raise InputError(f"{path} has no ratings: give a header and one row for each rating")


@dataclass
class SortedRows:
    """What the rows of a file come to: acts to record, and what is not recorded and why."""

    acts: list[NewAct] = field(default_factory=list)
    unchanged: int = 0
    empty: int = 0
    unfinished_rows: int = 0
    unfinished: list[Problem] = field(default_factory=list)
    """The missing answers of unfinished rows, which are not recorded."""
    notes: list[Problem] = field(default_factory=list)
    """Rows that are not recorded for another reason."""


@dataclass(frozen=True)
class _FilledRow:
    """The valid and complete answers of a row."""

    answers: dict[str, Any]
    unsure: tuple[str, ...] | None
    """None if the file has no such column."""
    memo: str | None
    seconds: float
    time: str

    def equals(self, rating: Rating | None) -> bool:
        if rating is None or _split_lines(self.answers) != _split_lines(rating.answers):
            return False
        same_unsure = self.unsure is None or sorted(self.unsure) == sorted(rating.unsure)
        return same_unsure and (self.memo is None or self.memo.splitlines() == rating.memo.splitlines())


def _split_lines(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Returns answers without the ends of lines, which a spreadsheet changes."""
    return {name: answer.splitlines() if isinstance(answer, str) else answer for name, answer in answers.items()}


def sort_rows(state: State, name: str, file: RatingFile, now: str) -> SortedRows:
    """Sorts the rows into ratings to record and others; raises InvalidCells with the problems of all cells."""
    return _RowSorter(state, name, file, now).sort()


class _RowSorter:
    def __init__(self, state: State, name: str, file: RatingFile, now: str) -> None:
        self._state, self._name, self._file, self._now = state, name, file, now
        self._round = state.round(name)
        self._plan = self._round.plan
        self._book = state.history.at(self._plan.codebook)
        self._items = frozenset(self._plan.items)
        self._choices = {facet.id: _list_choices(facet, self._book) for facet in self._plan.facets}
        self._texts = {facet.id for facet in self._plan.facets if find_kind(facet).is_free_text} | {"memo"}
        self._last_known = self._find_last_known(file)
        self._sorted = SortedRows()
        self._problems: list[Problem] = []

    def _find_last_known(self, file: RatingFile) -> int:
        """Returns the number of the rater's last rating when the spreadsheet was written; 0 if there was none."""
        ratings = self._round.ratings.get(file.rater, {}).values()
        numbers = sorted(rating.number for of_item in ratings for rating in of_item)
        return max(numbers[: file.origin.rated], default=0) if file.origin else 0

    def sort(self) -> SortedRows:
        seen: dict[tuple[str, str], int] = {}
        for row in self._file.table.rows:
            if self._cell(row, "superseded").lower() not in _YES:
                self._sort_row(row, seen)
        if self._problems:
            raise InvalidCells(self._file.path, self._problems)
        return self._sorted

    def _cell(self, row: UploadedRow, column: str) -> str:
        cell = row.cells.get(column, "")
        return cell if column in self._texts and cell.strip() else cell.strip()

    def _report(self, row: UploadedRow, column: str, words: object) -> None:
        self._problems.append(self._file.problem(column, row, words))

    def _sort_row(self, row: UploadedRow, seen: dict[tuple[str, str], int]) -> None:
        for column, fault in row.faults.items():
            self._report(row, column, fault)
        if row.faults:
            return
        item = self._cell(row, "item")
        rater = self._state.current_name(self._cell(row, "rater") or self._file.rater)
        if self._is_empty(row):
            self._sorted.empty += 1
            if self._find_base(rater, item) is not None:
                words = "the row is empty: the recorded rating stays, since a rating can be changed but not removed"
                self._sorted.notes.append(self._file.problem("item", row, words))
            return
        if not item:
            self._report(row, "item", "the row has answers and no item: enter its id")
        elif not rater:
            self._report(row, "rater", "the row has no rater: enter a name")
        elif self._file.rater and rater != self._file.rater:
            self._report(row, "rater", f"the row is by {rater!r}, not by {self._file.rater!r}: remove it")
        elif (rater, item) in seen:
            first = seen[rater, item]
            self._report(row, "item", f"{rater!r} rates {item!r} in row {first} too: remove one of the rows")
        elif item in self._round.gone:
            words = f"{item} is no longer an item of {self._name}: its row is left out"
            self._sorted.notes.append(self._file.problem("item", row, words))
        elif item not in self._items:
            self._report(
                row, "item", f"{item!r} is not an item of the round {self._name!r}: correct the id, or remove the row"
            )
        else:
            self._sort_rating(row, rater, item)
        seen.setdefault((rater, item), row.number)

    def _is_empty(self, row: UploadedRow) -> bool:
        """Whether nothing is answered; an export gives the time of a rating, even of one without any answer."""
        facets = (facet.id for facet in self._plan.facets)
        return not any(self._cell(row, column).strip() for column in (*facets, "unsure", "memo", "time"))

    def _sort_rating(self, row: UploadedRow, rater: str, item: str) -> None:
        filled = self._read_row(row)
        if filled is None:
            return
        current = self._round.current(rater, item)
        if current is not None and filled.equals(current) and not self._is_outdated(current):
            self._sorted.unchanged += 1
            return
        is_newer = self._file.origin is not None and current is not None and current.number > self._last_known
        if current is not None and is_newer and not current.imported:
            if filled.equals(self._find_base(rater, item)):
                self._sorted.unchanged += 1  # rated at the desk meanwhile, and not touched here
                return
            words = f"{item} was rated again after this spreadsheet was written"
            self._report(row, "item", f"{words}: download it again, or empty the row to keep that rating")
            return
        require_open_round(self._state, self._name, self._now)
        try:
            self._sorted.acts.append(self._build_act(row, rater, item, filled, current))
        except QuaestorError as error:
            self._report(row, "item", error)

    def _find_base(self, rater: str, item: str) -> Rating | None:
        """Returns the rating that the spreadsheet was written with."""
        if self._file.origin is None:
            return None
        ratings = self._round.ratings.get(rater, {}).get(item, ())
        base = next((rating for rating in reversed(ratings) if rating.number <= self._last_known), None)
        return None if base is None or self._is_outdated(base) else base

    def _is_outdated(self, rating: Rating) -> bool:
        """Whether the item must be rated again, so that the spreadsheet was written without this rating."""
        requested = self._round.reread.get(rating.item, 0)
        return rating.number <= requested and (self._file.origin is None or rating.item in self._file.origin.again)

    def _read_row(self, row: UploadedRow) -> _FilledRow | None:
        """Returns the answers of a row; None, and what is missing or wrong is noted, if it is not complete."""
        before = len(self._problems)
        answers: dict[str, Any] = {}
        missing: list[str] = []
        for facet in self._plan.facets:
            cell = self._cell(row, facet.id)
            is_asked = find_asked(self._plan, facet, answers)
            if cell and is_asked is False:
                words = f"{facet.id} is asked only if {describe_condition(facet.ask_if)}: leave it without an answer"
                self._report(row, facet.id, words)
            elif cell:
                try:
                    answers[facet.id] = check_answer(
                        facet, self._book, self._choices[facet.id].get(cell.casefold(), cell)
                    )
                except InputError as error:
                    self._report(row, facet.id, f"{error}{self._explain_version(facet, cell)}")
            elif is_asked and facet.required:
                missing.append(facet.id)
            elif is_asked is not None:
                answers[facet.id] = None
        unsure = self._read_unsure(row, answers)
        seconds, time = self._read_value(row, "seconds", _parse_seconds), self._read_value(row, "time", parse_utc)
        if len(self._problems) > before:
            return None
        if missing:
            self._sorted.unfinished_rows += 1
            for facet_id in missing:
                words = f"{facet_id} has no answer: answer it, or say {CANNOT_JUDGE!r}"
                self._sorted.unfinished.append(self._file.problem(facet_id, row, words))
            return None
        filled = {name: answer for name, answer in answers.items() if answer is not None}
        memo = self._cell(row, "memo") if self._file.has("memo") else None
        return _FilledRow(filled, unsure, memo, seconds or 0.0, time or "")

    def _read_value(self, row: UploadedRow, column: str, parse: Callable[[str], _Value]) -> _Value | None:
        cell = self._cell(row, column)
        try:
            return parse(cell) if cell else None
        except QuaestorError as error:
            self._report(row, column, error)
            return None

    def _explain_version(self, facet: Facet, cell: str) -> str:
        latest = self._state.history.latest
        if not facet.codes or cell in self._book.codes or cell not in latest.codes:
            return ""
        return f" ({cell!r} is a code of version {latest.version} of the codebook; the round uses {self._book.version})"

    def _read_unsure(self, row: UploadedRow, answers: Mapping[str, Any]) -> tuple[str, ...] | None:
        if not self._file.has("unsure"):
            return None
        names = {facet.id.casefold(): facet.id for facet in self._plan.facets if find_asked(self._plan, facet, answers)}
        typed = [part.strip() for part in self._cell(row, "unsure").split(";") if part.strip()]
        for part in typed:
            if part.casefold() not in names:
                options = suggest(part, names.values()) or "none"
                self._report(row, "unsure", f"unsure of {part!r}; choose from: {options}")
        return tuple(names.get(part.casefold(), part) for part in typed)

    def _build_act(self, row: UploadedRow, rater: str, item: str, filled: _FilledRow, current: Rating | None) -> NewAct:
        unsure, memo = filled.unsure or (), filled.memo or ""
        if self._file.origin is None:
            key = _hash_cells(self._list_key_cells(row))
        else:
            before = current.number if current else 0
            key = _hash_cells(
                [self._name, rater, item, json.dumps([filled.answers, unsure, memo], sort_keys=True), before]
            )
        return build_rating_act(
            self._state,
            self._name,
            rater,
            item,
            filled.answers,
            now=self._now,
            unsure=unsure,
            memo=memo,
            seconds=filled.seconds,
            simulated=self._cell(row, "simulated").lower() in _YES,
            imported=True,
            time=filled.time,
            key=f"import/{key}",
        )

    def _list_key_cells(self, row: UploadedRow) -> Iterator[str]:
        """Yields what identifies a row in every file that contains it."""
        yield from (self._name, self._cell(row, "rater") or self._file.rater, self._cell(row, "item"))
        facets = (facet.id for facet in self._plan.facets)
        yield from (self._cell(row, column) for column in (*facets, *_OPTIONAL_COLUMNS))


def _list_choices(facet: Facet, book: Codebook) -> dict[str, str]:
    """Returns the choices by their text in lower case, if only one has it; `read_choice` knows codes by id and name."""
    values = [choice.value for choice in find_kind(facet).choices(facet, book)] if not facet.codes else []
    by_text: dict[str, str] = {}
    for value in values:
        by_text[value.casefold()] = "" if value.casefold() in by_text else value
    return {text: value for text, value in by_text.items() if value} | {CANNOT_JUDGE: CANNOT_JUDGE}


def _parse_seconds(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"seconds is {text!r}: give a number") from None


def _hash_cells(cells: Iterable[object]) -> str:
    return hashlib.sha256("\0".join(map(str, cells)).encode()).hexdigest()[:32]
