"""Reads paragraphs and tables of Word documents, without executing anything in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from quaestor.interviews.transcript_formats.docx_package import unpack_document
from quaestor.interviews.transcript_formats.plain_text import TextLine, find_openings
from quaestor.interviews.transcript_formats.speaker_labels import (
    LONGEST,
    SURE,
    Opening,
    find_speakers,
    is_name_like,
    is_plausible,
)
from quaestor.interviews.transcript_formats.text_decoding import split_lines
from quaestor.interviews.transcript_formats.timestamps import STAMP, parse_stamp, parse_timing, strip_time_marks

_STAMP = re.compile(rf"\s*{STAMP}\s*")
_SPEAKER, _TIME, _COUNT = ("speaker", "name", "who"), ("time", "timestamp", "start", "end"), ("nr", "#")
_HEADER = frozenset((*_SPEAKER, *_TIME, *_COUNT, "text", "words", "content", "transcript"))
_ABOUT = re.compile(r"(?P<who>.{1,80}) (?:started|stopped) transcription")
"""What Teams writes about its own recording."""


def read_document_lines(data: bytes, where: str, named: tuple[str, ...] = ()) -> tuple[list[TextLine], list[str]]:
    """Returns the lines of a document with their possible openings, and text outside the conversation."""
    lines: list[TextLine] = []
    left_out: list[str] = []
    waiting: list[str] = []
    header: list[str] | None = None
    blocks, notes = unpack_document(data, where)
    counted = _find_numbered_rows(blocks)
    for place, (before, block) in enumerate(zip(["", *blocks], blocks, strict=False)):
        if isinstance(block, str):
            waiting += split_lines(block)
            continue
        marked = [strip_time_marks(cell.strip()) for cell in block]
        cells, begins = (
            [cell.text for cell in marked],
            next((cell.start for cell in marked if cell.start is not None), None),
        )
        filled = _list_filled(cells)[place in counted :]
        header = None if isinstance(before, str) else header
        if isinstance(before, str) and len(filled) > 1 and all(cell.lower() in _HEADER for cell in filled):
            header = [cell.lower() for cell in cells]
            left_out.append(" | ".join(cells))
        elif len(filled) < 2 and not (filled and header and len(header) == len(cells)):
            waiting += [line for cell in filled for line in split_lines(cell)]
        else:
            lines += find_openings(waiting, named)
            waiting = []
            row = _read_row_below_header(header, cells) if header and len(header) == len(cells) else _read_row(filled)
            lines.append(_add_start(row, begins))
    lines += find_openings(waiting, named)
    about = _find_program_lines(lines, named)
    left_out += [line.text for place, line in enumerate(lines) if place in about]
    return [line for place, line in enumerate(lines) if place not in about], [*left_out, *notes]


def _list_filled(cells: Sequence[str]) -> list[str]:
    return [cell.strip() for cell in cells if cell.strip()]


def _find_numbered_rows(blocks: Sequence[str | list[str]]) -> frozenset[int]:
    """Returns the indexes of rows in tables that number all their rows; these numbers are not spoken."""
    table_rows: set[int] = set()
    for is_table, group in groupby(enumerate(blocks), key=lambda numbered: isinstance(numbered[1], list)):
        rows = [(place, filled[0].rstrip(".")) for place, cells in group if len(filled := _list_filled(cells)) > 2]
        if is_table and rows and all(number.isdecimal() and len(number) < 7 for _, number in rows):
            numbers = [int(number) for _, number in rows]
            running = numbers[0] < 2 and numbers == list(range(numbers[0], numbers[0] + len(rows)))
            table_rows |= {place for place, _ in rows} if running else set()
    return frozenset(table_rows)


def _add_start(row: TextLine, start: float | None) -> TextLine:
    """Returns a row with the time found among its words, unless it has one of its own."""
    if row.start is not None or start is None:
        return row
    opening = row.opening if row.opening is None or row.opening.start is not None else replace(row.opening, start=start)
    return replace(row, opening=opening, start=start)


def _find_program_lines(lines: list[TextLine], named: tuple[str, ...]) -> frozenset[int]:
    """Returns the indexes of Teams' own lines before the first and after the last speaker; others are speech."""
    speakers = find_speakers([line.opening for line in lines], named)
    heads = [place for place, line in enumerate(lines) if speakers.open(line.opening)]
    if not heads:
        return frozenset()
    last = lines[heads[-1]].opening
    ended = heads[-1] if last and last.rest else heads[-1] + 1
    return frozenset(
        place
        for place, line in enumerate(lines)
        if (place < heads[0] or place > ended) and (match := _ABOUT.fullmatch(line.text)) and is_name_like(match["who"])
    )


def _read_row_below_header(header: list[str], cells: list[str]) -> TextLine:
    """Reads a row below a header: whatever is in the speaker column is a speaker."""
    speaker = next((place for place, column in enumerate(header) if column in _SPEAKER), -1)
    label, start, paragraphs = "", None, list[str]()
    for place, (column, cell) in enumerate(zip(header, cells, strict=True)):
        if place == speaker:
            label = " ".join(cell.rstrip(":：").split())
        elif column in _TIME and _is_time(cell):
            start = _parse_start(cell) if start is None else start
        elif cell and not (column in _COUNT and cell.isdecimal()):
            paragraphs.append(cell)
    words = "\n".join(paragraphs)
    return TextLine(words, Opening(label, words, start, SURE) if label else None, start)


def _read_row(cells: list[str]) -> TextLine:
    """Reads a row with a speaker and words, with or without times before or between them."""
    first = next((place for place, cell in enumerate(cells[:-1]) if not _is_time(cell)), len(cells) - 1)
    after = range(first + 1, len(cells) - 1)
    second = next((place for place in after if not _is_time(cells[place])), max(first + 1, len(cells) - 1))
    times, cells = [*cells[:first], *cells[first + 1 : second]], [cells[first], *cells[second:]]
    text, start = "\n".join(cells), _parse_start(times[0]) if times else None
    label = " ".join(cells[0].rstrip(":：").split())
    called = is_plausible(label) or (times and len(label) <= LONGEST and "\n" not in cells[0])
    if len(cells) < 2 or not called:
        return TextLine(text, start=start)
    return TextLine(text, Opening(label, "\n".join(cells[1:]), start, SURE))


def _is_time(cell: str) -> bool:
    return _STAMP.fullmatch(cell) is not None or parse_timing(cell) is not None


def _parse_start(cell: str) -> float | None:
    """Returns the first time in a cell that is a time or a range of times."""
    times = parse_timing(cell)
    return times[0] if times else parse_stamp(cell)
