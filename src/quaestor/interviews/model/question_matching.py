"""Finds which question of the guide an interviewer asks in which turn, by the words they share.

A word that occurs in few questions of the guide counts more than one that occurs in many. Interviewers usually follow
the order of the guide, so going back reduces the score. If the words are not clear enough, no question is matched.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from quaestor.interviews.model.records import Guide, GuideQuestion

ENOUGH = 0.42
"""The lowest score at which a turn counts as asking a question."""
_AGAIN = 0.12
"""The penalty for going back to an earlier question, or for asking the same one again."""
_PROBES = 0.35
"""The weight of a word of a probe, compared with a word of the question."""
_UNHEARD = 0.5
"""The penalty for a word that no question has."""
_BY_CHANCE = 0.6
"""The factor for a single word shared with a longer question."""
_STEM = 5
_WORD = re.compile(r"[^\W_]+")
_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SENTENCE = re.compile(r"[^.?!。？！\n]+[.?!。？！]*")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """a an and any are as at be been but by can could did do does for from had has have how i if in is it its just
        let like me more my no not of on one or our please so some tell than that the their them then there these they
        thing this those to us was we were what when where which who why will with would you your yours okay well now
        about also into over""",
    )
)


_QUESTION = re.compile(r"[^.?!。？！؟\n]+[?？؟]")
_FOLLOW_UP = frozenset(
    word[:_STEM]
    for word in re.findall(
        r"\w+",
        """again anything concrete describe detail details elaborate else example examples exactly explain feel further
        give happen happened happens instance kind long many maybe mean means much often okay really reason reasons
        repeat right say said sense show something sorry sort specific sure think true way why yes
        warum wieso weshalb genau beispiel pourquoi exemple comment porque ejemplo perché esempio waarom voorbeeld""",
    )
)
"""Words of follow-up questions that have no topic of their own, such as *Can you give an example?*"""


@dataclass(frozen=True)
class Match:
    """A turn that asks a question of the guide."""

    turn: int
    question: str
    score: float
    """Between 0 and 1."""


_Ways = dict[int, tuple[float, tuple[Match, ...]]]
"""The best sum of scores and its matches, by the furthest question asked."""
_NOWHERE: tuple[float, tuple[Match, ...]] = (-1.0, ())


def match_questions(
    turns: Sequence[tuple[int, str]], guide: Guide, decided: Mapping[int, str] | None = None
) -> list[Match]:
    """Matches the interviewer's turns, given by number and text, with the questions of a guide.

    What a person has decided, a question or none (""), is kept; the other turns are matched around it.
    """
    question_weights = _QuestionIndex(guide)
    decided = decided or {}
    ways: _Ways = {-1: (0.0, ())}
    for turn, words in turns:
        if turn not in decided:
            ways = _extend(ways, turn, question_weights.order, question_weights.scores(words))
        elif decided[turn] in question_weights.order:
            ways = _extend_decided(ways, question_weights.order.index(decided[turn]))
    return list(max(ways.values(), key=lambda way: way[0])[1])


def _extend(ways: _Ways, turn: int, order: Sequence[str], scores: Mapping[int, float]) -> _Ways:
    """Extends all alignments by a turn: without a question, or with one that it may ask."""
    best = dict(ways)
    for furthest, (total, path) in ways.items():
        for place, score in scores.items():
            gained = score - ENOUGH - (_AGAIN if place <= furthest else 0.0)
            reached = max(furthest, place)
            if gained >= 0 and total + gained >= best.get(reached, _NOWHERE)[0]:
                best[reached] = (total + gained, (*path, Match(turn, order[place], round(score, 3))))
    return best


def _extend_decided(ways: _Ways, place: int) -> _Ways:
    """Extends all alignments by a turn that certainly asks a question."""
    best: _Ways = {}
    for furthest, way in ways.items():
        reached = max(furthest, place)
        best[reached] = max(way, best.get(reached, _NOWHERE), key=lambda candidate: candidate[0])
    return best


def begins_other_question(words: str, question: GuideQuestion) -> bool:
    """Whether an interviewer's turn asks something else than a question of the guide that is being answered.

    A follow-up shares a word with the question or its probes, or has only words without a topic. The text must have a
    question mark: remarks end no answer.
    """
    topics = {word for sentence in _QUESTION.findall(words) for word in stem_words(sentence)} - _FOLLOW_UP
    return bool(topics) and topics.isdisjoint(_weights(question))


class _QuestionIndex:
    """An index of the words of a guide's questions."""

    def __init__(self, guide: Guide) -> None:
        self.order = [question.id for question in guide.questions()]
        weights = [_weights(question) for question in guide.questions()]
        having = Counter(word for question in weights for word in question)
        self._rare = {word: 1.0 + math.log((1 + len(weights)) / (1 + count)) for word, count in having.items()}
        """The weight of a word: the fewer questions have it, the higher."""
        self._by_word: dict[str, list[tuple[int, float]]] = {}
        self._lengths: list[float] = []
        self._counts = [len(question) for question in weights]
        for place, word_weights in enumerate(weights):
            own = {word: weight * self._rare[word] for word, weight in word_weights.items()}
            self._lengths.append(math.sqrt(sum(weight * weight for weight in own.values())))
            for word, weight in own.items():
                self._by_word.setdefault(word, []).append((place, weight))

    def scores(self, text: str) -> dict[int, float]:
        """Returns the scores of the questions that a turn may ask, by index, from its best sentences."""
        best: dict[int, float] = {}
        for sentence in _sentences(text):
            shared: dict[int, list[float]] = {}
            for word in sentence:
                for place, weight in self._by_word.get(word, ()):
                    shared.setdefault(place, []).append(weight * self._rare[word])
            if shared:
                length = math.sqrt(sum(self._rare[word] ** 2 if word in self._rare else _UNHEARD for word in sentence))
                for place, parts in shared.items():
                    score = sum(parts) / (self._lengths[place] * length)
                    chance = _BY_CHANCE if len(parts) == 1 and self._counts[place] > 1 else 1.0
                    best[place] = max(best.get(place, 0.0), score * chance)
        return {place: score for place, score in best.items() if score >= ENOUGH}


def _weights(question: GuideQuestion) -> dict[str, float]:
    """Returns the words of a question; those of its probes weigh less."""
    word_weights = {word: _PROBES for probe in question.probes for word in stem_words(probe)}
    return {**word_weights, **dict.fromkeys(stem_words(question.text), 1.0)}


def _sentences(text: str) -> Iterator[set[str]]:
    """Yields the words of each sentence and of each two in a row: a question may follow its own introduction."""
    sentences = [words for sentence in _SENTENCE.findall(text) if (words := stem_words(sentence))]
    yield from sentences
    for first, second in pairwise(sentences):
        yield first | second


def stem_words(text: str) -> set[str]:
    """Returns the stems of content words; character pairs for scripts without spaces."""
    bigrams: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _WITHOUT_SPACES.search(word):
            bigrams |= {word[place : place + 2] for place in range(max(len(word) - 1, 1))}
        elif word not in _COMMON and len(word) > 1:
            bigrams.add(word[:_STEM])
    return bigrams
