"""The truth about a synthetic dump, stored with it so that later counts can be checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.base.table_files import Cell, format_csv
from quaestor.synth.phrases import TOPICS, list_phrases
from quaestor.synth.plan import Medians
from quaestor.synth.planting import PlantedFigures, compute_correlation
from quaestor.synth.post_layout import SyntheticPosts
from quaestor.synth.questions import Flags, Numbers

PLANTED_COLUMNS = ("issue", "text", "viewcount", "score", "response_days")
"""The columns of truth-items.csv that only refined questions fill."""

_DAY = 86_400_000


@dataclass(frozen=True)
class GroupTruth:
    """The refined posts about an object, or of a whole phase if the object is empty."""

    phase: str
    object: str
    posts: Mapping[str, int]
    medians: Medians


@dataclass(frozen=True)
class TaxonomyTruth:
    """The posts and medians of every phase and object, and the correlations of the posts' figures."""

    phases: tuple[GroupTruth, ...]
    objects: tuple[GroupTruth, ...]
    issues: Mapping[tuple[str, str], int]
    viewcount_and_score: float
    viewcount_and_response: float

    def as_json(self) -> dict[str, Any]:
        """The values for truth.json, in its order."""
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


def find_taxonomy(layout: SyntheticPosts, frameworks: tuple[str, ...]) -> TaxonomyTruth | None:
    """Counts the planted posts of each phase, object and issue; None if no taxonomy was planted."""
    planted = layout.planted
    if planted is None:
        return None
    days = compute_response_days(layout, planted)
    phrases = [list_phrases()[number] for number in planted.phrase.tolist()]
    groups: dict[tuple[str, str], list[int]] = {}
    issues: dict[tuple[str, str], int] = {}
    for number, phrase in enumerate(phrases):
        groups.setdefault((phrase.phase, ""), []).append(number)
        groups.setdefault((phrase.phase, phrase.object), []).append(number)
        issues[phrase.phase, phrase.issue] = issues.get((phrase.phase, phrase.issue), 0) + 1
    rows = []
    for (phase, name), numbers in sorted(groups.items()):
        members = np.array(numbers)
        amounts = np.bincount(layout.questions.framework[members], minlength=len(frameworks)).tolist()
        posts = dict(zip(frameworks, amounts, strict=True))
        rows.append(GroupTruth(phase, name, posts, _medians(members, planted, days)))
    return TaxonomyTruth(
        phases=tuple(group for group in rows if not group.object),
        objects=tuple(group for group in rows if group.object),
        issues=dict(sorted(issues.items())),
        viewcount_and_score=compute_correlation(planted.views, planted.scores),
        viewcount_and_response=compute_correlation(planted.views, days),
    )


def compute_response_days(layout: SyntheticPosts, planted: PlantedFigures) -> npt.NDArray[np.float64]:
    """Computes the days from each refined question to its accepted answer, to two decimals."""
    refined = np.arange(len(planted))
    accepted = layout.created[len(layout.questions) + layout.first_answer[refined]]
    return np.round((accepted - layout.created[refined]) / _DAY, 2)


def format_planted_cells(layout: SyntheticPosts, numbers: Numbers) -> list[tuple[Cell, ...]]:
    """Returns the planted columns of questions given by number, empty if nothing was planted."""
    planted = layout.planted
    if planted is None:
        return [() for _ in numbers]
    days = compute_response_days(layout, planted).tolist()
    cells: list[tuple[Cell, ...]] = []
    for number in numbers.tolist():
        if number >= len(planted):
            cells.append(("",) * len(PLANTED_COLUMNS))
            continue
        phrase = list_phrases()[int(planted.phrase[number])]
        figures = int(planted.views[number]), int(planted.scores[number]), f"{days[number]:.2f}"
        cells.append((phrase.issue, phrase.text, *figures))
    return cells


def _medians(members: Numbers, planted: PlantedFigures, days: npt.NDArray[np.float64]) -> Medians:
    views, scores = np.median(planted.views[members]), np.median(planted.scores[members])
    return Medians(float(views), float(scores), round(float(np.median(days[members])), 4))


def _group_as_json(group: GroupTruth) -> dict[str, Any]:
    named = {"object": group.object} if group.object else {}
    return {"phase": group.phase, **named, "posts": dict(group.posts), **asdict(group.medians)}


TRUTH_FILE, ITEMS_FILE = "truth.json", "truth-items.csv"
_ITEM_COLUMNS = (
    "id",
    "framework",
    "year",
    "how_to",
    "accepted",
    "closed",
    "topic",
    "phase",
    "verb",
    "object",
)


@dataclass(frozen=True)
class FunnelTruth:
    """The number of questions that enter and pass a funnel step."""

    step: str
    entering: int
    leaving: int


