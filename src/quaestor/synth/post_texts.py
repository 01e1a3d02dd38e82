"""The texts of posts: pools of titles and bodies, and individual texts for planted questions."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quaestor.synth.phrases import TOPICS
from quaestor.synth.questions import Numbers, Questions
from quaestor.synth.tagging import Tagging, write_tags
from quaestor.synth.texts import Bodies, HowTo, TitlePool, build_bodies, build_titles, write_how_to

_PICKS = 1 << 40


@dataclass(frozen=True)
class PostTexts:
    """The prepared texts of posts by the number of the framework, -1 for none."""

    questions: Questions
    frameworks: tuple[str, ...]
    bodies: Mapping[int, Bodies]
    titles: Mapping[int, TitlePool]
    tags: tuple[bytes, ...]
    seed: int

    def write_questions(
        self, numbers: Numbers, rng: np.random.Generator
    ) -> tuple[list[bytes], list[bytes], list[bytes]]:
        """Returns titles, openings and bodies of questions."""
        picks = rng.integers(0, _PICKS, (4, len(numbers))).tolist()
        framework = self.questions.framework[numbers].tolist()
        how_to = self.questions.how_to[numbers].tolist()
        titles, openings, bodies = [], [], []
        for number, subject, asks_how, pick, two, three, four in zip(
            numbers.tolist(), framework, how_to, *picks, strict=True
        ):
            texts = self.bodies[subject]
            bodies.append(texts.asking[pick % len(texts.asking)])
            if asks_how and subject >= 0:
                words = self._how_to(number)
                titles.append(words.title)
                openings.append(words.opening)
                continue
            pool = self.titles[subject]
            beginnings = pool.how_to if asks_how else pool.other
            ends = pool.how_to_ends if asks_how else pool.other_ends
            titles.append(beginnings[two % len(beginnings)] + ends[three % len(ends)])
            openings.append(texts.asking_openings[four % len(texts.asking_openings)])
        return titles, openings, bodies

    def write_answers(
        self, parents: npt.NDArray[np.int32], rng: np.random.Generator
    ) -> tuple[list[bytes], list[bytes]]:
        """Returns openings and bodies of answers; a reply to a tagged how-to question repeats its words."""
        picks = rng.integers(0, _PICKS, (2, len(parents))).tolist()
        framework = self.questions.framework[parents].tolist()
        how_to = self.questions.how_to[parents].tolist()
        openings, bodies = [], []
        for parent, subject, asks_how, pick, two in zip(parents.tolist(), framework, how_to, *picks, strict=True):
            texts = self.bodies[subject]
            bodies.append(texts.answering[pick % len(texts.answering)])
            if asks_how and subject >= 0:
                openings.append(self._how_to(parent).reply)
            else:
                openings.append(texts.answering_openings[two % len(texts.answering_openings)])
        return openings, bodies

    def _how_to(self, number: int) -> HowTo:
        return write_how_to(
            framework=self.frameworks[int(self.questions.framework[number])],
            topic=TOPICS[int(self.questions.topic[number])],
            phrase=int(self.questions.phrase[number]),
            key=self.seed * 1_000_003 + number,
        )


def build_texts(
    questions: Questions, frameworks: tuple[str, ...], tagging: Tagging, *, syntax: str, posts: int, seed: int
) -> PostTexts:
    """Builds pools in proportion to the dump: small dumps are fast, large ones repeat texts less often."""
    chance = random.Random(seed)
    amount = max(40, min(6_000, posts // 20))
    subjects: dict[int, str | None] = {-1: None, **dict(enumerate(frameworks))}
    sizes = {number: amount if number < 0 else max(30, amount // 4) for number in subjects}
    return PostTexts(
        questions=questions,
        frameworks=frameworks,
        bodies={number: build_bodies(name, sizes[number], chance) for number, name in subjects.items()},
        titles={number: build_titles(name, 2 * sizes[number], chance) for number, name in subjects.items()},
        tags=tuple(write_tags(tags, syntax) for tags in tagging.combinations),
        seed=seed,
    )
