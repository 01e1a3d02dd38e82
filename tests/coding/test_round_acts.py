"""Acts of the lead during rating block nobody, and a round is not opened on outdated data."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.support.small_study import ITEMS, small_study

from quaestor.base.errors import StateError
from quaestor.coding import round_acts as rounds
from quaestor.coding.codebook import change_codebook, import_codebook
from quaestor.coding.model.rounds import list_missing
from quaestor.coding.model.state import RoundState
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import (
    close_by_name,
    deadline_by_name,
    open_by_name,
    reopen_by_name,
    summarise_round,
)
from quaestor.coding.round_items import ChosenItems, EarlierItems
from quaestor.coding.session import CodingSession, open_coding
from quaestor.study.folder import Study, open_study
from quaestor.study.settings.coding import RoundSettings

AGAIN = """
[[rounds]]
round = "again"
items = { again = "main", size = 3 }
facets = ["relevance"]
raters = ["rater-1", "rater-2"]
after = "main"
"""


@pytest.fixture
def coding(tmp_path: Path) -> Iterator[CodingSession]:
    """The round main is rated and closed, and another comes after it."""
    study = small_study(tmp_path / "study")
    text = study.file.read_text("utf-8").replace('after = "pilot"\n', "")
    study.file.write_text(f"{text}{AGAIN}", "utf-8")
    study = open_study(study.root)
    import_codebook(study)
    open_by_name(study, "main", None)
    with open_coding(study) as opened:
        for rater in ("rater-1", "rater-2"):
            for item in ITEMS:
                answer = "exclude: crash" if (rater, item) == ("rater-1", ITEMS[0]) else "keep"
                rate(opened, "main", rater, item, {"relevance": answer}, seconds=30)
        close_by_name(opened, "main", None)
        yield opened


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Lets somebody else do something while the items of a round are being chosen."""
    choose = rounds.choose_items

    def let(act: Callable[[], object]) -> None:
        def chosen(study: Study, one: RoundSettings, known: EarlierItems) -> ChosenItems:
            other = threading.Thread(target=act, daemon=True)
            other.start()
            other.join(20)
            assert not other.is_alive(), "others wait until the items are chosen"
            return choose(study, one, known)

        monkeypatch.setattr(rounds, "choose_items", chosen)

    return let


def test_others_can_act_while_the_items_of_a_round_are_chosen(
    coding: CodingSession, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    meanwhile(lambda: change_codebook(coding, "codebook.rename", {"code": "training", "name": "training it"}))
    before = coding.state.history.latest.version
    assert open_by_name(coding, "again", None)["items"] == 3
    opened = coding.state.round("again").plan
    assert opened.codebook == coding.state.history.latest.version == before + 1, "it opens under what is said now"


def test_a_round_is_not_opened_if_its_previous_round_changed_meanwhile(
    coding: CodingSession, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    meanwhile(lambda: reopen_by_name(coding, "main", None, "a typo"))
    with pytest.raises(StateError, match="has changed meanwhile"):
        open_by_name(coding, "again", None)
    assert "again" not in coding.state.rounds


def test_a_round_is_not_opened_if_its_settings_changed_meanwhile(
    coding: CodingSession, meanwhile: Callable[[Callable[[], object]], None]
) -> None:
    file = coding.study.file
    meanwhile(lambda: file.write_text(file.read_text("utf-8").replace("size = 3", "size = 5"), "utf-8"))
    with pytest.raises(StateError, match=r"changed in .*study\.toml meanwhile"):
        open_by_name(coding, "again", None)
    assert "again" not in coding.state.rounds


def test_recording_an_act_does_not_recount_all_ratings_of_its_round(
    coding: CodingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_by_name(coding, "again", None)
    one = coding.state.round("again")
    rate(coding, "again", "rater-1", one.plan.items[0], {"relevance": "keep"})
    rate(coding, "again", "rater-1", one.plan.items[0], {"relevance": "exclude: crash"})
    expected = (len(list_missing(one)), len(one.all_ratings()))

    def read(_: object) -> None:
        raise AssertionError("every rating is read")

    monkeypatch.setattr(RoundState, "all_ratings", read)
    monkeypatch.setattr(RoundState, "is_rated", read)
    told = deadline_by_name(coding, "again", None, "2100-01-01")
    assert (told["missing"], told["ratings"]) == expected == (5, 2)
    assert (told["simulated"], summarise_round(coding.state.round("main"))["hours"]) == (
        False,
        {"rater-1": 0.1, "rater-2": 0.1},
    )
