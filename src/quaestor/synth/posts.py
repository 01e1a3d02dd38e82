"""Builds the rows of Posts.xml, block by block from columns and pools of texts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.synth.phrases import TOPICS
from quaestor.synth.plan import END
from quaestor.synth.post_layout import BLOCK, SyntheticPosts, compute_ids
from quaestor.synth.questions import Flags, Numbers, Questions, Times
from quaestor.synth.tagging import Tagging, write_tags
from quaestor.synth.texts import Bodies, HowTo, TitlePool, build_bodies, build_titles, write_how_to
from quaestor.synth.xml_rows import (
    TableRows,
    delay_times,
    format_optional,
    format_optional_times,
    list_licences,
    write_times,
)

_QUESTION = (
    b'  <row Id="%d" PostTypeId="1"%b CreationDate="%b" Score="%d" ViewCount="%d" Body="%b%b"%b%b'
    b' LastActivityDate="%b" Title="%b" Tags="%b" AnswerCount="%d" CommentCount="%d"%b%b'
    b' ContentLicense="%b" />\n'
)
_ANSWER = (
    b'  <row Id="%d" PostTypeId="2" ParentId="%d" CreationDate="%b" Score="%d" Body="%b%b"%b%b'
    b' LastActivityDate="%b" CommentCount="%d" ContentLicense="%b" />\n'
)
_WIKI = (
    b'  <row Id="%d" PostTypeId="%d" CreationDate="%b" Score="0" Body="%b"%b%b'
    b' LastActivityDate="%b" CommentCount="%d" ContentLicense="%b" />\n'
)
_PICKS = 1 << 40
_YEAR = 365.25 * 24 * 3_600_000
Ranks = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PostWriter:
    """Writes the posts of a layout with the prepared texts; the same seed gives the same bytes."""

    layout: SyntheticPosts
    tagging: Tagging
    texts: PostTexts
    seed: int

    def table(self) -> TableRows:
        """Posts.xml, block by block."""
        return TableRows("Posts", self.layout.posts, self._blocks())

    def _blocks(self) -> Iterator[list[bytes]]:
        rng = np.random.default_rng([self.seed, 1])
        questions, answers = len(self.layout.questions), len(self.layout.parent)
        for start in range(0, self.layout.posts, BLOCK):
            numbers = self.layout.order[start : start + BLOCK].astype(np.int64)
            kinds = np.searchsorted([questions, questions + answers], numbers, side="right")
            rows = [b""] * len(numbers)
            for kind, write in enumerate((self._questions, self._answers, self._wikis)):
                places = np.flatnonzero(kinds == kind)
                if not len(places):
                    continue
                for place, row in zip(places.tolist(), write(numbers[places], places + start, rng), strict=True):
                    rows[place] = row
            yield rows

    def _questions(self, numbers: Numbers, ranks: Ranks, rng: np.random.Generator) -> list[bytes]:
        layout, total = self.layout, len(numbers)
        created = layout.created[numbers]
        planted = layout.planted
        scores = _with_planted(numbers, planted.scores if planted else None, _scores(total, rng))
        accepted = layout.accepted[numbers]
        answer = layout.ids_of(np.where(accepted, layout.first_answer[numbers] + len(layout.questions), 0))
        edited, edits, changed = self._edits(created, ranks, 0.45, rng)
        titles, openings, bodies = self.texts.write_questions(numbers, rng)
        columns = (
            compute_ids(ranks).tolist(),
            format_optional("AcceptedAnswerId", answer.tolist(), accepted.tolist()),
            write_times(created),
            scores.tolist(),
            _with_planted(numbers, planted.views if planted else None, _views(scores, created, rng)).tolist(),
            openings,
            bodies,
            self._owners(ranks, rng),
            edits,
            write_times(np.maximum(layout.last_activity[numbers], np.where(edited, changed, 0))),
            titles,
            [self.texts.tags[combination] for combination in self.tagging.chosen[numbers].tolist()],
            layout.answers[numbers].tolist(),
            layout.comments[ranks].tolist(),
            format_optional("FavoriteCount", np.maximum(scores // 3, 0).tolist(), (rng.random(total) < 0.3).tolist()),
            format_optional_times("ClosedDate", delay_times(created, 20, rng), layout.questions.closed[numbers]),
            list_licences(created),
        )
        return [_QUESTION % row for row in zip(*columns, strict=True)]

    def _answers(self, numbers: Numbers, ranks: Ranks, rng: np.random.Generator) -> list[bytes]:
        layout = self.layout
        parents = layout.parent[numbers - len(layout.questions)]
        created = layout.created[numbers]
        edited, edits, changed = self._edits(created, ranks, 0.3, rng)
        openings, bodies = self.texts.write_answers(parents, rng)
        columns = (
            compute_ids(ranks).tolist(),
            layout.ids_of(parents).tolist(),
            write_times(created),
            _scores(len(numbers), rng).tolist(),
            openings,
            bodies,
            self._owners(ranks, rng),
            edits,
            write_times(np.where(edited, changed, created)),
            layout.comments[ranks].tolist(),
            list_licences(created),
        )
        return [_ANSWER % row for row in zip(*columns, strict=True)]

    def _wikis(self, numbers: Numbers, ranks: Ranks, rng: np.random.Generator) -> list[bytes]:
        layout = self.layout
        created = layout.created[numbers]
        pair = (numbers - len(layout.questions) - len(layout.parent)).tolist()
        bodies = self.texts.bodies[-1].answering
        edited, edits, changed = self._edits(created, ranks, 0.9, rng)
        columns = (
            compute_ids(ranks).tolist(),
            [4 + number % 2 for number in pair],
            write_times(created),
            [bodies[pick] for pick in rng.integers(0, len(bodies), len(numbers)).tolist()],
            self._owners(ranks, rng),
            edits,
            write_times(np.where(edited, changed, created)),
            layout.comments[ranks].tolist(),
            list_licences(created),
        )
        return [_WIKI % row for row in zip(*columns, strict=True)]

    def _owners(self, ranks: Ranks, rng: np.random.Generator) -> list[bytes]:
        """Formats the owners; a few have deleted their account, so that only a name is left."""
        users = choose_owners(ranks, self.layout, rng).tolist()
        gone = (rng.random(len(users)) < 0.02).tolist()
        return [
            b' OwnerDisplayName="user%d"' % user if left else b' OwnerUserId="%d"' % user
            for user, left in zip(users, gone, strict=True)
        ]

    def _edits(
        self, created: Times, ranks: Ranks, share: float, rng: np.random.Generator
    ) -> tuple[Flags, list[bytes], Times]:
        """Draws which posts were edited, the attributes for it, and the times."""
        edited = rng.random(len(created)) < share
        changed = delay_times(created, 5, rng)
        editors = format_optional("LastEditorUserId", choose_owners(ranks, self.layout, rng).tolist(), edited.tolist())
        dates = format_optional_times("LastEditDate", changed, edited)
        return edited, [editor + date for editor, date in zip(editors, dates, strict=True)], changed


def choose_owners(ranks: npt.NDArray[Any], layout: SyntheticPosts, rng: np.random.Generator) -> Numbers:
    """Chooses a user for each post: early users write more, and nobody writes before joining."""
    joined = ranks / layout.posts * layout.users
    return (joined * rng.random(len(ranks)) ** 2).astype(np.int64) + 1


def _with_planted(numbers: Numbers, planted: Numbers | None, drawn: Numbers) -> Numbers:
    """Replaces the drawn figures of the refined questions, which come first, by the planted ones."""
    if planted is None:
        return drawn
    refined = numbers < len(planted)
    return np.where(refined, planted[np.where(refined, numbers, 0)], drawn)


def _scores(total: int, rng: np.random.Generator) -> Numbers:
    """Draws scores: mostly 0 to 2, some negative, few very high."""
    upvotes = np.minimum(np.floor(rng.pareto(1.15, total) * 1.3), 25_000).astype(np.int64)
    return upvotes - rng.poisson(0.2, total)


def _views(scores: Numbers, created: Times, rng: np.random.Generator) -> Numbers:
    """Draws views: more for high scores and old posts."""
    age = (END.astype(np.int64) - created) / _YEAR
    logarithm = 5.4 + 0.55 * np.log1p(np.maximum(scores, 0)) + 0.45 * np.log(age + 0.3)
    return np.exp(logarithm + rng.normal(0.0, 0.9, len(scores))).astype(np.int64) + 3


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
