"""Which question of the guide an interviewer asks in which turn, by the words they share.

A word that few questions of the guide have says more than one that many have. The order of the guide is a habit and no
law: going back costs something. Where the words do not tell, no question is said to be asked.
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
"""The score from which on a turn is said to ask a question."""
_AGAIN = 0.12
"""What it costs to ask a question that stands before one that was asked already, or the same once more."""
_PROBES = 0.35
"""What a word of a probe weighs beside one of the question itself."""
_UNHEARD = 0.5
"""What a word that no question has takes from the score."""
_BY_CHANCE = 0.6
"""What a single word that a turn shares with a longer question counts."""
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


@dataclass(frozen=True)
class Match:
    """A turn in which a question of the guide is asked."""

    turn: int
    question: str
    score: float
    """Between 0 and 1."""


_Ways = dict[int, tuple[float, tuple[Match, ...]]]
"""By the furthest question that was asked: the best sum of scores, and how it came about."""
_NOWHERE: tuple[float, tuple[Match, ...]] = (-1.0, ())


def matched(turns: Sequence[tuple[int, str]], guide: Guide, decided: Mapping[int, str] | None = None) -> list[Match]:
    """Where the questions of a guide are asked in the interviewer's turns, given by number and words.

    What somebody has decided, a question or none (""), stands; the others are fitted around it.
    """
    question_weights = _Asked(guide)
    decided = decided or {}
    ways: _Ways = {-1: (0.0, ())}
    for turn, words in turns:
        if turn not in decided:
            ways = _gone_on(ways, turn, question_weights.order, question_weights.scores(words))
        elif decided[turn] in question_weights.order:
            ways = _led(ways, question_weights.order.index(decided[turn]))
    return list(max(ways.values(), key=lambda way: way[0])[1])


def _gone_on(ways: _Ways, turn: int, order: Sequence[str], scores: Mapping[int, float]) -> _Ways:
    """All ways through one more turn: with no question, or with one that it may ask."""
    best = dict(ways)
    for furthest, (total, path) in ways.items():
        for place, score in scores.items():
            gained = score - ENOUGH - (_AGAIN if place <= furthest else 0.0)
            reached = max(furthest, place)
            if gained >= 0 and total + gained >= best.get(reached, _NOWHERE)[0]:
                best[reached] = (total + gained, (*path, Match(turn, order[place], round(score, 3))))
    return best


def _led(ways: _Ways, place: int) -> _Ways:
    """All ways through a turn in which a question is asked for certain."""
    best: _Ways = {}
    for furthest, way in ways.items():
        reached = max(furthest, place)
        best[reached] = max(way, best.get(reached, _NOWHERE), key=lambda candidate: candidate[0])
    return best


class _Asked:
    """The questions of a guide by the words they have."""

    def __init__(self, guide: Guide) -> None:
        self.order = [question.id for question in guide.questions()]
        weights = [_weights(question) for question in guide.questions()]
        having = Counter(word for question in weights for word in question)
        self._rare = {word: 1.0 + math.log((1 + len(weights)) / (1 + count)) for word, count in having.items()}
        """How much a word tells: the fewer questions have it, the more."""
        self._by_word: dict[str, list[tuple[int, float]]] = {}
        self._lengths: list[float] = []
        self._counts = [len(question) for question in weights]
        for place, one in enumerate(weights):
            own = {word: weight * self._rare[word] for word, weight in one.items()}
            self._lengths.append(math.sqrt(sum(weight * weight for weight in own.values())))
            for word, weight in own.items():
                self._by_word.setdefault(word, []).append((place, weight))

    def scores(self, text: str) -> dict[int, float]:
        """The questions that a turn may ask, by their places: how much of each stands in its best sentences."""
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
    """The words of a question, those of its probes weighing less."""
    word_weights = {word: _PROBES for probe in question.probes for word in words_of(probe)}
    return {**word_weights, **dict.fromkeys(words_of(question.text), 1.0)}


def _sentences(text: str) -> Iterator[set[str]]:
    """The words of each sentence, and of each two in a row: a question may follow its own introduction."""
    sentences = [words for sentence in _SENTENCE.findall(text) if (words := words_of(sentence))]
    yield from sentences
    for first, second in pairwise(sentences):
        yield first | second


def words_of(text: str) -> set[str]:
    """What is compared: beginnings of words that mean something; pairs of signs where no spaces part words."""
    bigrams: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _WITHOUT_SPACES.search(word):
            bigrams |= {word[place : place + 2] for place in range(max(len(word) - 1, 1))}
        elif word not in _COMMON and len(word) > 1:
            bigrams.add(word[:_STEM])
    return bigrams
