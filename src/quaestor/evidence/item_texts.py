"""The text of items as people read them, from evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from quaestor.base.names import is_storable
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.engine import engine, ir
from quaestor.evidence.items import choose_rows, item_link, read_answers, read_items
from quaestor.evidence.live_items import read_live_table
from quaestor.study.contributions import TextMask
from quaestor.study.features import find_live_source
from quaestor.study.folder import Study

_LONGEST = 60_000


@dataclass(frozen=True)
class ItemText:
    """An item as its author wrote it; none of it can be trusted on a page."""

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
    """The accepted answer, if any."""
    is_prepared: bool = False
    """Whether body and answer have been laid out for a page; the page itself sanitizes them last."""


def mask_item_text(mask: TextMask, text: ItemText) -> ItemText:
    """Returns an item without known names; if that changes it, its text must be prepared for a page again."""
    title, body = mask.item_text(text.item, text.title, text.body)
    if (title, body) == (text.title, text.body):
        return text
    return replace(text, title=title, body=body, is_prepared=False)


Prepare = Callable[[ItemText], ItemText]
"""Lays out an item's text for a page in advance; must be a module-level function, so that it can be pickled."""


def read_item_texts(study: Study, items: Sequence[str], source: str = "") -> dict[str, ItemText]:
    """Reads items of a source (by default those of the item's strand) with accepted answers; omits unknown ids."""
    if not study.settings.sources:
        return {}
    items_by_strand: dict[str, list[str]] = {}
    for item in filter(is_storable, items):
        items_by_strand.setdefault(study.in_strand_of(item).strand, []).append(item)
    texts: dict[str, ItemText] = {}
    for strand, strand_items in items_by_strand.items():
        own = study.in_strand(strand)
        for own_source in (source,) if source else own.funnel_sources():
            texts |= _read_source_texts(own, strand_items, own_source)
    return texts


def _read_source_texts(study: Study, items: Sequence[str], source: str) -> dict[str, ItemText]:
    live = find_live_source(study, source)
    if live is not None:
        table, ids = read_live_table(study, source, live), pa.array([item.removeprefix(study.prefix) for item in items])
        chosen_rows = table.filter(pc.is_in(table["item"], ids)).to_pylist()
        with_strand = ({**row, "item": f"{study.prefix}{row['item']}"} for row in chosen_rows)
        return {row["item"]: _build_item_text(study, row) for row in with_strand}
    evidence = study.evidence_of(source)
    manifest = read_manifest(evidence)
    if manifest is None or not any(table.rows for table in manifest.tables.values()):
        return {}
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        chosen = _choose_items(read_items(connection, study, source), f"{study.prefix}{manifest.site}", items)
        rows = chosen.to_pyarrow().to_pylist()
        accepted = [row["accepted_answer_id"] for row in rows if row.get("accepted_answer_id")]
        answers = read_answers(connection, evidence) if accepted else None
        if answers is not None:
            answer_rows = choose_rows(answers, "id", accepted).select("id", "body").to_pyarrow().to_pylist()
            bodies = {row["id"]: row["body"] for row in answer_rows}
            rows = [{**row, "answer_body": bodies.get(row["accepted_answer_id"])} for row in rows]
    return {row["item"]: _build_item_text(study, row) for row in rows}


def _choose_items(rows: ir.Table, site: str, items: Sequence[str]) -> ir.Table:
    """Selects items; questions by their number, so that most of a large Parquet file is skipped."""
    if "row_number" in rows.columns:
        return choose_rows(rows, "item", items)
    start = f"{site}/question/"
    numbers = {item.removeprefix(start) for item in items if item.startswith(start)}
    ids = [int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 19]
    return choose_rows(rows, "id", ids) if ids else rows.filter(False)


def _build_item_text(study: Study, row: dict[str, object]) -> ItemText:
    created = row.get("creation_date")
    number = row.get("owner_user_id")
    tags = row.get("tags")
    item = str(row["item"])
    return ItemText(
        item=item,
        title=str(row.get("title") or item),
        body=str(row.get("body") or "")[:_LONGEST],
        tags=tuple(tags) if isinstance(tags, list) else (),
        created=created.date().isoformat() if hasattr(created, "date") else "",
        views=_as_int(row.get("view_count")),
        score=_as_int(row.get("score")),
        author=str(row.get("owner_display_name") or (f"user {number}" if number else "")),
        licence=str(row.get("content_license") or ""),
        link=item_link(study, item),
        answer=str(row.get("answer_body") or "")[:_LONGEST],
    )


def _as_int(value: object) -> int | None:
    return value if isinstance(value, int) else None


def read_titles(study: Study, items: Sequence[str], mask: TextMask) -> dict[str, str]:
    """Returns masked titles; an item in neither the funnel's nor the results' sources has its id as title."""
    titles = {item: item for item in items}
    if not items or not study.settings.sources:
        return titles
    texts = read_item_texts(study, items)
    missing, results_source = [item for item in items if item not in texts], study.settings.results.source
    if missing and results_source is not None and results_source not in study.funnel_sources():
        texts |= read_item_texts(study, missing, results_source)
    return titles | {item: mask_item_text(mask, text).title for item, text in texts.items()}
