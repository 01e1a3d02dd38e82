"""Everything a search finds, as CSV that grows line by line and that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from quaestor.base.spreadsheets import harmless
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


def csv_of(study: Study, coding: Coding | None, index: Index, wanted: Wanted, viewer: Viewer) -> Iterator[str]:
    """The whole result, some lines at a time, in the order of the evidence; what cannot be asked is refused at once."""
    steps = tuple(step.step for step in standing_result(study, coding).steps)
    with index.reading() as connection:
        asked = question(study, coding, index, connection, wanted, viewer)
    with looking(coding) as state:
        facets = list(Outcomes(Sight(state, study.settings.study.lead, viewer)).facets)
    return _lines(study, coding, index, asked, viewer, steps, facets)


def _lines(
    study: Study, coding: Coding | None, index: Index, asked: Question, viewer: Viewer,
    steps: Sequence[str], facets: Sequence[str],
) -> Iterator[str]:  # fmt: skip
    linked = study.source(study.funnel_source()).kind == "stackexchange"
    yield _csv([[*_FIXED, *(f"decided: {facet}" for facet in facets)]])
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
        yield _csv(
            [
                item, title, created, " ".join(tags.split("\n")), score, views,
                author if viewer.sees_names or not author else ASKER, link_of(item) if linked else "",
                steps[fell_at] if fell_at < len(steps) else "",
                *(answers.get(facet, "") for facet in facets),
            ]
            for (_, item, title, created, tags, score, views, author, fell_at), answers in zip(
                rows, decided, strict=True
            )
        )  # fmt: skip
        after = rows[-1][0]


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([harmless(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return text.getvalue()
