"""What a search can be narrowed by, for the lists of a form."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.study.coding import Coding
from quaestor.study.folder import Study
from quaestor.study.search.index import Index
from quaestor.study.search.outcomes import Option, Outcomes
from quaestor.study.search.question import Recent, looking
from quaestor.study.search.standing import standing_result
from quaestor.study.sight import Sight, Viewer

_TAGS = 200
_KNOWN = Recent(8)


@dataclass(frozen=True)
class Choices:
    """Only what can find something is offered."""

    years: tuple[int, ...]
    tags: tuple[str, ...]
    """The most frequent ones."""
    steps: tuple[str, ...]
    rounds: tuple[str, ...]
    decisions: dict[str, tuple[Option, ...]]
    """By facet."""
    differ: bool
    """Whether there is a round whose disagreements the viewer may see."""


def choices_of(study: Study, coding: Coding | None, index: Index, viewer: Viewer) -> Choices:
    years, tags = _KNOWN.get(index.key, lambda: _spread(index))
    with looking(coding) as state:
        sight = Sight(state, study.settings.study.lead, viewer)
        return Choices(
            years,
            tags,
            tuple(step.step for step in standing_result(study, coding).steps),
            (*state.rounds, *state.published),
            Outcomes(sight).options(),
            any(not sight.why_no_disagreements(name) for name in state.rounds),
        )


def _spread(index: Index) -> tuple[tuple[int, ...], tuple[str, ...]]:
    with index.reading() as connection:
        years = connection.execute("SELECT DISTINCT year FROM items WHERE year IS NOT NULL ORDER BY year").fetchall()
        tags = connection.execute("SELECT tag FROM tag_counts ORDER BY items DESC, tag LIMIT ?", (_TAGS,)).fetchall()
    return tuple(year for (year,) in years), tuple(tag for (tag,) in tags)
