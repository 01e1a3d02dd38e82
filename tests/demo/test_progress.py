"""The way of the demo as it is told: what is done, what is under way, and the lines of it on a terminal."""

from __future__ import annotations

from tests.support.demo_makers import ALL

from quaestor.base.errors import StateError
from quaestor.demo.progress import STEPS, StepStarted, DemoFailed, DemoFinished, StepAdvanced, StepMessage, DemoProgress, build_event_printer


def told(*events: object) -> DemoProgress:
    way = DemoProgress()
    for event in events:
        way = way.apply(event)  # type: ignore[arg-type]
    return way


def test_before_anything_is_told_everything_is_to_come() -> None:
    way = DemoProgress()
    assert way.is_running
    assert way.number == 0
    assert [step.title for step in way.steps] == list(STEPS.values())
    assert {step.state for step in way.steps} == {"to come"}


def test_a_step_that_begins_ends_the_one_before_it() -> None:
    way = told(StepStarted("study"), StepMessage("A new study"), StepStarted("dump"), StepAdvanced("posts", 250, 1_000))
    assert [step.state for step in way.steps[:3]] == ["done", "running", "to come"]
    assert way.steps[0].sentences == ("A new study",)
    assert (way.number, way.steps[1].label, way.steps[1].share) == (2, "posts", 0.25)
    assert told(StepStarted("dump"), StepAdvanced("posts", 5, 0)).steps[1].share is None
    assert told(StepStarted("dump"), StepAdvanced("posts", 9, 4)).steps[1].share == 1.0


def test_the_end_and_a_failure_are_ends() -> None:
    finished = told(*ALL)
    assert not finished.is_running
    assert finished.is_open
    assert finished.survey == "onnx"
    assert finished.interviews is not None
    assert finished.interviews.new_recovered == (2, 1, 0)
    assert finished.steps[-1].state == "done"
    failed = told(StepStarted("study"), StepStarted("dump"), DemoFailed(StateError("no room: make some")))
    assert (failed.is_running, failed.failure) == (False, "no room: make some")
    assert [step.state for step in failed.steps[:3]] == ["done", "failed", "to come"]
    assert told(StepStarted("dump"), DemoFailed(OSError(28, "No space left", "dump/Posts.xml"))).failure == (
        "dump/Posts.xml: No space left"
    )


def test_a_terminal_gets_a_numbered_line_a_step_and_a_table_at_the_end() -> None:
    said: list[str] = []
    moved: list[tuple[str, int, int]] = []
    tell = build_event_printer(said.append, lambda *progress: moved.append(progress))
    for event in ALL:
        tell(event)
    assert said[:7] == [
        "1. A new study in a folder",
        "2. A synthetic dump",
        "6. Your round is open",
        "7. A survey is open",
        "8. Six interviews are held",
        "11. Phrases in 4 sets",
        "   of which two fit",
    ]
    assert moved == [("posts", 250, 1_000)], "sets are no bytes"
    assert said[-4:-1] == [
        "                  planted      found",
        "how-to                 12         12 =",
        "kept by raters          9          8 ≠",
    ]
    assert said[-1] == "All is there"
    assert isinstance(ALL[-1], DemoFinished)