@dataclass(frozen=True)
class Truth:
    """The counts of a dump, as in truth.json."""

    seed: int
    posts: int
    questions: int
    answers: int
    accepted: int
    closed: int
    tag_syntax: str
    rows: Mapping[str, int]
    funnel: tuple[FunnelTruth, ...]
    refined: int
    yearly: Mapping[str, Mapping[int, int]]
    taxonomy: TaxonomyTruth | None = None
    synthetic: bool = True

    def as_json(self) -> dict[str, Any]:
        """The values for truth.json, in its order."""
        return {
            "synthetic": self.synthetic,
            "seed": self.seed,
            "posts": self.posts,
            "questions": self.questions,
            "answers": self.answers,
            "accepted": self.accepted,
            "closed": self.closed,
            "tag_syntax": self.tag_syntax,
            "rows": dict(self.rows),
            "funnel": [{"step": step.step, "in": step.entering, "out": step.leaving} for step in self.funnel],
            "refined": self.refined,
            "yearly": {name: {str(year): n for year, n in years.items()} for name, years in self.yearly.items()},
            **({"taxonomy": self.taxonomy.as_json()} if self.taxonomy else {}),
        }


def find_truth(
    layout: SyntheticPosts, frameworks: tuple[str, ...], rows: Mapping[str, int], seed: int, tag_syntax: str
) -> Truth:
    """Counts the layout step by step instead of repeating the plan."""
    questions = layout.questions
    steps = {
        "tagged": questions.framework >= 0,
        "how-to": questions.how_to,
        "accepted": layout.accepted,
        "open": ~questions.closed,
    }
    inside = np.ones(len(questions), bool)
    funnel = []
    for name, passes in steps.items():
        narrower = inside & passes
        funnel.append(FunnelTruth(name, int(inside.sum()), int(narrower.sum())))
        inside = narrower
    refined = inside & (questions.topic == 0)
    return Truth(
        seed=seed,
        posts=layout.posts,
        questions=len(questions),
        answers=len(layout.parent),
        accepted=int(layout.accepted.sum()),
        closed=int(questions.closed.sum()),
        tag_syntax=tag_syntax,
        rows=rows,
        funnel=tuple(funnel),
        refined=int(refined.sum()),
        yearly=_count_years(layout, frameworks, refined),
        taxonomy=find_taxonomy(layout, frameworks),
    )


def write_truth(folder: Path, truth: Truth, layout: SyntheticPosts, frameworks: tuple[str, ...]) -> None:
    """Writes truth.json and, for each tagged how-to question, a row of truth-items.csv."""
    text = json.dumps(truth.as_json(), indent=2, ensure_ascii=False)
    (folder / TRUTH_FILE).write_text(text + "\n", encoding="utf-8")
    columns = _ITEM_COLUMNS + (PLANTED_COLUMNS if layout.planted else ())
    items = format_csv([columns, *_items(layout, frameworks)], line_end="\n")
    (folder / ITEMS_FILE).write_text(items, encoding="utf-8", newline="")


def _items(layout: SyntheticPosts, frameworks: tuple[str, ...]) -> list[tuple[Cell, ...]]:
    questions = layout.questions
    numbers = np.flatnonzero((questions.framework >= 0) & questions.how_to)
    numbers = numbers[np.argsort(layout.rank[numbers])]
    columns = (
        layout.ids_of(numbers).tolist(),
        [frameworks[number] for number in questions.framework[numbers].tolist()],
        _years(layout, numbers).tolist(),
        ["true"] * len(numbers),
        ["true" if accepted else "false" for accepted in layout.accepted[numbers].tolist()],
        ["true" if closed else "false" for closed in questions.closed[numbers].tolist()],
        [TOPICS[topic] for topic in questions.topic[numbers].tolist()],
        *zip(*(_place_of(phrase) for phrase in questions.phrase[numbers].tolist()), strict=True),
    )
    rows = zip(*columns, strict=True) if len(numbers) else ()
    return [(*row, *cells) for row, cells in zip(rows, format_planted_cells(layout, numbers), strict=True)]


def _place_of(phrase: int) -> tuple[str, str, str]:
    if phrase < 0:
        return "", "", ""
    entry = list_phrases()[phrase]
    return entry.phase, entry.verb, entry.object


def _count_years(layout: SyntheticPosts, frameworks: tuple[str, ...], chosen: Flags) -> dict[str, dict[int, int]]:
    counts = {}
    for number, name in enumerate(frameworks):
        years = _years(layout, np.flatnonzero(chosen & (layout.questions.framework == number)))
        distinct, amounts = np.unique(years, return_counts=True)
        counts[name] = dict(zip(distinct.tolist(), amounts.tolist(), strict=True))
    return counts


def _years(layout: SyntheticPosts, numbers: Numbers) -> Numbers:
    asked_at = layout.questions.asked_at[numbers].astype("datetime64[ms]")
    return asked_at.astype("datetime64[Y]").astype(np.int64) + 1970
