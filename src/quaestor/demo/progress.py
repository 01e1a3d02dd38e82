"""The way of the demo: what its makers tell as they go, and what has been done, is under way and is to come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from quaestor.base.errors import QuaestorError

if TYPE_CHECKING:
    from quaestor.evidence.sources.protocol import Progress

STEPS = {
    "study": "A new study",
    "dump": "A synthetic dump",
    "ingest": "The dump, read into evidence",
    "funnel": "The funnel",
    "codebook": "The codebook",
    "your-turn": "Your round",
    "survey": "A survey",
    "interviews": "Interviews",
    "pilot": "Pilot",
    "refinement": "Main round",
    "phrases": "Phrases",
    "phases": "Phases",
    "triplets": "Triplets",
    "report": "The report",
    "audit": "The audit",
    "handbook": "The handbook",
}
"""Every step in its order, as it is called before there is anything to say about it."""


@dataclass(frozen=True)
class StepStarted:
    """A step is under way, and those before it are done."""

    step: str


@dataclass(frozen=True)
class StepMessage:
    """A sentence about what the step under way found."""

    text: str


@dataclass(frozen=True)
class StepAdvanced:
    """How far the step under way has come; nobody knows where there is no total."""

    label: str
    done: int
    total: int
    in_bytes: bool = False


@dataclass(frozen=True)
class RoundOpened:
    """The visitor's round is open: whoever wants to rate can come in."""


@dataclass(frozen=True)
class SurveyOpened:
    """A survey is open: whoever looks at the demo can answer it."""

    name: str


@dataclass(frozen=True)
class Indicator:
    """A quantity by which a participant of an interview judges models, and where they draw the line."""

    quantity: str
    threshold: str
    participant: str


@dataclass(frozen=True)
class InterviewsCoded:
    """What was planted in interviews beside what two raters made of them; they have a desk of their own."""

    planted: int
    """Codes that somebody speaks of."""
    recovered: int
    more: int
    """Codes that came out and were not planted: both raters erred alike."""
    new_planted: tuple[int, ...]
    """Codes that each interview adds."""
    new_recovered: tuple[int, ...]
    stopped: int | None
    """The interview after which nothing new was said; none where that cannot be told."""
    indicators: tuple[Indicator, ...]
    indicators_planted: int


@dataclass(frozen=True)
class Comparison:
    """What was planted in a step of the funnel beside what was found there."""

    step: str
    planted: int
    measured: int

    @property
    def is_same(self) -> bool:
        return self.planted == self.measured


@dataclass(frozen=True)
class FunnelCompared:
    """The whole funnel beside what was planted."""

    steps: tuple[Comparison, ...]


@dataclass(frozen=True)
class DemoFinished:
    """Everything is done, and what was planted has been found."""

    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class DemoFailed:
    """The demo cannot go on."""

    error: QuaestorError | OSError

    @property
    def message(self) -> str:
        if isinstance(self.error, OSError):
            where = f"{self.error.filename}: " if self.error.filename else ""
            return f"{where}{self.error.strerror or self.error}"
        return str(self.error)


Event = StepStarted | StepMessage | StepAdvanced | RoundOpened | SurveyOpened | InterviewsCoded | FunnelCompared | DemoFinished | DemoFailed
SendEvent = Callable[[Event], None]


@dataclass(frozen=True)
class ProgressReporter:
    """What the makers of the demo speak to."""

    send: SendEvent

    def begin(self, step: str) -> None:
        self.send(StepStarted(step))

    def say(self, words: str) -> None:
        self.send(StepMessage(words))

    def progress(self, what: str, done: int, total: int) -> None:
        self.send(StepAdvanced(what, done, total, in_bytes=True))

    def count(self, what: str, done: int = 0, total: int = 0) -> None:
        self.send(StepAdvanced(what, done, total))


@dataclass(frozen=True)
class DemoStep:
    """One step as it is shown."""

    step: str
    title: str
    state: Literal["to come", "running", "done", "failed"] = "to come"
    sentences: tuple[str, ...] = ()
    label: str = ""
    share: float | None = None


@dataclass(frozen=True)
class DemoProgress:
    """The whole way, as far as it has been told."""

    steps: tuple[DemoStep, ...] = field(default=tuple(DemoStep(step, title) for step, title in STEPS.items()))
    index: int = -1
    is_open: bool = False
    survey: str = ""
    """The survey that can be answered; empty before there is one."""
    interviews: InterviewsCoded | None = None
    comparisons: tuple[Comparison, ...] = ()
    finished: DemoFinished | None = None
    failure: str = ""

    @property
    def is_running(self) -> bool:
        return self.finished is None and not self.failure

    @property
    def number(self) -> int:
        """The step under way, counted from one; none has begun at 0."""
        return self.index + 1

    def apply(self, event: Event) -> DemoProgress:
        """The way once something more has been told."""
        match event:
            case StepStarted(step):
                return replace(self._end_step("done"), place=list(STEPS).index(step))._change_step(state="running")
            case StepMessage(words):
                return self._change_step(sentences=(*self.steps[self.index].sentences, words))
            case StepAdvanced(what, done, total):
                return self._change_step(what=what, share=min(1.0, done / total) if total else None)
            case RoundOpened():
                return replace(self, is_open=True)
            case SurveyOpened(name):
                return replace(self, survey=name)
            case InterviewsCoded():
                return replace(self, interviews=event)
            case FunnelCompared(steps):
                return replace(self, compared=steps)
            case DemoFinished():
                return replace(self._end_step("done"), finished=event)
            case DemoFailed():
                return replace(self._end_step("failed"), failure=event.message)

    def _end_step(self, state: Literal["done", "failed"]) -> DemoProgress:
        return self._change_step(state=state, what="", share=None)

    def _change_step(self, **changes: object) -> DemoProgress:
        """The same way with the step under way changed."""
        changed = (replace(one, **changes) if at == self.index else one for at, one in enumerate(self.steps))  # type: ignore[arg-type]
        return replace(self, steps=tuple(changed))


def build_event_printer(say: Callable[[str], None], progress: Progress) -> SendEvent:
    """The way as lines for a terminal: a numbered one for each step, what more there is to say below it."""
    way = DemoProgress()

    def tell(event: Event) -> None:
        nonlocal way
        way = way.apply(event)
        match event:
            case StepMessage(words):
                say(f"{way.number}. {words}" if len(way.steps[way.index].sentences) == 1 else f"   {words}")
            case StepAdvanced(what, done, total, in_bytes=True):
                progress(what, done, total)
            case FunnelCompared(steps):
                for line in _table(steps):
                    say(line)
            case DemoFinished(sentences):
                for line in sentences:
                    say(line)
            case _:
                pass

    return tell


def _table(compared: tuple[Comparison, ...]) -> list[str]:
    widest = max((len(one.step) for one in compared), default=0)
    head = f"{'':{widest}}  {'planted':>9}  {'found':>9}"
    rows = [
        f"{one.step:{widest}}  {one.planted:>9,}  {one.measured:>9,} {'=' if one.is_same else '≠'}" for one in compared
    ]
    return [head, *rows]
