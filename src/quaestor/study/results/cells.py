"""The items behind a cell of the report."""

from __future__ import annotations

from quaestor.corpus.records import Example
from quaestor.publish.records import Selection
from quaestor.study.folder import Study
from quaestor.study.results.decided import Results, results_of
from quaestor.study.results.tables import items_of_cell


def items_behind(study: Study, cell: str) -> tuple[list[Example], str]:
    """The items of `TABLE:ROW:COLUMN` as a list shows them, and in words what they have in common."""
    results = results_of(study)
    items, selection = items_of_cell(study, results, cell)
    return [_example(results, item) for item in items], in_words(results, selection)


def _example(results: Results, item: str) -> Example:
    one = results.known[item]
    created = one.created.date().isoformat() if one.created else ""
    return Example(item, one.title, one.tags, created, one.score, one.views, link=one.link)


def in_words(results: Results, selection: Selection) -> str:
    """What the items of a selection have in common."""
    parts = []
    for name, keys in selection.conditions:
        attribute = results.decided.attribute(name)
        parts.append(f"{name} {' or '.join(attribute.title(key) if key else 'none' for key in keys)}")
    return ", ".join(parts) or "all decided items"
