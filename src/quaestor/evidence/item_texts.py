"""An item as somebody reads it, from evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import ibis.expr.types as ir

from quaestor.base.names import is_storable
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.engine import engine
from quaestor.evidence.items import choose_rows, item_id, item_link, read_answers, read_items
from quaestor.study.contributions import TextMask
from quaestor.study.folder import Study

_LONGEST = 60_000


@dataclass(frozen=True)
class ItemText:
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


def mask_item_text(mask: TextMask, text: ItemText) -> ItemText:
    """Returns an item without known names; what was prepared for a page is prepared again."""
    title, body = mask.item_text(text.item, text.title, text.body)
    if (title, body) == (text.title, text.body):
        return text
    return replace(text, title=title, body=body, is_prepared=False)


Prepare = Callable[[ItemText], ItemText]
"""What makes an item ready for a page beforehand; a function of a module, so that another process finds it."""


def read_item_texts(study: Study, items: Sequence[str], source: str = "") -> dict[str, ItemText]:
    """Items of a source, or of the funnel's, with their accepted answers; an id that it does not hold is missing."""
    items = [item for item in items if is_storable(item)]
    if not items or not study.settings.sources:
        return {}
    evidence = study.evidence_of(source or study.funnel_source())
    manifest = read_manifest(evidence)
    if manifest is None or not any(table.rows for table in manifest.tables.values()):
        return {}
    study.funnel_folder.mkdir(parents=True, exist_ok=True)
    with engine(study.funnel_folder) as connection:
        rows = _choose_items(read_items(connection, evidence), manifest.site, items).to_pyarrow().to_pylist()
        accepted = [row["accepted_answer_id"] for row in rows if row.get("accepted_answer_id")]
        answers = read_answers(connection, evidence) if accepted else None
        if answers is not None:
            texts = choose_rows(answers, "id", accepted).select("id", "body").to_pyarrow().to_pylist()
            bodies = {text["id"]: text["body"] for text in texts}
            rows = [{**row, "answer_body": bodies.get(row["accepted_answer_id"])} for row in rows]
    return {row["item"]: _item_text(study, row) for row in rows}


def _choose_items(rows: ir.Table, site: str, items: Sequence[str]) -> ir.Table:
    """Some items, by number where they have one: then most of a large file need not be read."""
    if "item" in rows.columns:
        return choose_rows(rows, "item", items)
    start = f"{site}/question/"
    numbers = {item.removeprefix(start) for item in items if item.startswith(start)}
    wanted = [int(number) for number in numbers if number.isascii() and number.isdigit() and len(number) < 19]
    rows = choose_rows(rows, "id", wanted) if wanted else rows.filter(False)
    return rows.mutate(item=item_id(rows, site))


def _item_text(study: Study, row: dict[str, object]) -> ItemText:
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
        views=_whole(row.get("view_count")),
        score=_whole(row.get("score")),
        author=str(row.get("owner_display_name") or (f"user {number}" if number else "")),
        licence=str(row.get("content_license") or ""),
        link=item_link(study, item),
        answer=str(row.get("answer_body") or "")[:_LONGEST],
    )


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def read_titles(study: Study, items: Sequence[str], mask: TextMask) -> dict[str, str]:
    """Returns masked titles; an item's id where neither the funnel's source nor that of the results has it."""
    titles = {item: item for item in items}
    if not items or not study.settings.sources:
        return titles
    texts = read_item_texts(study, items)
    missing = [item for item in items if item not in texts]
    if missing and study.results_source() != study.funnel_source():
        texts |= read_item_texts(study, missing, study.results_source())
    return titles | {item: mask_item_text(mask, text).title for item, text in texts.items()}
