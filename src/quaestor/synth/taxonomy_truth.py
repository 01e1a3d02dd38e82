"""What a dump with a planted taxonomy is known to hold, counted from its posts rather than repeated from the plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.synth.layout import Layout
from quaestor.synth.medians import Numbers
from quaestor.synth.phrases import all_phrases
from quaestor.synth.planting import Planted, correlation
from quaestor.synth.taxonomy import Medians

PLANTED_COLUMNS = ("issue", "text", "viewcount", "score", "response_days")
"""What truth-items.csv says of a refined question beside what it says of every how-to question."""

_DAY = 86_400_000


@dataclass(frozen=True)
class GroupTruth:
    """The refined posts about one object, or of one phase where the object is empty."""

    phase: str
    object: str
    posts: Mapping[str, int]
    medians: Medians


@dataclass(frozen=True)
class TaxonomyTruth:
    """The posts and medians of every phase and object, and how the figures of the posts go together."""

    phases: tuple[GroupTruth, ...]
    objects: tuple[GroupTruth, ...]
    issues: Mapping[tuple[str, str], int]
    viewcount_and_score: float
    viewcount_and_response: float

    def as_json(self) -> dict[str, Any]:
        """Plain values, in the order in which truth.json shows them."""
        return {
            "phases": [_group_as_json(group) for group in self.phases],
            "objects": [_group_as_json(group) for group in self.objects],
            "issues": [
                {"phase": phase, "issue": issue, "posts": posts} for (phase, issue), posts in self.issues.items()
            ],
            "pearson": {
                "viewcount_and_score": round(self.viewcount_and_score, 4),
                "viewcount_and_response": round(self.viewcount_and_response, 4),
            },
        }


def find_taxonomy(layout: Layout, frameworks: tuple[str, ...]) -> TaxonomyTruth | None:
    """Count the planted posts of each phase, object and issue; none where no taxonomy was planted."""
    planted = layout.planted
    if planted is None:
        return None
    days = response_days(layout, planted)
    phrases = [all_phrases()[number] for number in planted.phrase.tolist()]
    groups: dict[tuple[str, str], list[int]] = {}
    issues: dict[tuple[str, str], int] = {}
    for number, phrase in enumerate(phrases):
        groups.setdefault((phrase.phase, ""), []).append(number)
        groups.setdefault((phrase.phase, phrase.object), []).append(number)
        issues[phrase.phase, phrase.issue] = issues.get((phrase.phase, phrase.issue), 0) + 1
    found = []
    for (phase, name), numbers in sorted(groups.items()):
        members = np.array(numbers)
        amounts = np.bincount(layout.questions.framework[members], minlength=len(frameworks)).tolist()
        posts = dict(zip(frameworks, amounts, strict=True))
        found.append(GroupTruth(phase, name, posts, _medians(members, planted, days)))
    return TaxonomyTruth(
        phases=tuple(group for group in found if not group.object),
        objects=tuple(group for group in found if group.object),
        issues=dict(sorted(issues.items())),
        viewcount_and_score=correlation(planted.views, planted.scores),
        viewcount_and_response=correlation(planted.views, days),
    )


def response_days(layout: Layout, planted: Planted) -> npt.NDArray[np.float64]:
    """Days from each refined question to its accepted answer, to two decimals."""
    refined = np.arange(len(planted))
    accepted = layout.created[len(layout.questions) + layout.first_answer[refined]]
    return np.round((accepted - layout.created[refined]) / _DAY, 2)


def planted_cells(layout: Layout, numbers: Numbers) -> list[tuple[object, ...]]:
    """The planted columns of questions given by number, empty where nothing was planted."""
    planted = layout.planted
    if planted is None:
        return [() for _ in numbers]
    days = response_days(layout, planted).tolist()
    cells: list[tuple[object, ...]] = []
    for number in numbers.tolist():
        if number >= len(planted):
            cells.append(("",) * len(PLANTED_COLUMNS))
            continue
        phrase = all_phrases()[int(planted.phrase[number])]
        figures = int(planted.views[number]), int(planted.scores[number]), f"{days[number]:.2f}"
        cells.append((phrase.issue, phrase.text, *figures))
    return cells


def _medians(members: Numbers, planted: Planted, days: npt.NDArray[np.float64]) -> Medians:
    views, scores = np.median(planted.views[members]), np.median(planted.scores[members])
    return Medians(float(views), float(scores), round(float(np.median(days[members])), 4))


def _group_as_json(group: GroupTruth) -> dict[str, Any]:
    named = {"object": group.object} if group.object else {}
    return {"phase": group.phase, **named, "posts": dict(group.posts), **asdict(group.medians)}
