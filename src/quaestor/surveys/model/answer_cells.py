"""Answers in table cells: the columns of an export, and the parts of one answer in a row of a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from quaestor.surveys.model.records import Answer, CellRemark, Question

CODE, TICKED, PLACE, NUMBER, WORDS, TEXT, MISSING = "code", "ticked", "place", "number", "words", "text", "missing"
"""Contents of a column of a wide table."""
WHOLE_ANSWER = "answer"
"""The part for a cell that contains the whole answer."""
LONGEST_CELL = 20_000
"""Maximum characters of a cell with choices; a longer one is not parsed."""
LONGEST_TEXT = 20_000
"""Maximum characters of a text; longer ones are rejected, not truncated."""
_SHOWN = 80


@dataclass(frozen=True)
class ExportColumn:
    """One column of a wide table."""

    name: str
    question: Question
    holds: str
    code: str = ""
    """The option or row it belongs to."""
    part: str = WHOLE_ANSWER
    """The part of an answer it is imported as."""


@dataclass(frozen=True)
class CellPart:
    """The question of a column, and the part of its answer."""

    question: Question
    kind: str
    """`answer`, `missing`, or `text`, `option`, `row`, `rank` of the option or row `code`."""
    code: str = ""


@dataclass
class RowAnswers:
    """Result of reading one row of a file."""

    answers: dict[str, Answer] = field(default_factory=dict)
    """By question, if answered."""
    reasons: dict[str, str] = field(default_factory=dict)
    """By question, the reason for a missing answer, if the file has one."""
    unread: list[CellRemark] = field(default_factory=list)
    odd: list[CellRemark] = field(default_factory=list)
    """Stored unchanged, although the questionnaire would not have accepted it."""
    markers: list[CellRemark] = field(default_factory=list)
    telling: Collection[str] = ()
    """Questions with a column for the reason of a missing answer, as in exports of Quaestor."""

    def reason(self, question: str) -> str | None:
        """Returns the reason for a missing answer in the file; None if unknown."""
        return self.reasons.get(question, "" if question in self.telling else None)


@dataclass(frozen=True)
class CellLabels:
    """Possible texts in the cells of a question, and the option each one means."""

    codes: Mapping[str, str]
    """By text: from the mapping, else labels, else codes."""
    option_names: Mapping[str, frozenset[str]]
    """By option, its texts in lower case; empty for exports of Quaestor, which contain codes."""
    separator: str
    markers: Collection[str]
    """Texts that mean no answer."""


class AnswerCells:
    """The parts of an answer to one question in a row of a file."""

    def __init__(self, question: Question, row: int, outcome: RowAnswers, labels: CellLabels) -> None:
        self.question, self.row, self.outcome, self.labels = question, row, outcome, labels
        self.chosen: dict[str, str] = {}
        """By option, the column."""
        self.rows: dict[str, str] = {}
        self.texts: dict[str, tuple[str, str]] = {}
        """By option or row, column and text."""
        self.ranks: list[tuple[str, str, str]] = []
        """Column, option and cell."""
        self.value: tuple[str, str] | None = None
        """Column and cell of an answer that is typed."""

    def report(self, column: str, cell: str, why: str) -> None:
        """Reports a cell that could not be read."""
        self.outcome.unread.append(self._remark(column, cell, why))

    def report_odd(self, column: str, cell: str, why: str) -> None:
        """Reports a cell that was read, although the questionnaire would not have accepted it."""
        self.outcome.odd.append(self._remark(column, cell, why))

    def report_marker(self, column: str, cell: str, why: str) -> None:
        self.outcome.markers.append(self._remark(column, cell, why))

    def add_text(self, column: str, code: str, cell: str) -> None:
        if len(cell) > LONGEST_TEXT:
            self.report(column, cell, f"is {len(cell):,} characters long, more than {LONGEST_TEXT:,}")
        else:
            self.texts[code] = (column, cell)

    def plain_texts(self) -> dict[str, str]:
        return {code: text for code, (_, text) in self.texts.items()}

    def option_labels(self, codes: Iterable[str]) -> str:
        labels = {option.code: option.label for option in self.question.options}
        return "; ".join(labels.get(code, code) for code in codes)

    def _remark(self, column: str, cell: str, why: str) -> CellRemark:
        shown = cell if len(cell) <= _SHOWN else cell[: _SHOWN - 1] + "…"
        return CellRemark(self.row, column, self.question.id, shown, why)


def plain(text: str) -> str:
    """Normalises the spaces of a label or cell."""
    return " ".join(text.split())


def split_known(cell: str, known: Iterable[str], separator: str = ",") -> tuple[list[str], list[str]]:
    """Returns the known texts that make up a cell, and the pieces that are unknown, both in their order.

    Of all ways to split the cell at separators, chooses the one with the fewest unknown characters, then the one with
    longer known texts.
    """
    text, labels = plain(cell), {label: plain(label) for label in known}
    if len(text) > LONGEST_CELL:
        return [], [text]
    starts = _starts(text, separator)
    following = dict(zip(starts, [*starts[1:], len(text) + 1], strict=True))
    best: dict[int, tuple[int, int]] = {len(text) + 1: (0, 0)}
    chosen: dict[int, tuple[str | None, int]] = {}
    for start in reversed(starts):
        unknown, pieces = best[following[start]]
        best[start], chosen[start] = (unknown, pieces), (None, following[start])
        for name, label in labels.items():
            end = start + len(label)
            if not label or not text.startswith(label, start) or not _ends(text, end, separator):
                continue
            after = _after(text, end, separator)
            covered = (best[after][0] + len(label), best[after][1] - 1)
            if covered > best[start]:
                best[start], chosen[start] = covered, (name, after)
    return _follow(text, chosen, separator)


def _starts(text: str, separator: str) -> list[int]:
    """Returns the possible starts of a piece: the beginning, and after each separator."""
    starts, place = [0], text.find(separator)
    while place >= 0:
        starts.append(_after(text, place, separator))
        place = text.find(separator, place + len(separator))
    return sorted({start for start in starts if start <= len(text)})


def _ends(text: str, end: int, separator: str) -> bool:
    return end == len(text) or text[end : end + 1 + len(separator)].lstrip(" ").startswith(separator)


def _after(text: str, end: int, separator: str) -> int:
    """Returns the start of the piece after a separator; beyond the text if there is none."""
    place = text.find(separator, end)
    if place < 0:
        return len(text) + 1
    place += len(separator)
    while place < len(text) and text[place] == " ":
        place += 1
    return place


def _follow(text: str, chosen: dict[int, tuple[str | None, int]], separator: str) -> tuple[list[str], list[str]]:
    known: list[str] = []
    unknown: list[str] = []
    place, begun = 0, -1
    while place in chosen:
        label, after = chosen[place]
        if label is None and begun < 0:
            begun = place
        if label is not None:
            known.append(label)
            if begun >= 0:
                unknown.append(text[begun:place])
                begun = -1
        place = after
    if begun >= 0:
        unknown.append(text[begun:])
    pieces = (piece.strip(f"{separator} ") for piece in unknown)
    return known, [piece for piece in pieces if piece]
