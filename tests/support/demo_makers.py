"""Fast demo builders for tests of messages and pages; a subprocess can import them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.demo.progress import (
    Comparison,
    DemoFinished,
    Event,
    FunnelCompared,
    Indicator,
    InterviewsCoded,
    RoundOpened,
    SendEvent,
    StepAdvanced,
    StepMessage,
    StepStarted,
    SurveyOpened,
)

ALL: list[Event] = [
    StepStarted("study"),
    StepMessage("A new study in a folder"),
    StepStarted("dump"),
    StepAdvanced("posts", 250, 1_000, in_bytes=True),
    StepMessage("A synthetic dump"),
    StepStarted("your-turn"),
    StepMessage("Your round is open"),
    RoundOpened(),
    StepStarted("survey"),
    StepMessage("A survey is open"),
    SurveyOpened("onnx"),
    StepStarted("interviews"),
    StepMessage("Six interviews are held"),
    InterviewsCoded(3, 3, 0, (2, 1, 0), (2, 1, 0), 2, (Indicator("the loss", "above 10", "P1"),), 1),
    StepStarted("phrases"),
    StepAdvanced("sets", 1, 4),
    StepMessage("Phrases in 4 sets"),
    StepMessage("of which two fit"),
    StepStarted("handbook"),
    StepMessage("The handbook"),
    FunnelCompared((Comparison("how-to", 12, 12), Comparison("kept by raters", 9, 8))),
    DemoFinished(("All is there",)),
]


def tells_all(folder: Path, seed: int, tell: SendEvent) -> None:
    for event in ALL:
        tell(event)


def fails(folder: Path, seed: int, tell: SendEvent) -> None:
    tell(StepStarted("study"))
    raise InputError(f"{folder.name} cannot be: take another")


def vanishes(folder: Path, seed: int, tell: SendEvent) -> None:
    tell(StepStarted("study"))
    os._exit(9)


def goes_on(folder: Path, seed: int, tell: SendEvent) -> None:
    """Works until it is stopped, and then puts away what it had half done."""
    half = folder / "half"
    half.touch()
    try:
        tell(StepMessage(str(os.getpid())))
        while True:
            time.sleep(0.01)
    finally:
        half.unlink()
