"""The properties of all questions, drawn before any text is written, as one array per property."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.synth.phrases import TOPIC_SHARES, TOPICS, list_natural_phrases
from quaestor.synth.plan import DEFAULT_FAMILIES, POSTS_BY_YEAR, SynthPlan, find_time_span, read_lifetime

Flags = npt.NDArray[np.bool_]
Times = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.int64]
Small = npt.NDArray[np.int8]

NEVER, MUST, MAYBE = 0, 1, 2
"""Whether a question has an accepted answer: fixed by the plan, or random if it has answers."""

TAGGED_SHARE, HOW_TO_SHARE, CLOSED_SHARE = 0.04, 0.16, 0.05


@dataclass(frozen=True)
class Questions:
    """One entry per question; framework, topic and phrase are -1 if there is none."""

    asked_at: Times
    framework: Small
    how_to: Flags
    topic: Small
    phrase: npt.NDArray[np.int16]
    acceptance: Small
    closed: Flags

    def __len__(self) -> int:
        return len(self.asked_at)


def draw_planned_questions(plan: SynthPlan, total: int, rng: np.random.Generator) -> Questions:
    """Draws the questions with exactly the planned counts, and others up to the total."""
    frameworks = tuple(plan.families)
    refined_years = [(frameworks.index(name), year) for name, year in plan.yearly]
    which = np.repeat(np.arange(len(refined_years)), list(plan.yearly.values()))
    framework, asked_at = _place(refined_years, which, frameworks, rng)
    free_framework, free_asked = _free_places(frameworks, plan.tagged - plan.refined, rng)
    framework, asked_at = np.concatenate([framework, free_framework]), np.concatenate([asked_at, free_asked])
    position = np.arange(plan.tagged)
    how_to = position < plan.how_to
    topic = np.where(how_to, rng.choice(len(TOPICS), plan.tagged, p=TOPIC_SHARES), -1).astype(np.int8)
    topic[: plan.refined] = 0
    topic[plan.refined : plan.open] = rng.integers(1, len(TOPICS), plan.open - plan.refined)
    acceptance = np.where(position < plan.accepted, MUST, np.where(how_to, NEVER, MAYBE)).astype(np.int8)
    closed = rng.random(plan.tagged) < CLOSED_SHARE
    closed[: plan.open] = False
    closed[plan.open : plan.accepted] = True
    phrase = _choose_phrases(frameworks, framework, topic, rng)
    tagged = Questions(asked_at, framework, how_to, topic, phrase, acceptance, closed)
    return _join(tagged, _other_questions(total - plan.tagged, rng))


def draw_natural_questions(total: int, rng: np.random.Generator) -> Questions:
    """Draws questions at natural rates; a few percent have a tag of the default families."""
    frameworks = tuple(DEFAULT_FAMILIES)
    tagged = round(total * TAGGED_SHARE)
    framework, asked_at = _free_places(frameworks, tagged, rng)
    other = _other_questions(tagged, rng)
    topic = np.where(other.how_to, rng.choice(len(TOPICS), tagged, p=TOPIC_SHARES), -1).astype(np.int8)
    phrase = _choose_phrases(frameworks, framework, topic, rng)
    mine = Questions(asked_at, framework, other.how_to, topic, phrase, other.acceptance, other.closed)
    return _join(mine, _other_questions(total - tagged, rng))


def _other_questions(total: int, rng: np.random.Generator) -> Questions:
    years = [(-1, year) for year in POSTS_BY_YEAR]
    which = rng.choice(len(years), total, p=_shares(POSTS_BY_YEAR))
    framework, asked_at = _place(years, which, (), rng)
    return Questions(
        asked_at=asked_at,
        framework=framework,
        how_to=rng.random(total) < HOW_TO_SHARE,
        topic=np.full(total, -1, np.int8),
        phrase=np.full(total, -1, np.int16),
        acceptance=np.full(total, MAYBE, np.int8),
        closed=rng.random(total) < CLOSED_SHARE,
    )


def _free_places(frameworks: Sequence[str], total: int, rng: np.random.Generator) -> tuple[Small, Times]:
    """Draws frameworks and times of questions whose year the plan does not fix, by each framework's lifetime."""
    weights = {
        (number, year): weight for number, name in enumerate(frameworks) for year, weight in read_lifetime(name).items()
    }
    return _place(list(weights), rng.choice(len(weights), total, p=_shares(weights)), frameworks, rng)


def _place(
    years: Sequence[tuple[int, int]], which: Numbers, frameworks: Sequence[str], rng: np.random.Generator
) -> tuple[Small, Times]:
    """Draws a time within the assigned year for each question, and returns it with the framework."""
    names = [frameworks[number] if number >= 0 else None for number, _ in years]
    spans = [find_time_span(year, name) for name, (_, year) in zip(names, years, strict=True)]
    edges = np.array(spans, np.int64).reshape(-1, 2)
    numbers = np.array([number for number, _ in years], np.int8)
    moments = rng.integers(edges[which, 0], edges[which, 1]) if len(which) else np.empty(0, np.int64)
    return numbers[which], moments


def _choose_phrases(
    frameworks: Sequence[str], framework: Small, topic: Small, rng: np.random.Generator
) -> npt.NDArray[np.int16]:
    phrases = np.full(len(framework), -1, np.int16)
    for number, name in enumerate(frameworks):
        chosen = np.flatnonzero((framework == number) & (topic == 0))
        weights = {index: phrase.weight(name) for index, phrase in enumerate(list_natural_phrases())}
        phrases[chosen] = rng.choice(len(weights), len(chosen), p=_shares(weights))
    return phrases


def _shares(weights: Mapping[Any, float]) -> npt.NDArray[np.float64]:
    values = np.array(list(weights.values()), np.float64)
    shares: npt.NDArray[np.float64] = values / values.sum()
    return shares


def _join(first: Questions, second: Questions) -> Questions:
    pairs = ((getattr(first, field.name), getattr(second, field.name)) for field in fields(Questions))
    return Questions(*(np.concatenate(pair) for pair in pairs))
