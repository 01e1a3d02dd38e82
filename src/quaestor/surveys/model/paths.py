"""Every path through a questionnaire, found by branching over the answers that conditions look at.

Before each question the walk knows what is still open of every condition. Two respondents of whom the same is open have
the same questions before them, so they are walked as one; that keeps the walk short where single answers are many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quaestor.surveys.model.conditions import Condition, settled
from quaestor.surveys.model.reachability import Example, examples
from quaestor.surveys.model.records import Answer, Kind, Page, Question, Questionnaire, Standing

_WORDS_A_SECOND = 4.0
_SECONDS = {
    Kind.SINGLE: 3.0, Kind.MULTIPLE: 5.0, Kind.YES_NO: 2.0, Kind.NUMBER: 6.0, Kind.MATRIX: 2.0, Kind.TEXT: 15.0,
    Kind.LONG_TEXT: 60.0, Kind.RANKING: 2.0, Kind.CONSENT: 3.0,
}  # fmt: skip
_EACH_LINE = 4.0
"""For every row of a matrix and every option that is ranked."""


def seconds_of(question: Question) -> float:
    """To read a question with its options and to answer it."""
    words = [question.text, question.hint, *(row.label for row in question.rows)]
    words += [f"{option.label} {option.description}" for option in question.options]
    lines = len(question.rows) if question.kind is Kind.MATRIX else 0
    lines = len(question.options) if question.kind is Kind.RANKING else lines
    return seconds_to_read(" ".join(words)) + _SECONDS[question.kind] + lines * _EACH_LINE


def seconds_to_read(text: str) -> float:
    return len(text.split()) / _WORDS_A_SECOND


_MOST_STATES = 20_000
_Open = tuple[bool | Condition, ...]
"""Of every condition, whether it holds, or what of it later answers decide."""


@dataclass(frozen=True)
class Path:
    """One way through: the pages with the questions that are shown, and answers that lead along it."""

    pages: tuple[tuple[str, tuple[str, ...]], ...]
    answers: Mapping[str, Answer]
    standing: Standing
    seconds: float
    """About how long it takes."""

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(one for _, asked in self.pages for one in asked)

    @property
    def ends_early(self) -> bool:
        return self.standing is not Standing.FINISHED


@dataclass(frozen=True)
class Paths:
    """The paths that were found; those to the end first, the long ones before the short."""

    found: tuple[Path, ...]
    whole: bool
    """Whether these are all there are."""

    def __iter__(self) -> Iterator[Path]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)


@dataclass(frozen=True)
class Reach:
    """What somebody can be shown."""

    arrived: frozenset[str]
    """Pages that are not behind an end for everybody."""
    pages: frozenset[str]
    questions: frozenset[str]
    whole: bool
    """Whether what is not in it can be shown to nobody."""


def paths(questionnaire: Questionnaire, most: int = 1_000) -> Paths:
    """Every distinct path, at most so many."""
    walk = _Walk(questionnaire, most, by_path=True)
    found = sorted(walk.paths(), key=lambda one: (one.ends_early, -len(one.questions)))
    return Paths(tuple(found[:most]), walk.whole and len(found) <= most)


def reach(questionnaire: Questionnaire) -> Reach:
    """The pages and questions that some path leads to."""
    walk = _Walk(questionnaire, _MOST_STATES, by_path=False)
    walk.walk()
    return Reach(frozenset(walk.arrived), frozenset(walk.pages), frozenset(walk.questions), walk.whole)


@dataclass(frozen=True, eq=False)
class _Step:
    """What was met last on a path, and what before it; shared by all paths that begin alike."""

    before: _Step | None
    page: Page
    question: Question | None = None
    answer: Answer | None = None


@dataclass(frozen=True)
class _State:
    """Where some respondents are: what of the conditions is open, if they are on the page, and if they end with it."""

    way: int
    """The path so far; 0 where it does not matter."""
    open: _Open
    on_page: bool = False
    standing: Standing = Standing.OPEN


class _Walk:
    """All states after each question, each with one example of the steps that led there."""

    def __init__(self, questionnaire: Questionnaire, most: int, by_path: bool) -> None:
        self._asked = questionnaire
        self._most = most
        self._by_path = by_path
        self._ways: dict[tuple[int, str, str], int] = {}
        conditions = dict.fromkeys(one.show_if for one in _parts(questionnaire))
        self._conditions = [one for one in conditions if one is not None]
        self._place = {condition: place for place, condition in enumerate(self._conditions)}
        self._last = self._last_uses()
        self.whole = True
        self.arrived: set[str] = set()
        self.pages: set[str] = set()
        self.questions: set[str] = set()

    def paths(self) -> list[Path]:
        done = self.walk()
        found: dict[int, Path] = {}
        for state, step in done.items():
            standing = Standing.FINISHED if state.standing is Standing.OPEN else state.standing
            key = self._way(state.way, "standing", standing.value)
            if key not in found and step is not None:
                found[key] = _path(step, standing, seconds_to_read(self._asked.about))
        return list(found.values())

    def walk(self) -> dict[_State, _Step | None]:
        states: dict[_State, _Step | None] = {_State(0, tuple(self._conditions)): None}
        ended: dict[_State, _Step | None] = {}
        for page in self._asked.pages:
            states = self._bounded(self._entered(page, states))
            for question in page.questions:
                states = self._bounded(self._answered(page, question, states))
            left: dict[_State, _Step | None] = {}
            for state, step in states.items():
                (left if state.standing is Standing.OPEN else ended).setdefault(state, step)
            states = left
        return {**states, **self._bounded(ended)}

    def _entered(self, page: Page, states: dict[_State, _Step | None]) -> dict[_State, _Step | None]:
        made: dict[_State, _Step | None] = {}
        for state, step in states.items():
            self.arrived.add(page.id)
            shown = self._holds(page.show_if, state)
            known = self._forgotten(state.open, page)
            if shown:
                self.pages.add(page.id)
            if shown and not page.questions:
                made.setdefault(_State(self._way(state.way, page.id, ""), known, shown), _Step(step, page))
            else:
                made.setdefault(_State(state.way, known, shown), step)
        return made

    def _answered(
        self, page: Page, question: Question, states: dict[_State, _Step | None]
    ) -> dict[_State, _Step | None]:
        tests = [test for condition in self._conditions for test in condition.tests() if test.question == question.id]
        said, all_said = examples(question, list(dict.fromkeys(tests)))
        self.whole = self.whole and all_said
        made: dict[_State, _Step | None] = {}
        for state, step in states.items():
            if not state.on_page or not self._is_met(page, question, state):
                made.setdefault(self._after(state, question, Example({})), step)
                continue
            self.questions.add(question.id)
            met = _State(self._way(state.way, page.id, question.id), state.open, True, state.standing)
            for one in said:
                made.setdefault(self._after(met, question, one), _Step(step, page, question, one.answer))
        return made

    def _after(self, state: _State, question: Question, example: Example) -> _State:
        known = tuple(settled(one, question.id, example.answer) for one in state.open)
        standing = state.standing if state.standing is not Standing.OPEN else example.ends or Standing.OPEN
        return _State(state.way, self._forgotten(known, question), state.on_page, standing)

    def _is_met(self, page: Page, question: Question, state: _State) -> bool:
        """What follows from an answer on the same page is asked when the page comes again; at an end it does not."""
        if state.standing is not Standing.OPEN and question.show_if is not None:
            here = {one.id for one in page.questions}
            if any(test.question in here for test in question.show_if.tests()):
                return False
        return self._holds(question.show_if, state)

    def _holds(self, condition: Condition | None, state: _State) -> bool:
        if condition is None:
            return True
        known = state.open[self._place[condition]]
        return known if isinstance(known, bool) else known.holds({})

    def _forgotten(self, known: _Open, passed: Page | Question) -> _Open:
        """What no later question asks for need not be told apart any more."""
        return tuple(False if self._last[place] is passed else one for place, one in enumerate(known))

    def _last_uses(self) -> list[Page | Question | None]:
        last: list[Page | Question | None] = [None] * len(self._conditions)
        for part in _parts(self._asked):
            if part.show_if is not None:
                last[self._place[part.show_if]] = part
        return last

    def _way(self, before: int, page: str, question: str) -> int:
        if not self._by_path:
            return 0
        return self._ways.setdefault((before, page, question), len(self._ways) + 1)

    def _bounded(self, states: dict[_State, _Step | None]) -> dict[_State, _Step | None]:
        most = max(self._most, 1) * (4 if self._by_path else 1)
        if len(states) <= most:
            return states
        self.whole = False
        return dict(list(states.items())[:most])


def _parts(questionnaire: Questionnaire) -> Iterator[Page | Question]:
    for page in questionnaire.pages:
        yield page
        yield from page.questions


def _path(last: _Step, standing: Standing, seconds: float) -> Path:
    steps = []
    step: _Step | None = last
    while step is not None:
        steps.append(step)
        step = step.before
    pages: dict[str, list[str]] = {}
    answers: dict[str, Answer] = {}
    for one in reversed(steps):
        if one.page.id not in pages:
            seconds += seconds_to_read(f"{one.page.title} {one.page.text}")
        asked = pages.setdefault(one.page.id, [])
        if one.question is not None:
            asked.append(one.question.id)
            answers[one.question.id] = one.answer or {}
            seconds += seconds_of(one.question)
    return Path(tuple((page, tuple(asked)) for page, asked in pages.items()), answers, standing, seconds)
