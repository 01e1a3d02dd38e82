"""Whether new interviews still say anything new."""

from __future__ import annotations

from quaestor.measures.interviews import Saturation, Stop, saturation
from quaestor.publish.records import Cell, Column, Group, Row, Table
from quaestor.publish.shown import ABSENT, decimal, percent, whole
from quaestor.study.interviews.theme_columns import INTERVIEW, QUOTATION, codes_by_interview, of
from quaestor.study.interviews.theme_records import Themes
from quaestor.study.interviews.theme_tables import base_notes

SATURATION = "saturation"


def saturation_of(themes: Themes) -> Saturation:
    return saturation(codes_by_interview(themes), themes.seed)


def saturation_table(themes: Themes) -> Table:
    """New codes interview by interview, and how many so many interviews give in other orders."""
    found = saturation_of(themes)
    seen: set[str] = set()
    rows = []
    for place, (interview, participant) in enumerate(themes.interviews):
        here = {one.code for one in themes.quotations if one.interview == interview}
        new = [one.id for one in themes.codes if one.id in here - seen]
        seen |= here
        quoted = [one.id for one in themes.quotations if one.interview == interview and one.code in new]
        names = ", ".join(one.name for one in themes.codes if one.id in new)
        so_far = of(INTERVIEW, *(name for name, _ in themes.interviews[: place + 1])) if seen else None
        cells = (
            Cell((whole(found.new[place]),), (found.new[place],), of(QUOTATION, *quoted) if quoted else None),
            Cell((whole(found.total[place]),), (found.total[place],), so_far),
            Cell((decimal(found.expected[place], 1),), (found.expected[place],)),
            Cell(
                (f"{decimal(found.low[place], 1)} to {decimal(found.high[place], 1)}",),
                (found.low[place], found.high[place]),
            ),
            Cell((names or ABSENT,)),
        )
        title = interview if interview == participant else f"{interview} ({participant})"
        rows.append(Row(interview, title, cells))
    columns = (
        Column("new", "new codes"),
        Column("total", "codes so far"),
        Column("expected", "on average"),
        Column("orders", "95% of orders", numbers=("low", "high")),
        Column("names", "which", numeric=False),
    )
    notes = (
        "On average: how many codes so many of these interviews give, over all their orders.",
        *(stop_in_words(one) for one in found.stops),
        *base_notes(themes),
    )
    title = "New codes interview by interview"
    return Table(SATURATION, title, "interview", columns, (Group("", tuple(rows)),), notes=notes)


def stop_in_words(stop: Stop) -> str:
    """What a rule says, as a sentence."""
    rule = stop.rule
    said = f"{rule.name} ({rule.base} + {rule.run})"
    if stop.undefined:
        return f"{said}: cannot be told yet, {stop.undefined}."
    if stop.reached is None:
        return f"{said}: not reached, the last {rule.run} interviews add {percent(stop.shares[-1])}."
    return f"{said}: reached after {stop.reached} interviews, as the {rule.run} after them show."
