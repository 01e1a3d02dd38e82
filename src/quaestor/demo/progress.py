"""The progress of the demo: its steps, the events that report them, and the state they add up to."""

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
    "topics": "Topics in three strands",
    "report": "The report",
    "audit": "The audit",
    "handbook": "The handbook",
}
"""The steps in order, with the title that is shown until a step has a message."""


@dataclass(frozen=True)
class StepStarted:
    """A step started; the step before it is done."""

    step: str


@dataclass(frozen=True)
class StepMessage:
    """A sentence about the result of the current step."""

    text: str


@dataclass(frozen=True)
class StepAdvanced:
    """The current step advanced; a total of 0 means that it is unknown."""

    label: str
    done: int
    total: int
    in_bytes: bool = False


@dataclass(frozen=True)
class RoundOpened:
    """The visitor's round is open for rating."""


@dataclass(frozen=True)
class SurveyOpened:
    """The survey is open for anybody with the link."""

    name: str


@dataclass(frozen=True)
class Indicator:
    """A quantity by which an interview participant judges models, and its threshold."""

    quantity: str
    threshold: str
    participant: str


@dataclass(frozen=True)
class InterviewsCoded:
    """The interviews are coded: the planted codes compared with the codes that two raters found."""

    planted: int
    """The number of planted codes."""
    recovered: int
    more: int
    """Codes that both raters assigned by mistake."""
    new_planted: tuple[int, ...]
    """The number of new codes by interview."""
    new_recovered: tuple[int, ...]
    stopped: int | None
    """The interview after which no new code came up; None if there is none."""
    indicators: tuple[Indicator, ...]
    indicators_planted: int


@dataclass(frozen=True)
class Comparison:
    """The planted and the measured number of items after a funnel step."""

    step: str
    planted: int
    measured: int

    @property
    def is_same(self) -> bool:
        return self.planted == self.measured


@dataclass(frozen=True)
class FunnelCompared:
    """The funnel was compared with the planted numbers."""

    steps: tuple[Comparison, ...]


@dataclass(frozen=True)
class DemoFinished:
    """The demo is complete and its results match the plan."""

    sentences: tuple[str, ...] = ()


@dataclass(frozen=True)
class DemoFailed:
    """The demo stopped with an error."""

    error: QuaestorError | OSError

    @property
    def message(self) -> str:
        if isinstance(self.error, OSError):
            where = f"{self.error.filename}: " if self.error.filename else ""
            return f"{where}{self.error.strerror or self.error}"
        return str(self.error)


Event = (
    StepStarted
    | StepMessage
    | StepAdvanced
    | RoundOpened
    | SurveyOpened
    | InterviewsCoded
    | FunnelCompared
    | DemoFinished
    | DemoFailed
)
SendEvent = Callable[[Event], None]


@dataclass(frozen=True)
class ProgressReporter:
    """Sends the events of the demo's steps."""

    send: SendEvent

    def begin(self, step: str) -> None:
        self.send(StepStarted(step))

    def say(self, text: str) -> None:
        self.send(StepMessage(text))

    def progress(self, label: str, done: int, total: int) -> None:
        self.send(StepAdvanced(label, done, total, in_bytes=True))

    def count(self, label: str, done: int = 0, total: int = 0) -> None:
        self.send(StepAdvanced(label, done, total))


@dataclass(frozen=True)
class DemoStep:
    """The state of a step."""

    step: str
    title: str
    state: Literal["to come", "running", "done", "failed"] = "to come"
    sentences: tuple[str, ...] = ()
    label: str = ""
    share: float | None = None


@dataclass(frozen=True)
class DemoProgress:
    """The state of the whole demo after the events so far."""

    steps: tuple[DemoStep, ...] = field(default=tuple(DemoStep(step, title) for step, title in STEPS.items()))
    index: int = -1
    is_open: bool = False
    survey: str = ""
    """The name of the open survey; empty before it is open."""
    interviews: InterviewsCoded | None = None
    comparisons: tuple[Comparison, ...] = ()
    finished: DemoFinished | None = None
    failure: str = ""

    @property
    def is_running(self) -> bool:
        return self.finished is None and not self.failure

    @property
    def number(self) -> int:
        """The number of the current step, from 1; 0 before the first."""
        return self.index + 1

    def apply(self, event: Event) -> DemoProgress:
        """Returns the state after an event."""
        match event:
            case StepStarted(step):
                return replace(self._end_step("done"), index=list(STEPS).index(step))._change_step(state="running")
            case StepMessage(text):
                return self._change_step(sentences=(*self.steps[self.index].sentences, text))
            case StepAdvanced(label, done, total):
                return self._change_step(label=label, share=min(1.0, done / total) if total else None)
            case RoundOpened():
                return replace(self, is_open=True)
            case SurveyOpened(name):
                return replace(self, survey=name)
            case InterviewsCoded():
                return replace(self, interviews=event)
            case FunnelCompared(steps):
                return replace(self, comparisons=steps)
            case DemoFinished():
                return replace(self._end_step("done"), finished=event)
            case DemoFailed():
                return replace(self._end_step("failed"), failure=event.message)

    def _end_step(self, state: Literal["done", "failed"]) -> DemoProgress:
        return self._change_step(state=state, label="", share=None)

    def _change_step(self, **changes: object) -> DemoProgress:
        """Returns the state with the current step changed."""
        changed = (
            replace(step, **changes) if index == self.index else step  # type: ignore[arg-type]
            for index, step in enumerate(self.steps)
        )
        return replace(self, steps=tuple(changed))


def build_event_printer(say: Callable[[str], None], progress: Progress) -> SendEvent:
    """Returns a function that prints events for a terminal: one numbered line per step, further messages below it."""
    state = DemoProgress()

    def print_event(event: Event) -> None:
        nonlocal state
        state = state.apply(event)
        match event:
            case StepMessage(text):
                is_first = len(state.steps[state.index].sentences) == 1
                say(f"{state.number}. {text}" if is_first else f"   {text}")
            case StepAdvanced(label, done, total, in_bytes=True):
                progress(label, done, total)
            case FunnelCompared(steps):
                for line in _format_table(steps):
                    say(line)
            case DemoFinished(sentences):
                for line in sentences:
                    say(line)
            case _:
                pass

    return print_event


def _format_table(comparisons: tuple[Comparison, ...]) -> list[str]:
    width = max((len(row.step) for row in comparisons), default=0)
    head = f"{'':{width}}  {'planted':>9}  {'found':>9}"
    rows = [
        f"{row.step:{width}}  {row.planted:>9,}  {row.measured:>9,} {'=' if row.is_same else '≠'}"
        for row in comparisons
    ]
    return [head, *rows]
