"""The layout of a dump: all posts in the order of their dates, their ids and the links between them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.synth.plan import BEGIN, DEFAULT_FAMILIES, END, SynthPlan, minimum_posts, to_milliseconds
from quaestor.synth.planting import PlantedFigures, plant_taxonomy
from quaestor.synth.questions import (
    MAYBE,
    MUST,
    Flags,
    Numbers,
    Questions,
    Times,
    draw_natural_questions,
    draw_planned_questions,
)

BLOCK = 8_192
"""The number of rows built at once: large enough for fast arrays, small enough for constant memory."""

_SECOND, _HOUR = 1_000, 3_600_000
_SHARE_OF_QUESTIONS, _SHARE_ACCEPTED = 0.42, 0.62
_WIKI_PAIRS = 100
Indices = npt.NDArray[np.int32]


@dataclass(frozen=True)
class SyntheticPosts:
    """The posts by number (questions, then answers, then tag wikis) and by rank in the file."""

    questions: Questions
    accepted: Flags
    first_answer: Indices
    answers: Indices
    last_activity: Times
    parent: Indices
    created: Times
    order: Indices
    rank: Indices
    comments: npt.NDArray[np.uint8]
    users: int
    wiki_pairs: int
    planted: PlantedFigures | None = None

    @property
    def posts(self) -> int:
        return len(self.created)

    def ids_of(self, numbers: npt.NDArray[Any]) -> Numbers:
        """Returns the ids of posts given by number."""
        return compute_ids(self.rank[numbers])

    def wiki_numbers(self, pair: int) -> tuple[int, int]:
        """Returns the numbers of a tag's excerpt and wiki."""
        first = len(self.questions) + len(self.parent) + 2 * pair
        return first, first + 1


def compute_ids(ranks: npt.NDArray[Any]) -> Numbers:
    """Converts ranks to ascending ids with gaps, as if posts had been deleted."""
    wide = ranks.astype(np.int64)
    return wide + wide // 29 + 1


def make_layout(posts: int, plan: SynthPlan | None, rng: np.random.Generator) -> SyntheticPosts:
    """Decides everything that links posts to each other, so that rows can be written one by one."""
    spare = posts - (minimum_posts(plan) if plan else 0)
    pairs = min(_WIKI_PAIRS, spare // 4_000)
    fewest, promised = (plan.tagged, plan.accepted) if plan else (1, 0)
    total = max(fewest, min(round(posts * _SHARE_OF_QUESTIONS), posts - 2 * pairs - promised))
    questions = draw_planned_questions(plan, total, rng) if plan else draw_natural_questions(total, rng)
    planted = _plant(plan, questions, rng) if plan else None
    if planted:
        questions = replace(questions, phrase=np.concatenate([planted.phrase, questions.phrase[len(planted) :]]))
    parent = _choose_parents(questions, posts - total - 2 * pairs, rng)
    answered = _answer_times(questions.asked_at[parent], rng)
    answers = np.bincount(parent, minlength=total).astype(np.int32)
    first_answer = (np.cumsum(answers, dtype=np.int64) - answers).astype(np.int32)
    if planted:
        answered[first_answer[: len(planted)]] = questions.asked_at[: len(planted)] + planted.waits
    lucky = (questions.acceptance == MAYBE) & (answers > 0) & (rng.random(total) < _SHARE_ACCEPTED)
    wikis = rng.integers(to_milliseconds(BEGIN), to_milliseconds(END), 2 * pairs)
    created = np.concatenate([questions.asked_at, answered, wikis])
    order = np.argsort(created, kind="stable").astype(np.int32)
    rank = np.empty(posts, np.int32)
    rank[order] = np.arange(posts, dtype=np.int32)
    last_activity = questions.asked_at.copy()
    np.maximum.at(last_activity, parent, answered)
    return SyntheticPosts(
        questions=questions,
        accepted=(questions.acceptance == MUST) | lucky,
        first_answer=first_answer,
        answers=answers,
        last_activity=last_activity,
        parent=parent,
        created=created,
        order=order,
        rank=rank,
        comments=np.minimum(rng.geometric(0.55, posts) - 1, 40).astype(np.uint8),
        users=max(5, posts // 5),
        wiki_pairs=pairs,
        planted=planted,
    )


def _plant(plan: SynthPlan, questions: Questions, rng: np.random.Generator) -> PlantedFigures | None:
    if plan.taxonomy is None:
        return None
    refined = slice(0, plan.refined)
    return plant_taxonomy(
        plan.taxonomy, tuple(plan.families), questions.framework[refined], questions.asked_at[refined], rng
    )


def list_families(plan: SynthPlan | None) -> dict[str, tuple[str, ...]]:
    """The frameworks and their tags, in the order in which they claim a post."""
    return dict(plan.families if plan else DEFAULT_FAMILIES)


def _choose_parents(questions: Questions, total: int, rng: np.random.Generator) -> Indices:
    """Chooses the question of each answer: one per planned accepted answer, the others at random."""
    promised = np.flatnonzero(questions.acceptance == MUST).astype(np.int32)
    appeal = np.cumsum(rng.lognormal(0.0, 0.7, len(questions)))
    fallen = np.searchsorted(appeal, rng.random(total - len(promised)) * appeal[-1], side="right")
    parent = np.concatenate([promised, np.minimum(fallen, len(questions) - 1).astype(np.int32)])
    parent.sort()
    return parent


def _answer_times(times: Times, rng: np.random.Generator) -> Times:
    """Draws answer times: median two hours, a tail of months, after the question and before the dump ends."""
    delay = rng.lognormal(np.log(2 * _HOUR), 2.5, len(times)) + 45 * _SECOND
    room = to_milliseconds(END) - times
    late = delay >= room - _SECOND
    delay[late] = room[late] * rng.uniform(0.01, 0.99, int(late.sum()))
    return times + delay.astype(np.int64)
