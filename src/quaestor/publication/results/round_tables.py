"""Counts the decided codes of each round, for a study that names no final codes in [results]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quaestor.coding.model.decisions import find_excluded_items
from quaestor.coding.model.facet_kinds import find_kind
from quaestor.coding.model.facet_kinds.keep import KeepKind
from quaestor.coding.model.records import CANNOT_JUDGE, EVIDENCE, Facet
from quaestor.coding.model.state import CLOSED, RoundState, State
from quaestor.measures.descriptive import share
from quaestor.measures.item_columns import Attribute, DecidedItems, build_attribute
from quaestor.measures.records import Share
from quaestor.render.figures.records import ChoiceBar, FigurePlan
from quaestor.render.number_format import interval, percent, whole
from quaestor.render.table_model import Cell, Column, Group, Row, Selection, Table

_COUNTED = ("single", "multiple", KeepKind.name)
_YES = "yes"
_COLUMNS = (
    Column("items", "items"),
    Column("share", "share"),
    Column("interval", "95% CI", numbers=("95% CI low", "95% CI high")),
)


@dataclass(frozen=True)
class RoundResults:
    """A table and a figure for each coded facet of each round, and the items behind their numbers."""

    tables: tuple[Table, ...]
    figures: tuple[FigurePlan, ...]
    decided: DecidedItems
    simulated: bool


@dataclass(frozen=True)
class _FacetCounts:
    """The decided codes of one facet in one round."""

    round: str
    facet: Facet
    codes: dict[str, tuple[str, ...]]
    """By item: its codes under the latest codebook; none if it could not be judged or its code was split."""
    names: dict[str, str]
    excluded: int

    @property
    def several(self) -> bool:
        return find_kind(self.facet).has_several_codes

    def attribute(self, code: str) -> str:
        """Returns the name of the attribute that has a code: an item with several codes needs one for each."""
        name = f"{self.round}.{self.facet.id}"
        return f"{name}={code}" if self.several else name

    def select(self, code: str) -> Selection:
        return Selection(((self.attribute(code), (_YES if self.several else code,)),))


def has_round_results(state: State) -> bool:
    """Tells whether a closed main round has a decided code."""
    rounds = ((round_state, _list_facets(round_state)) for round_state in _list_rounds(state))
    return any(round_state.last_decisions(facet.id) for round_state, facets in rounds for facet in facets)


def compute_round_results(state: State) -> RoundResults | None:
    """Counts the codes of every closed main round on evidence; None if nothing is decided."""
    counted = [
        counts
        for round_state in _list_rounds(state)
        for facet in _list_facets(round_state)
        if (counts := _count(state, round_state, facet)).codes
    ]
    if not counted:
        return None
    items = tuple(sorted({item for counts in counted for item in counts.codes}))
    attributes = {attribute.name: attribute for counts in counted for attribute in _build_attributes(counts, items)}
    simulated = any(
        decision.simulated
        for round_state in _list_rounds(state)
        for facet in _list_facets(round_state)
        for decision in round_state.last_decisions(facet.id).values()
    )
    shares = [_count_shares(counts) for counts in counted]
    return RoundResults(
        tuple(map(_build_table, counted, shares)),
        tuple(map(_plan_figure, counted, shares)),
        DecidedItems(items, attributes, {}),
        simulated,
    )


def _list_rounds(state: State) -> list[RoundState]:
    """Lists closed main rounds on evidence; those on answers and transcripts belong to other sections."""
    return [
        round_state
        for round_state in state.rounds.values()
        if round_state.status == CLOSED
        and round_state.plan.kind == "main"
        and round_state.plan.origin in (EVIDENCE, "")
        and not any(find_kind(facet).has_fields for facet in round_state.plan.facets)
    ]


def _list_facets(round_state: RoundState) -> list[Facet]:
    return [facet for facet in round_state.plan.facets if facet.kind in _COUNTED]


def _count(state: State, round_state: RoundState, facet: Facet) -> _FacetCounts:
    book = state.history.latest
    excluded = find_excluded_items(state) if facet.kind != KeepKind.name else frozenset()
    decisions = round_state.last_decisions(facet.id)
    every = {other.id: round_state.last_decisions(other.id) for other in round_state.plan.facets}
    codes: dict[str, tuple[str, ...]] = {}
    kind = find_kind(facet)
    for item, decision in decisions.items():
        if item in excluded:
            continue
        label = None if decision.answer == CANNOT_JUDGE else kind.label(facet, decision.answer)
        chosen = [label] if isinstance(label, str) else sorted(label or ())
        if facet.codes:
            answers = {other: decided[item].answer for other, decided in every.items() if item in decided}
            readings = (state.history.find_code(code, book.version, item, answers).code for code in chosen)
            chosen = [code for code in readings if code is not None]
        codes[item] = tuple(dict.fromkeys(chosen))
    used = {code for chosen in codes.values() for code in chosen}
    names = {code: book.path_name(code) if facet.codes else code for code in used}
    return _FacetCounts(round_state.plan.round, facet, codes, names, len(excluded & decisions.keys()))


def _count_shares(counts: _FacetCounts) -> list[tuple[str, Share]]:
    """Returns each used code with its share of the decided items, the most frequent first."""
    often = Counter(code for chosen in counts.codes.values() for code in chosen)
    order = sorted(often, key=lambda code: (-often[code], counts.names[code].casefold()))
    return [(code, share(often[code], len(counts.codes))) for code in order]


def _build_attributes(counts: _FacetCounts, items: Sequence[str]) -> Iterator[Attribute]:
    order = [(code, counts.names[code]) for code, _ in _count_shares(counts)]
    if not counts.several:
        values = [next(iter(counts.codes.get(item, ())), None) for item in items]
        yield build_attribute(counts.attribute(""), values, order)
        return
    for code, name in order:
        having = [_YES if code in counts.codes.get(item, ()) else None for item in items]
        yield build_attribute(counts.attribute(code), having, [(_YES, name)])


def _build_table(counts: _FacetCounts, shares: Sequence[tuple[str, Share]]) -> Table:
    rows = []
    for code, of_items in shares:
        low, high = (None if bound is None else 100 * bound for bound in (of_items.low, of_items.high))
        cells = (
            Cell((whole(of_items.count),), (of_items.count,), counts.select(code)),
            Cell((percent(of_items.value),), (of_items.value,)),
            Cell((interval(low, high, 1),), (of_items.low, of_items.high)),
        )
        rows.append(Row(code, counts.names[code], cells))
    notes = [f"Base: {len(counts.codes):,} items decided in the round {counts.round}."]
    if counts.several:
        notes.append("An item can have several codes, so shares can add up to more than 100%.")
    if without := sum(not chosen for chosen in counts.codes.values()):
        notes.append(f"Without a code, counted in the base only: {without:,}.")
    if counts.excluded:
        notes.append(f"Not counted because raters excluded them: {counts.excluded:,}.")
    title = f"{counts.facet.id} in the round {counts.round}"
    return Table(
        f"{counts.round}-{counts.facet.id}", f"{title[0].upper()}{title[1:]}", counts.facet.id, _COLUMNS,
        (Group("", tuple(rows)),), notes=tuple(notes),
    )  # fmt: skip


def _plan_figure(counts: _FacetCounts, shares: Sequence[tuple[str, Share]]) -> FigurePlan:
    bars = [
        ChoiceBar(counts.names[code], of_items.count, of_items.value, of_items.low, of_items.high)
        for code, of_items in shares
    ]
    note = "several codes are possible" if counts.several else ""
    title = f"{counts.facet.id} in the round {counts.round}"
    keywords = {
        "note": note,
        "name": f"{counts.round}-{counts.facet.id}",
        "title": f"{title[0].upper()}{title[1:]}",
        "of": "decided items",
    }
    return FigurePlan("choices", (bars, len(counts.codes)), keywords)
