"""An item as somebody reads it, from evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from quaestor.base.names import is_storable
from quaestor.corpus.engine import engine
from quaestor.corpus.evidence import read_manifest
from quaestor.corpus.questions import item_id, read_answers, read_questions
from quaestor.corpus.records import Manifest
from quaestor.study.folder import Study
from quaestor.study.funnel import link_of

_LONGEST = 60_000
_FEW = 1_000
"""Values that are named one by one; more are joined."""


@dataclass(frozen=True)
class Reading:
    """An item as its author wrote it; all of it comes from a stranger."""

    item: str
    title: str
    body: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    views: int | None = None
    score: int | None = None
    author: str = ""
    licence: str = ""
    link: str = ""
    answer: str = ""
    """The accepted answer, where there is one."""
    is_prepared: bool = False
    """Whether body and answer have been made ready for a page; the last step, which makes them safe, is the page's."""


Prepare = Callable[[Reading], Reading]
"""What makes an item ready for a page beforehand; a function of a module, so that another process finds it."""


def readings_of(study: Study, items: Sequence[str]) -> dict[str, Reading]:
    """Items with their accepted answers; an id that evidence does not hold is missing."""
    items = [item for item in items if is_storable(item)]
    evidence = study.evidence_of(study.funnel_source())
    manifest = read_manifest(evidence)
    if manifest is None or not items or not any(table.rows for table in manifest.tables.values()):
        return {}
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        questions = _chosen(read_questions(connection, evidence), manifest.site, items)
        found = questions.to_pyarrow().to_pylist()
        accepted = [row["accepted_answer_id"] for row in found if row.get("accepted_answer_id")]
        answers = read_answers(connection, evidence) if accepted else None
        if answers is not None:
            texts = _among(answers, "id", accepted).select("id", "body").to_pyarrow().to_pylist()
            bodies = {text["id"]: text["body"] for text in texts}
            found = [{**row, "answer_body": bodies.get(row["accepted_answer_id"])} for row in found]
    linked = _is_linked(manifest)
    return {row["item"]: _reading(row, linked) for row in found}


def _is_linked(manifest: Manifest) -> bool:
    """Whether items have an address in the world: that of an invented post is another's."""
    return "posts" in manifest.tables and not any("synthetic" in note.casefold() for note in manifest.notes)


def _chosen(questions: ir.Table, site: str, items: Sequence[str]) -> ir.Table:
    """Some questions, by number where they have one: then most of a large file need not be read."""
    if "item" in questions.columns:
        return _among(questions, "item", items)
    start = f"{site}/question/"
    numbers = {item.removeprefix(start) for item in items if item.startswith(start)}
    wanted = sorted(int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 19)
    rows = _among(questions, "id", wanted) if wanted else questions.filter(False)
    return rows.mutate(item=item_id(rows, site))


def _among(table: ir.Table, column: str, values: Sequence[Any]) -> ir.Table:
    """Rows with one of the values: few are named in the question, so that parts of a file are passed over."""
    wanted = sorted(set(values))
    if len(wanted) <= _FEW:
        return table.filter(table[column].isin(wanted))
    return table.semi_join(ibis.memtable(pa.table({column: wanted})), column)


def _reading(row: dict[str, object], linked: bool) -> Reading:
    """A row of evidence as somebody reads it."""
    created = row.get("creation_date")
    number = row.get("owner_user_id")
    tags = row.get("tags")
    item = str(row["item"])
    return Reading(
        item=item,
        title=str(row.get("title") or item),
        body=str(row.get("body") or "")[:_LONGEST],
        tags=tuple(tags) if isinstance(tags, list) else (),
        created=created.date().isoformat() if hasattr(created, "date") else "",
        views=_whole(row.get("view_count")),
        score=_whole(row.get("score")),
        author=str(row.get("owner_display_name") or (f"user {number}" if number else "")),
        licence=str(row.get("content_license") or ""),
        link=link_of(item) if linked else "",
        answer=str(row.get("answer_body") or "")[:_LONGEST],
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
