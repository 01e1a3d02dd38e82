"""The tables of a publication that count answers, computed anew: number, share and base of every row."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.publish.audit.compare import number_alone
from quaestor.publish.records import Cell, Column, Group, Row, Table
from quaestor.publish.shown import percent, whole
from quaestor.study.results.printed import Printed
from quaestor.study.surveys.printed_audit import Asked
from quaestor.study.surveys.printed_figures import Counted, Figure, counted

_COLUMNS = (Column("n", "n"), Column("share", "share"), Column("base", "base"), Column("printed", "printed"))


def figure_tables(printed: Printed, figures: Sequence[Figure], asked: Asked) -> tuple[Table, ...]:
    """One table for each that is printed; of figures printed in two ways the count is shown."""
    counts = [one for one in figures if not one.percent]
    found = counted(counts, asked.responses)
    titles = printed.settings.answers.titles if printed.settings.answers is not None else {}
    note = f"Of {len(asked.responses):,} responses; each share is one of those who answered the question."
    tables = []
    for name in dict.fromkeys(one.key[0] for one in counts):
        own = [one for one in counts if one.key[0] == name]
        groups = [
            Group(title, tuple(_row(one, found[one.key], printed) for one in own if one.title == title))
            for title in dict.fromkeys(one.title for one in own)
        ]
        tables.append(Table(name, titles.get(name, name), "", _COLUMNS, tuple(groups), notes=(note,)))
    return tuple(tables)


def _row(figure: Figure, found: Counted, printed: Printed) -> Row:
    count = int(found.value or 0)
    share = count / found.base if found.base else None
    text = printed.cell(":".join(figure.key))
    cells = (
        Cell((whole(count),), (count,)),
        Cell((percent(share),), (share,)),
        Cell((whole(found.base),), (found.base,)),
        Cell((text,), (number_alone(text),)),
    )
    name = figure.key[1]
    return Row(name, name.partition(": ")[2] or name if figure.title else name, cells)
