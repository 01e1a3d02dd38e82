"""Simulated raters of transcripts err as often as configured, in realistic ways."""

from __future__ import annotations

import pytest

from quaestor.base.errors import InputError
from quaestor.synth.interviews import PlantedPassage
from quaestor.synth.simulated_interviews import SimulatedCoder

TEXT = "Well, a run takes three days here. The loss after an epoch is above 10 then."
PLANTED = (
    PlantedPassage(6, 28, "training-time"),
    PlantedPassage(35, 70, "indicator", {"what": "loss", "threshold": "above 10"}),
)
SIBLINGS = {"training-time": ["dataset"], "indicator": ["other"]}
FIELDS = {"indicator": ("what", "threshold")}


def answers(detection: float = 1.0, shift: float = 0.0, confusion: float = 0.0) -> list[list[dict[str, object]]]:
    rater = SimulatedCoder("rater-1", detection, shift, confusion, 7)
    return [rater.answer(f"P1/{place:05d}", TEXT, PLANTED, SIBLINGS, FIELDS) for place in range(500)]


def test_a_perfect_rater_finds_every_passage_with_its_fields() -> None:
    [one] = {str(each) for each in answers()}
    assert one == str(
        [
            {"start": 6, "end": 28, "code": "training-time"},
            {"start": 35, "end": 70, "code": "indicator", "fields": {"what": "loss", "threshold": "above 10"}},
        ]
    )


def test_the_share_of_missed_passages_follows_the_detection_rate() -> None:
    found = sum(map(len, answers(detection=0.8)))
    assert 0.76 < found / 1_000 < 0.84
    assert sum(map(len, answers(detection=0.0))) == 0


def test_shifted_ends_are_a_word_off_and_never_inside_a_word() -> None:
    moved = [passage for passages in answers(shift=1.0) for passage in passages]
    places = {(one["start"], one["end"]) for one in moved if one["code"] == "training-time"}
    assert places == {(0, 28), (8, 28), (6, 23), (6, 34)}
    assert all(TEXT[one["start"]].strip() and TEXT[one["end"] - 1].strip() for one in moved)  # type: ignore[index, operator]


def test_a_confused_code_is_a_sibling_without_fields_it_does_not_have() -> None:
    taken = [passage for passages in answers(confusion=0.5) for passage in passages]
    other = [one for one in taken if one["code"] in ("dataset", "other")]
    assert 0.44 < len(other) / len(taken) < 0.56
    assert not any("fields" in one for one in other)


def test_two_raters_err_independently_and_each_is_reproducible() -> None:
    def coded(name: str) -> list[int]:
        rater = SimulatedCoder(name, 0.7, 0.0, 0.0, 7)
        return [len(rater.answer(f"P1/{place}", TEXT, PLANTED, SIBLINGS, FIELDS)) for place in range(100)]

    assert coded("rater-1") == coded("rater-1")
    assert coded("rater-1") != coded("rater-2")


def test_a_share_above_1_is_refused() -> None:
    with pytest.raises(InputError, match=r"detection of a simulated rater is 1\.2"):
        SimulatedCoder("rater-1", 1.2, 0.0, 0.0, 1)
