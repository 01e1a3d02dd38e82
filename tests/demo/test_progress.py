"""The demo's progress: the state after events, and the lines printed on a terminal."""

from __future__ import annotations

from tests.support.demo_makers import ALL

from quaestor.base.errors import StateError
from quaestor.demo.progress import (
    STEPS,
    DemoFailed,
    DemoFinished,
    DemoProgress,
    StepAdvanced,
    StepMessage,
    StepStarted,
    build_event_printer,
)


def apply_all(*events: object) -> DemoProgress:
    progress = DemoProgress()
    for event in events:
        progress = progress.apply(event)  # type: ignore[arg-type]
    return progress


def test_before_the_first_event_all_steps_are_to_come() -> None:
    progress = DemoProgress()
    assert progress.is_running
    assert progress.number == 0
    assert [step.title for step in progress.steps] == list(STEPS.values())
    assert {step.state for step in progress.steps} == {"to come"}


def test_a_step_that_begins_ends_the_one_before_it() -> None:
    progress = apply_all(
        StepStarted("study"), StepMessage("A new study"), StepStarted("dump"), StepAdvanced("posts", 250, 1_000)
    )
    assert [step.state for step in progress.steps[:3]] == ["done", "running", "to come"]
    assert progress.steps[0].sentences == ("A new study",)
    assert (progress.number, progress.steps[1].label, progress.steps[1].share) == (2, "posts", 0.25)
    assert apply_all(StepStarted("dump"), StepAdvanced("posts", 5, 0)).steps[1].share is None
    assert apply_all(StepStarted("dump"), StepAdvanced("posts", 9, 4)).steps[1].share == 1.0


def test_a_finished_and_a_failed_demo_are_not_running() -> None:
    finished = apply_all(*ALL)
    assert not finished.is_running
    assert finished.is_open
    assert finished.survey == "onnx"
    assert finished.interviews is not None
    assert finished.interviews.new_recovered == (2, 1, 0)
    assert finished.steps[-1].state == "done"
    failed = apply_all(StepStarted("study"), StepStarted("dump"), DemoFailed(StateError("no room: make some")))
    assert (failed.is_running, failed.failure) == (False, "no room: make some")
    assert [step.state for step in failed.steps[:3]] == ["done", "failed", "to come"]
    assert apply_all(StepStarted("dump"), DemoFailed(OSError(28, "No space left", "dump/Posts.xml"))).failure == (
        "dump/Posts.xml: No space left"
    )


def test_a_terminal_shows_one_numbered_line_per_step_and_a_final_table() -> None:
    lines: list[str] = []
    advances: list[tuple[str, int, int]] = []
    print_event = build_event_printer(lines.append, lambda *progress: advances.append(progress))
    for event in ALL:
        print_event(event)
    assert lines[:7] == [
        "1. A new study in a folder",
        "2. A synthetic dump",
        "6. Your round is open",
        "7. A survey is open",
        "8. Six interviews are held",
        "11. Phrases in 4 sets",
        "   of which two fit",
    ]
    assert advances == [("posts", 250, 1_000)], "sets are not counted in bytes"
    assert lines[-4:-1] == [
        "                  planted      found",
        "how-to                 12         12 =",
        "kept by raters          9          8 ≠",
    ]
    assert lines[-1] == "All is there"
    assert isinstance(ALL[-1], DemoFinished)
