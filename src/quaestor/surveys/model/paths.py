"""Finds every path through a questionnaire by branching on the answers that conditions depend on.

Before each question the walk knows the open part of every condition. Respondents with the same open conditions have
the same questions ahead, so they are followed as one state; this keeps the walk short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from quaestor.surveys.model.conditions import Condition, simplify
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.reachability import Example, examples
from quaestor.surveys.model.records import Answer, Page, Question, Questionnaire, ResponseStatus

_WORDS_A_SECOND = 4.0


def estimate_seconds(question: Question) -> float:
    """Estimates the seconds to read a question with its options and to answer it."""
    kind = kind_of(question)
    if kind.is_hidden:
        return 0.0
    words = [question.text, question.hint, *(row.label for row in question.rows)]
    words += [f"{option.label} {option.description}" for option in question.options]
    parts = len(kind.counted_parts(question))
    return seconds_to_read(" ".join(words)) + kind.answer_seconds + parts * kind.seconds_per_part


def seconds_to_read(text: str) -> float:
    return len(text.split()) / _WORDS_A_SECOND


_MOST_STATES = 20_000
_Open = tuple[bool | Condition, ...]
"""For every condition, whether it holds, or the part that later answers decide."""


@dataclass(frozen=True)
class Path:
    """The pages and questions shown on one path, and answers that lead along it."""

    pages: tuple[tuple[str, tuple[str, ...]], ...]
    answers: Mapping[str, Answer]
    standing: ResponseStatus
    seconds: float
    """Estimated duration."""

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(question for _, questions in self.pages for question in questions)

    @property
    def ends_early(self) -> bool:
        return self.standing is not ResponseStatus.FINISHED


@dataclass(frozen=True)
class Paths:
    """The paths found; complete ones first, long ones before short ones."""

    paths: tuple[Path, ...]
    whole: bool
    """Whether these are all paths."""

    def __iter__(self) -> Iterator[Path]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


@dataclass(frozen=True)
class Reach:
    """The pages and questions that can be shown to somebody."""

    arrived: frozenset[str]
    """Pages that are not behind an end for everybody."""
    pages: frozenset[str]
    questions: frozenset[str]
    whole: bool
    """Whether everything not listed can be shown to nobody."""


def paths(questionnaire: Questionnaire, most: int = 1_000) -> Paths:
    """Returns every distinct path, up to a maximum."""
    walk = _Walk(questionnaire, most, by_path=True)
    ordered = sorted(walk.paths(), key=lambda path: (path.ends_early, -len(path.questions)))
    return Paths(tuple(ordered[:most]), walk.whole and len(ordered) <= most)


def find_reach(questionnaire: Questionnaire) -> Reach:
    """Returns the pages and questions that some path leads to."""
    walk = _Walk(questionnaire, _MOST_STATES, by_path=False)
    walk.walk()
    return Reach(frozenset(walk.arrived), frozenset(walk.pages), frozenset(walk.questions), walk.whole)


@dataclass(frozen=True, eq=False)
class _Step:
    """The last question of a path and the step before it; shared by all paths with the same beginning."""

    before: _Step | None
    page: Page
    question: Question | None = None
    answer: Answer | None = None


@dataclass(frozen=True)
class _State:
    """The state of a group of respondents: open conditions, and whether they are on the page or end with it."""

    way: int
    """The path so far; 0 if it does not matter."""
    open: _Open
    on_page: bool = False
    standing: ResponseStatus = ResponseStatus.OPEN


class _Walk:
    """All states after each question, each with one example of the steps that lead there."""

    def __init__(self, questionnaire: Questionnaire, most: int, by_path: bool) -> None:
        self._questionnaire = questionnaire
        self._most = most
        self._by_path = by_path
        self._ways: dict[tuple[int, str, str], int] = {}
        conditions = dict.fromkeys(part.show_if for part in _parts(questionnaire))
        self._conditions = [condition for condition in conditions if condition is not None]
        self._place = {condition: place for place, condition in enumerate(self._conditions)}
        self._last = self._last_uses()
        self.whole = True
        self.arrived: set[str] = set()
        self.pages: set[str] = set()
        self.questions: set[str] = set()

    def paths(self) -> list[Path]:
        by_way: dict[int, Path] = {}
        for state, step in self.walk().items():
            standing = ResponseStatus.FINISHED if state.standing is ResponseStatus.OPEN else state.standing
            key = self._way(state.way, "standing", standing.value)
            if key not in by_way and step is not None:
                by_way[key] = _path(step, standing, seconds_to_read(self._questionnaire.about))
        return list(by_way.values())

    def walk(self) -> dict[_State, _Step | None]:
        states: dict[_State, _Step | None] = {_State(0, tuple(self._conditions)): None}
        ended: dict[_State, _Step | None] = {}
        for page in self._questionnaire.pages:
            states = self._bounded(self._entered(page, states))
            for question in page.questions:
                states = self._bounded(self._answered(page, question, states))
            left: dict[_State, _Step | None] = {}
            for state, step in states.items():
                (left if state.standing is ResponseStatus.OPEN else ended).setdefault(state, step)
            states = left
        return {**states, **self._bounded(ended)}

    def _entered(self, page: Page, states: dict[_State, _Step | None]) -> dict[_State, _Step | None]:
        entered: dict[_State, _Step | None] = {}
        for state, step in states.items():
            self.arrived.add(page.id)
            shown = self._holds(page.show_if, state)
            known = self._forgotten(state.open, page)
            if shown:
                self.pages.add(page.id)
            if shown and not page.questions:
                entered.setdefault(_State(self._way(state.way, page.id, ""), known, shown), _Step(step, page))
            else:
                entered.setdefault(_State(state.way, known, shown), step)
        return entered

    def _answered(
        self, page: Page, question: Question, states: dict[_State, _Step | None]
    ) -> dict[_State, _Step | None]:
        tests = [test for condition in self._conditions for test in condition.tests() if test.question == question.id]
        different, are_all = examples(question, list(dict.fromkeys(tests)))
        self.whole = self.whole and are_all
        answered: dict[_State, _Step | None] = {}
        for state, step in states.items():
            if not state.on_page or not self._is_shown(page, question, state):
                answered.setdefault(self._after(state, question, Example({})), step)
                continue
            self.questions.add(question.id)
            shown = _State(self._way(state.way, page.id, question.id), state.open, True, state.standing)
            for example in different:
                next_step = _Step(step, page, question, example.answer)
                answered.setdefault(self._after(shown, question, example), next_step)
        return answered

    def _after(self, state: _State, question: Question, example: Example) -> _State:
        known = tuple(simplify(condition, question.id, example.answer) for condition in state.open)
        standing = state.standing if state.standing is not ResponseStatus.OPEN else example.ends or ResponseStatus.OPEN
        return _State(state.way, self._forgotten(known, question), state.on_page, standing)

    def _is_shown(self, page: Page, question: Question, state: _State) -> bool:
        """Tells whether a question is shown; one that depends on its own page is not if the survey ends there."""
        if state.standing is not ResponseStatus.OPEN and question.show_if is not None:
            here = {other.id for other in page.questions}
            if any(test.question in here for test in question.show_if.tests()):
                return False
        return self._holds(question.show_if, state)

    def _holds(self, condition: Condition | None, state: _State) -> bool:
        if condition is None:
            return True
        known = state.open[self._place[condition]]
        return known if isinstance(known, bool) else known.holds({})

    def _forgotten(self, known: _Open, passed: Page | Question) -> _Open:
        """Drops conditions that no later question has, so that more states become equal."""
        return tuple(False if self._last[place] is passed else still for place, still in enumerate(known))

    def _last_uses(self) -> list[Page | Question | None]:
        last: list[Page | Question | None] = [None] * len(self._conditions)
        for part in _parts(self._questionnaire):
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


def _path(last: _Step, standing: ResponseStatus, seconds: float) -> Path:
    steps = []
    step: _Step | None = last
    while step is not None:
        steps.append(step)
        step = step.before
    pages: dict[str, list[str]] = {}
    answers: dict[str, Answer] = {}
    for step in reversed(steps):
        if step.page.id not in pages:
            seconds += seconds_to_read(f"{step.page.title} {step.page.text}")
        questions = pages.setdefault(step.page.id, [])
        if step.question is not None:
            questions.append(step.question.id)
            answers[step.question.id] = step.answer or {}
            seconds += estimate_seconds(step.question)
    return Path(tuple((page, tuple(questions)) for page, questions in pages.items()), answers, standing, seconds)
