"""Makers of demos that take no time, for tests of what is told and shown; a process of its own can import them."""

from __future__ import annotations

import os
import time
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.demo.progress import (
    Begun,
    Compared,
    Comparison,
    Event,
    Finished,
    Indicator,
    InterviewsCoded,
    Moved,
    RoundOpened,
    SurveyOpened,
    Tell,
    Told,
)

ALL: list[Event] = [
    Begun("study"),
    Told("A new study in a folder"),
    Begun("dump"),
    Moved("posts", 250, 1_000, in_bytes=True),
    Told("A synthetic dump"),
    Begun("your-turn"),
    Told("Your round is open"),
    RoundOpened(),
    Begun("survey"),
    Told("A survey is open"),
    SurveyOpened("onnx"),
    Begun("interviews"),
    Told("Six interviews are held"),
    InterviewsCoded(3, 3, 0, (2, 1, 0), (2, 1, 0), 2, (Indicator("the loss", "above 10", "P1"),), 1),
    Begun("phrases"),
    Moved("sets", 1, 4),
    Told("Phrases in 4 sets"),
    Told("of which two fit"),
    Begun("handbook"),
    Told("The handbook"),
    Compared((Comparison("how-to", 12, 12), Comparison("kept by raters", 9, 8))),
    Finished(("All is there",)),
]


def tells_all(folder: Path, seed: int, tell: Tell) -> None:
    for event in ALL:
        tell(event)


def fails(folder: Path, seed: int, tell: Tell) -> None:
    tell(Begun("study"))
    raise InputError(f"{folder.name} cannot be: take another")


def vanishes(folder: Path, seed: int, tell: Tell) -> None:
    tell(Begun("study"))
    os._exit(9)


def goes_on(folder: Path, seed: int, tell: Tell) -> None:
    """Works until it is stopped, and then puts away what it had half done."""
    half = folder / "half"
    half.touch()
    try:
        tell(Told(str(os.getpid())))
        while True:
            time.sleep(0.01)
    finally:
        half.unlink()
