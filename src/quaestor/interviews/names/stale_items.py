"""Finds items built from transcripts before a name in them was replaced: in files, evidence and candidates."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

from quaestor.base.errors import StateError
from quaestor.base.table_files import parse_csv
from quaestor.evidence.derived_items import as_html
from quaestor.evidence.erasure import list_sources_in_folder
from quaestor.evidence.funnel import CANDIDATES
from quaestor.evidence.ingest import evidence_stamp
from quaestor.evidence.items import list_evidence_files
from quaestor.interviews.model.records import SpokenTurn, build_item_id
from quaestor.interviews.names.known_names import get_finder
from quaestor.interviews.names.matches import list_open_places
from quaestor.interviews.repository import FOLDER, Interviews
from quaestor.study.folder import Study

_ITEM, _BODY, _QUESTION = "id", "body", "question"


@dataclass(frozen=True)
class StaleItem:
    """An interview whose items contain words that are replaced now."""

    interview: str
    shown: str


def find_stale_items(interviews: Interviews) -> Iterator[StaleItem]:
    """Yields stale items in the files that evidence is built from, in evidence, and in the funnel's candidates."""
    study, sources = interviews.study, list_sources_in_folder(interviews.study, FOLDER)
    for path in sorted((study.root / FOLDER).glob("*.csv")):
        columns, *rows = parse_csv(path.read_bytes().decode("utf-8"))
        lines = (dict(zip(columns, row, strict=False)) for row in rows)
        yield from _find_stale(interviews, ((line[_ITEM], line[_BODY], line.get(_QUESTION, "")) for line in lines))
    for source in sources:
        for path in list_evidence_files(study, source):
            yield from _find_stale(interviews, _rows(path))
    for strand in study.in_each_strand():
        candidates = strand.funnel_folder / CANDIDATES
        if candidates.is_file() and "source" in pq.read_schema(candidates).names:
            yield from _find_stale(interviews, _rows(candidates, sources))


def refuse_stale_items(interviews: Interviews | None, viewer: str) -> None:
    """Raises StateError if items that a viewer other than the lead would see contain a known name."""
    if interviews is None or viewer == interviews.coding.lead or not (interviews.study.root / FOLDER).is_dir():
        return

    def has_names() -> bool:
        return any(list_open_places(interviews)) or any(find_stale_items(interviews))

    if interviews.remembered("items with names", _stamp(interviews), has_names):
        raise StateError(
            "a name in these interviews became known after their items were built: search is available again once the "
            "lead has run `quaestor interview items`, `quaestor ingest turns` and `quaestor funnel`"
        )


def _stamp(interviews: Interviews) -> object:
    """Returns a stamp that changes with the names, the transcripts, and the files that contain their words."""
    return interviews.file.read_head(), get_finder(interviews), stamp_item_files(interviews.study)


def stamp_item_files(study: Study) -> tuple[object, ...]:
    """Returns a stamp that changes with the files that contain words of transcripts."""
    candidates = (strand.funnel_folder / CANDIDATES for strand in study.in_each_strand())
    files = [*(study.root / FOLDER).glob("*.csv"), *candidates]
    written = [path.stat().st_mtime_ns if path.exists() else 0 for path in files]
    return *written, *(evidence_stamp(study, source) for source in list_sources_in_folder(study, FOLDER))


def _rows(path: Path, sources: Sequence[str] = ()) -> list[tuple[str, str, str]]:
    """Reads the ids, bodies and questions of a table's items, of some sources or all."""
    there = set(pq.read_schema(path).names)
    if not {_ITEM, _BODY} <= there:
        return []
    columns = [column for column in (_ITEM, _BODY, _QUESTION) if column in there]
    table = pq.read_table(path, columns=columns, filters=[("source", "in", list(sources))] if sources else None)
    return [(str(row[_ITEM]), row[_BODY] or "", str(row.get(_QUESTION) or "")) for row in table.to_pylist()]


def _find_stale(interviews: Interviews, items: Iterable[tuple[str, str, str]]) -> Iterator[StaleItem]:
    turns = {
        build_item_id(talk.interview, turn.number): (talk.interview, turn)
        for talk in interviews.transcripts()
        for turn in talk.turns
    }
    questions_by_item: dict[str, list[str]] = {}
    for item, body, question in items:
        interview, turn = turns.get(item, (item.rpartition("/")[0], None))
        if turn is None or body != as_html(turn.text):
            yield from (StaleItem(interview, shown) for shown in _find_names(interviews, turn, body))
        if question not in questions_by_item:
            questions_by_item[question] = [name.shown for name in get_finder(interviews).find_sure_names(question)]
        yield from (StaleItem(interview, shown) for shown in questions_by_item[question])


def _find_names(interviews: Interviews, turn: SpokenTurn | None, body: str) -> Iterator[str]:
    """Yields the replacements of names that a stale text still contains."""
    text = html.unescape(body)
    for replacement in turn.replacements if turn else ():
        if turn and turn.raw[replacement.start : replacement.end] in text:
            yield replacement.shown
    yield from (name.shown for name in get_finder(interviews).find_sure_names(text))
