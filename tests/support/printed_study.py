"""The printed study as decided items: as many as table 3 prints, with the medians that table 14 prints."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from quaestor.coding.model.codebook.file import read_codebook
from quaestor.coding.model.codebook.history import History
from quaestor.measures.item_columns import NONE, Attribute, DecidedItems, build_attribute
from quaestor.publication.results.citations import label_codes, resolve_citations
from quaestor.publication.results.decided_codes import CodedItems
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.values import Computed
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import template_folder

FRAMEWORKS = ("tensorflow", "pytorch", "theano")
_VIEWS = {"D": 475, "M": 639, "T": 529, "P": 568, "E": 755, "R": 761, "V": 1047}
_DAYS = {"D": 0.08, "M": 0.15, "T": 0.11, "P": 0.1, "E": 0.05, "R": 0.33, "V": 0.14}
_SLOW = {"T18": 179.25, "P5": 128.43}
_GROUPS = ("transform-convert", "compute-operate", "create-initialize")


def dl_study() -> Study:
    """The bundled study with its cited codes resolved."""
    study, history = open_study(template_folder("dl-implementation-issues")), printed_codebook()
    return resolve_citations(study, history, history.latest, label_codes(study, [history.latest]))


def printed_codebook() -> History:
    history = History()
    history.record("codebook.import", read_codebook(template_folder("dl-implementation-issues") / "codebook.toml"))
    return history


def printed_rows() -> list[dict[str, str]]:
    path: Path = template_folder("dl-implementation-issues") / "printed" / "table03-taxonomy.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["object"] != "(total)"]


def printed_results() -> StudyResults:
    """One item for each post that table 3 prints."""
    book = printed_codebook().latest
    cited = label_codes(open_study(template_folder("dl-implementation-issues")), [book])
    objects, frameworks = [], []
    for row in printed_rows():
        for name in FRAMEWORKS:
            objects += [row["code"]] * int(row[name])
            frameworks += [name] * int(row[name])
    count = len(objects)
    phases = [key[0] for key in objects]
    attributes = {
        "phase": _level(book, cited, "phase", phases),
        "object": _level(book, cited, "object", objects),
        "issue": _level(book, cited, "issue", [None] * count),
        "group": _across(book, "operation-group", "group", [_GROUPS[place % 3] if key == "D" else None
                                                           for place, key in enumerate(phases)]),
        "type": _across(book, "object-type", "type", _spread(book, "object-type", "type", objects)),
        "operation": _across(book, "operation-group", "operation",
                             _spread(book, "operation-group", "operation", objects)),
        "framework": build_attribute("framework", frameworks, [(name, name) for name in FRAMEWORKS]),
        "year": build_attribute("year", [str(2014 + place % 8) for place in range(count)]),
    }  # fmt: skip
    views = np.array([_VIEWS[key] for key in phases], np.float64)
    days = np.array([_SLOW.get(key, _DAYS[key[0]]) for key in objects], np.float64)
    numbers = {"viewcount": views, "score": views / 400, "response_days": days, "first_answer_days": days / 2}
    items = tuple(f"forum/question/{number}" for number in range(count))
    return StudyResults(DecidedItems(items, attributes, numbers), CodedItems(book, {}), {}, cited)


def _level(book, cited, level, keys) -> Attribute:  # type: ignore[no-untyped-def]
    at = book.active("issue", level)
    attribute = build_attribute(level, keys, [(cited[code.id], code.name) for code in at])
    return replace(attribute, parents=tuple(cited.get(code.parent, "") for code in at))


def _across(book, facet, level, keys) -> Attribute:  # type: ignore[no-untyped-def]
    at = book.active(facet, level)
    attribute = build_attribute(level, keys, [(code.id, code.name) for code in at])
    return replace(attribute, parents=tuple(code.parent for code in at))


def _spread(book, facet, level, objects) -> list[str | None]:  # type: ignore[no-untyped-def]
    codes = [code.id for code in book.active(facet, level)]
    return [codes[place % len(codes)] if key in ("M1", "M2", "M4") else None for place, key in enumerate(objects)]


def computed_from(results: StudyResults) -> Computed:
    return Computed(dl_study(), results)


def relabelled(results: StudyResults, attribute: str, change: dict[str, str]) -> StudyResults:
    """The same items, some of them under another value of an attribute (and of the phase, where an object moves)."""
    decided = results.decided
    found = decided.get_attribute(attribute)
    codes = found.codes.copy()
    for before, after in change.items():
        codes[found.codes == found.find_position(before)] = found.find_position(after) if after else NONE
    attributes = {**decided.attributes, attribute: replace(found, codes=codes)}
    return replace(results, decided=replace(decided, attributes=attributes))


def with_numbers(results: StudyResults, measure: str, change: Callable[[DecidedItems], np.ndarray]) -> StudyResults:
    decided = results.decided
    return replace(results, decided=replace(decided, numbers={**decided.numbers, measure: change(decided)}))
