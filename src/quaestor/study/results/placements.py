"""How many items their words place in the lines of a table, and which are placed nowhere."""

from __future__ import annotations

from quaestor.measures.decided import NONE
from quaestor.publish.audit.records import Placement, Unplaced
from quaestor.publish.settings import PublishedTableSettings
from quaestor.study.results.counts import can_be_placed, part_of
from quaestor.study.results.decided import Results
from quaestor.study.results.values import Computed


def placements_of(computed: Computed) -> tuple[Placement, ...]:
    """One for each table that says what no line could take."""
    results = computed.results
    if results is None:
        return ()
    wanted = [one for one in computed.study.settings.tables if one.unplaced]
    return tuple(_placement(results, one) for one in wanted)


def _placement(results: Results, asked: PublishedTableSettings) -> Placement:
    part = part_of(results, asked).decided
    part = part.where(part.mask(can_be_placed(part, asked)))
    codes = part.attribute(asked.rows[-1]).codes
    missing = [item for item, code in zip(part.items, codes, strict=True) if code == NONE]
    placed = len(part) - len(missing)
    return Placement(
        asked.table, len(part), placed, tuple(_unplaced(results, item, _facet(results, asked)) for item in missing)
    )


def _facet(results: Results, asked: PublishedTableSettings) -> str:
    facets = results.coded.book.facets.values()
    return next((facet.id for facet in facets if asked.rows[-1] in facet.levels), "")


def _unplaced(results: Results, item: str, facet: str) -> Unplaced:
    coded, known = results.coded.items[item], results.known[item]
    verb, thing = coded.phrase
    label = ", ".join(one for one in (verb, thing, results.coded.book.path_name(coded.code)) if one)
    return Unplaced(item, label, coded.whys.get(facet, ""), known.title, known.link)
