"""Everything a search finds, as a table that grows some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from quaestor.base.tables import Cell, csv_text
from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.funnel import link_of
from quaestor.study.search.index import Index
from quaestor.study.search.outcomes import Outcomes
from quaestor.study.search.question import Question, looking, question
from quaestor.study.search.standing import standing_result
from quaestor.study.search.wanted import Wanted
from quaestor.study.sight import ASKER, Sight, Viewer

_FIXED = ("item", "title", "created", "tags", "score", "views", "author", "link", "fell out at")
_AT_ONCE = 1_000
Row = Sequence[Cell]


def csv_of(study: Study, coding: Coding | None, index: Index, wanted: Wanted, viewer: Viewer) -> Iterator[str]:
    """The whole result as CSV, some lines at a time; what cannot be asked is refused at once."""
    return map(csv_text, rows_of(study, coding, index, wanted, viewer))


def rows_of(
    study: Study, coding: Coding | None, index: Index, wanted: Wanted, viewer: Viewer
) -> Iterator[Sequence[Row]]:
    """The names of the columns, then the rows, some at a time, in the order of the evidence."""
    steps = tuple(step.step for step in standing_result(study, coding).steps)
    with index.reading() as connection:
        asked = question(study, coding, index, connection, wanted, viewer)
    with looking(coding) as state:
        facets = list(Outcomes(Sight(state, study.settings.study.lead, viewer)).facets)
    return _batches(study, coding, index, asked, viewer, steps, facets)


def _batches(
    study: Study, coding: Coding | None, index: Index, asked: Question, viewer: Viewer,
    steps: Sequence[str], facets: Sequence[str],
) -> Iterator[Sequence[Row]]:  # fmt: skip
    linked = study.source(study.funnel_source()).kind == "stackexchange"
    yield [[*_FIXED, *(f"decided: {facet}" for facet in facets)]]
    after = -1
    while True:
        # Asked anew for every thousand: nothing is held while a reader is slow.
        with index.reading() as connection:
            conditions = " AND ".join(part for part in (asked.conditions, "items.number > ?") if part)
            rows = connection.execute(
                "SELECT items.number, items.item, items.title, items.created, items.tags, items.score, items.views, "  # noqa: S608
                f"items.author, items.fell_at FROM {asked.tables} WHERE {conditions} ORDER BY items.number LIMIT ?",
                (*asked.values, after, _AT_ONCE),
            ).fetchall()
        if not rows:
            return
        with looking(coding) as state:
            outcomes = Outcomes(Sight(state, study.settings.study.lead, viewer))
            decided = [{one.facet: one.words for one in outcomes.about(row[1])} for row in rows]
        yield [
            [
                item, title, created, " ".join(tags.split("\n")), score, views,
                author if viewer.sees_names or not author else ASKER, link_of(item) if linked else "",
                steps[fell_at] if fell_at < len(steps) else "",
                *(answers.get(facet, "") for facet in facets),
            ]
            for (_, item, title, created, tags, score, views, author, fell_at), answers in zip(
                rows, decided, strict=True
            )
        ]  # fmt: skip
        after = rows[-1][0]
