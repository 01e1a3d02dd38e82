"""Publication uses the fingerprint, report section and guard of every feature."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.support.labelled_study import labelled_study

from quaestor.base.errors import StateError
from quaestor.coding.model.state import State
from quaestor.publication.handbook.make import make_handbook
from quaestor.publication.publication_status import find_held, report_can_be_made, stamp_inputs
from quaestor.publication.report.make import build_report
from quaestor.render.report_parts import Fact, Section
from quaestor.study.contributions import ReportPart
from quaestor.study.features import Feature, features
from quaestor.study.folder import Study, open_study
from quaestor.study.session import Session


@dataclass
class LetterGuard:
    """A guard that keeps a record of what it was asked."""

    refusal: str = ""
    asked: list[str] = field(default_factory=list)

    def refuse(self, study: Study) -> None:
        self.asked.append("refuse")
        if self.refusal:
            raise StateError(self.refusal)

    def text_stamps(self, study: Study) -> Mapping[str, str]:
        return {"letter-1": "now"}

    def watch_withdrawals(self, study: Study, what: str) -> Callable[[], Any]:
        self.asked.append(f"watch {what}")

        @contextmanager
        def placing() -> Iterator[None]:
            self.asked.append("place")
            yield

        return placing

    def withheld(self, opened: Any, published: Mapping[str, Mapping[str, str]]) -> Collection[str]:
        return [name for name, stamps in published.items() if stamps.get("letter-1") != opened]


class LetterSection:
    """A section that is ready whenever anybody acted."""

    def is_used(self, study: Study) -> bool:
        return True

    def why_not_ready(self, study: Study, state: object) -> str:
        return ""

    def build(self, session: Session[Any], used_names: Collection[str], notify: Callable[[str], None]) -> ReportPart:
        section = Section("Letters", "What people wrote by hand.")
        return ReportPart((section,), "3 letters", ("Letters are translated.",), (Fact("3", "letters read"),))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with decided items and as little to compute as there can be."""
    study = labelled_study(tmp_path_factory.mktemp("made") / "labelled", 20)
    computed = re.compile(r"^\[\[(?:findings|quantities|tables)\]\].*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
    study.file.write_text(computed.sub("", study.file.read_text("utf-8")), "utf-8")
    return open_study(study.root)


def add_feature(monkeypatch: pytest.MonkeyPatch, **declared: Any) -> None:
    both = (*features(), Feature("letters", **declared))
    monkeypatch.setattr("quaestor.study.features.features", lambda: both)


def test_published_results_are_stale_when_the_fingerprint_of_a_feature_changes(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = stamp_inputs(study, State())
    add_feature(monkeypatch, fingerprint=lambda study: "one letter")
    with_letter = stamp_inputs(study, State())
    add_feature(monkeypatch, fingerprint=lambda study: "two letters")
    with_two = stamp_inputs(study, State())
    assert [stamps.get("letters") for stamps in (before, with_letter, with_two)] == [None, "one letter", "two letters"]


@pytest.mark.parametrize("build", [build_report, make_handbook])
def test_a_guard_can_refuse_publication(
    study: Study, monkeypatch: pytest.MonkeyPatch, build: Callable[..., object]
) -> None:
    add_feature(monkeypatch, publication_guard=LetterGuard("a letter names its author: mask it"))
    with pytest.raises(StateError, match="a letter names its author"):
        build(study, lambda *words: None)


def test_guards_watch_a_build_from_the_start_until_the_report_is_placed(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard = LetterGuard()
    add_feature(monkeypatch, publication_guard=guard)
    build_report(study, lambda words: None)
    assert guard.asked == ["watch report", "refuse", "place"]
    noted = json.loads((study.evidence / "made" / "report.json").read_text("utf-8"))
    assert noted["replaced"] == {"letter-1": "now"}
    assert find_held(study, {"letters": "now"}) == ()
    assert find_held(study, {"letters": "later"}) == ("report",)


def test_the_report_contains_the_section_of_each_feature(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    add_feature(monkeypatch, report_section=LetterSection())
    build_report(study, lambda words: None)
    page = (study.published / "report" / "index.html").read_text("utf-8")
    for words in ("What people wrote by hand", "Letters are translated", "letters read", "decided items and 3 letters"):
        assert words in page


def test_a_feature_section_alone_makes_a_report_possible(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not report_can_be_made(study, State())
    add_feature(monkeypatch, report_section=LetterSection())
    assert report_can_be_made(study, State())
