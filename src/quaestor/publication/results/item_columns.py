"""Decided items as columns: codes from the journal, dates and numbers from the evidence."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from quaestor.base.errors import SettingsError, StateError
from quaestor.base.names import join_with_or
from quaestor.coding.model.codebook.history import find_last_import
from quaestor.coding.model.records import Code, Codebook
from quaestor.coding.model.state import State
from quaestor.evidence.facts_cache import find_item_facts
from quaestor.evidence.ingest import list_notes
from quaestor.evidence.item_facts import ItemFacts
from quaestor.measures.item_columns import Attribute, DecidedItems, Floats, build_attribute
from quaestor.publication.results.citations import label_codes
from quaestor.publication.results.decided_codes import CodedItems, ItemCodes, read_coded_items
from quaestor.study.folder import Study

YEAR = "year"


@dataclass(frozen=True)
class StudyResults:
    """Decided items as columns, and the facts about each item."""

    decided: DecidedItems
    coded: CodedItems
    known: Mapping[str, ItemFacts]
    keys: Mapping[str, str]
    """By code of the tree: its label, which is its key in the columns."""
    unknown: int = 0
    """Number of decided items that are not in the evidence."""
    undecided: int = 0
    """Number of items that the rounds behind the results have not decided."""
    synthetic: str = ""
    """The note on synthetic evidence; empty for real data."""


def compute_results(
    study: Study,
    state: State,
    version: int | None = None,
    like: StudyResults | None = None,
    *,
    with_excluded: bool = False,
) -> StudyResults:
    """Computes decided items; under another codebook version, with the labels of the results `like`."""
    coded = read_coded_items(study, state, version, with_excluded=with_excluded)
    known = like.known if like is not None else find_item_facts(study, coded.items)
    items = [item for item in coded.items if item in known]
    if not coded.items:
        reasons = {**coded.left_out, **({"excluded": coded.excluded} if coded.excluded else {})}
        why = "; ".join(f"{count:,} {reason}" for reason, count in reasons.items()) or "nothing is decided"
        raise StateError(
            f"{study.file}: results.code gives no item a code ({why}): name a facet with a single code, and keep items"
        )
    if not items:
        sources = join_with_or(map(repr, study.results_sources()))
        raise StateError(f"no decided item is in the evidence of {sources}: ingest the source again")
    rows = [known[item] for item in items]
    codes = [coded.items[item] for item in items]
    cited = _label_codes(study, state, coded.book, like)
    attributes = {
        **_levels(coded.book, study.settings.results.tree, codes, cited),
        **_build_cross_attributes(coded.book, study.settings.results.tree, codes),
        **_from_evidence(
            study, rows, {YEAR, *(level for facet in coded.book.facets.values() for level in facet.levels)}
        ),
    }
    decided = DecidedItems(tuple(items), attributes, _numbers(study, rows))
    synthetic = find_synthetic_note(study)
    return StudyResults(decided, coded, known, cited, len(coded.items) - len(items), synthetic=synthetic)


def find_synthetic_note(study: Study) -> str:
    """Returns the notes on synthetic evidence; empty for real data."""
    return "; ".join(note for note in list_notes(study) if "synthetic" in note.casefold())


def _label_codes(study: Study, state: State, book: Codebook, like: StudyResults | None) -> dict[str, str]:
    """Returns labels by id; those of an older version that differs from the taxonomy file go by the names of codes."""
    versions = state.history.versions[find_last_import(state.history.changes) or 1 :]
    if study.settings.results.taxonomy is None:
        return label_codes(study, versions)
    if like is None or all(book is not version for version in versions):
        return label_codes(study, [book])
    names = {like.coded.book.path_name(code).casefold(): label for code, label in like.keys.items()}
    return {code: names.get(book.path_name(code).casefold(), code) for code in book.codes}


def _levels(book: Codebook, tree: str, codes: Sequence[ItemCodes], cited: dict[str, str]) -> dict[str, Attribute]:
    """Builds one attribute per level of the tree; an item coded above a level has no value there."""
    if tree not in book.facets:
        raise StateError(f"the codebook has no facet {tree!r}: name one of {', '.join(book.facets)} as results.tree")
    attributes = {}
    distinct = {(code.code, code.place): code for code in codes}
    for level in book.facets[tree].levels:
        at_level = {place: _at_level(book, code, level) for place, code in distinct.items()}
        values = [at_level[code.code, code.place] for code in codes]
        at = book.active(tree, level)
        # A retired code keeps its items.
        at = [
            *at,
            *(book.codes[code] for code in sorted({value for value in values if value} - {code.id for code in at})),
        ]
        order = [(cited.setdefault(code.id, code.id), _build_title(code)) for code in at]
        attribute = build_attribute(level, [cited[value] if value else None for value in values], order)
        parents = tuple(cited.get(code.parent, "") for code in at)
        attributes[level] = replace(attribute, parents=parents)
    return attributes


def _build_title(code: Code) -> str:
    return code.name if code.active else f"{code.name} ({code.status})"


def _at_level(book: Codebook, coded: ItemCodes, level: str) -> str | None:
    code_at_level = book.at_level(coded.code, level)
    return code_at_level if code_at_level is not None or coded.place is None else book.at_level(coded.place, level)


def _build_cross_attributes(book: Codebook, tree: str, codes: Sequence[ItemCodes]) -> dict[str, Attribute]:
    attributes = {}
    for facet in book.facets.values():
        if facet.id == tree:
            continue
        for level in facet.levels:
            at = book.active(facet.id, level)
            values = [
                book.at_level(code.across[facet.id], level) if facet.id in code.across else None for code in codes
            ]
            attribute = build_attribute(level, values, [(code.id, code.name) for code in at])
            attributes[level] = replace(attribute, parents=tuple(code.parent for code in at))
    return attributes


def _from_evidence(study: Study, rows: Sequence[ItemFacts], used_names: Iterable[str]) -> dict[str, Attribute]:
    attributes = {YEAR: build_attribute(YEAR, [str(row.created.year) if row.created else None for row in rows])}
    for name, attribute in study.settings.attributes.items():
        if name in used_names:
            raise SettingsError(
                f"{study.file}: attributes.{name} has the same name as a level or the year: choose another"
            )
        if attribute.column is not None:
            attributes[name] = build_attribute(name, [row.columns[attribute.column] or None for row in rows])
            continue
        patterns = {family: study.settings.families[family] for family in attribute.first_of}
        order = [(family, family) for family in attribute.first_of]
        attributes[name] = build_attribute(name, [_first_family(row.tags, patterns) for row in rows], order)
    return attributes


def _first_family(tags: Sequence[str], families: Mapping[str, Sequence[str]]) -> str | None:
    """Returns the first family with a pattern that matches a tag, so that a post counts once."""
    for family, patterns in families.items():
        if any(fnmatch.fnmatchcase(tag.lower(), pattern.lower()) for tag in tags for pattern in patterns):
            return family
    return None


def _numbers(study: Study, rows: Sequence[ItemFacts]) -> dict[str, Floats]:
    decimals = study.settings.measures.days_decimals
    columns: dict[str, Sequence[float | None]] = {
        "viewcount": [row.views for row in rows],
        "score": [row.score for row in rows],
        "response_days": [row.response_days for row in rows],
        "first_answer_days": [row.first_answer_days for row in rows],
    }
    numbers = {}
    for name, values in columns.items():
        array = np.array([np.nan if value is None else value for value in values], np.float64)
        numbers[name] = np.round(array, decimals) if decimals is not None and name.endswith("_days") else array
    return numbers
