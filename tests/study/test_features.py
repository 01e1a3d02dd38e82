"""The registered features: all of them load, and each says what the kernel asks for."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.support.older_study import act_kinds_in_source, expected

from quaestor.coding.model.codebook.changes import CAN_BE_UNDONE
from quaestor.coding.model.state import _FOLDS
from quaestor.store.journal import Journal
from quaestor.store.records import NewAct
from quaestor.study.feature_modules import FEATURES
from quaestor.study.features import (
    Feature,
    backup_parts,
    features,
    open_known_names,
    open_round_outcomes,
    open_session,
)
from quaestor.study.folder import open_study
from quaestor.study.session import Session
from quaestor.study.settings.sources import SourceSettings, source_kind_names

STUDY = '[study]\nname = "small"\nlead = "lead"\n'


def test_every_listed_feature_loads_under_its_name() -> None:
    assert [f"quaestor.{feature.name}.feature" for feature in features()] == list(FEATURES)


def test_a_backup_has_every_private_file_in_the_order_of_locks() -> None:
    files = ["invitations.db", "answers.db", "interviews.db", "identities.db", "audio.db"]
    assert [part.file for part in backup_parts()] == files


def test_all_features_are_found_without_importing_them_first() -> None:
    script = "from quaestor.study.features import backup_parts; print(len(backup_parts()))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "5"


def test_every_recordable_act_kind_is_described_by_exactly_one_feature() -> None:
    declared = [kind for feature in features() for kind in feature.act_kinds]
    assert len(declared) == len(set(declared))
    recorded = {*expected()["acts"], *act_kinds_in_source(), *_FOLDS, *CAN_BE_UNDONE}
    assert len(recorded) > 35
    assert recorded - set(declared) == set()


def test_a_sentence_fills_in_every_gap_and_ends_without_a_full_stop() -> None:
    for feature in features():
        for kind, described in feature.act_kinds.items():
            sentence = described.describe(round="R", survey="S", count=2)
            assert sentence, kind
            assert not re.search(r"[{}]|\.$", sentence), kind


def test_a_counted_act_is_described_in_singular_and_plural() -> None:
    rating = features_by_name()["coding"].act_kinds["rating"]
    assert rating.describe(round="main", survey="", count=1) == "rated 1 item in main"
    assert rating.describe(round="main", survey="", count=1200) == "rated 1,200 items in main"


def test_a_withdrawal_removes_the_items_of_the_participant_and_no_others() -> None:
    act_kinds = {name: kind for feature in features() for name, kind in feature.act_kinds.items()}
    removing = {name: kind.removes for name, kind in act_kinds.items() if kind.removes}
    assert list(removing) == ["interview.turns", "interview.withdraw"]
    is_removed = removing["interview.withdraw"]({"participant": "P1"})
    items = ("P1/00001", "P1-2/00003", "P12/00001", "P1/notes")
    assert [item for item in items if is_removed(item)] == ["P1/00001", "P1-2/00003"]


def test_evidence_declares_the_kinds_of_sources_that_are_ingested() -> None:
    declared = [(feature.name, kind) for feature in features() for kind in feature.source_kinds]
    assert declared == [("evidence", "stackexchange"), ("evidence", "table")]


def test_a_study_file_can_use_any_source_kind_that_a_feature_declares(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = ModuleType("quaestor_test_feature")
    module.FEATURE = Feature("letters", source_kinds={"letters": f"{__name__}:LetterSource"})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("quaestor.study.feature_modules.FEATURES", (*FEATURES, module.__name__))
    assert source_kind_names() == ["interviews", "letters", "open-answers", "stackexchange", "table"]
    (tmp_path / "study.toml").write_text(f'{STUDY}[sources.one]\nkind = "letters"\npath = "x"\nlanguage = "de"\n')
    assert open_study(tmp_path).settings.sources["one"] == LetterSettings(kind="letters", path="x", language="de")


class LetterSettings(SourceSettings):
    language: str


class LetterSource:
    settings = LetterSettings


@pytest.mark.parametrize("declared", ["known_names", "open_session", "round_outcomes"])
def test_two_features_that_declare_the_same_exclusive_part_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, declared: str
) -> None:
    both = tuple(Feature(name, **{declared: lambda where: None}) for name in ("letters", "diaries"))  # type: ignore[arg-type]
    monkeypatch.setattr("quaestor.study.features.features", lambda: both)
    (tmp_path / "study.toml").write_text(STUDY)
    opener = {"known_names": open_known_names, "open_session": open_session, "round_outcomes": open_round_outcomes}
    with pytest.raises(RuntimeError, match=f"letters and diaries both declare {declared}: only one feature may"):
        opener[declared](open_study(tmp_path))


def test_without_a_feature_that_knows_names_nothing_is_masked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("quaestor.study.features.features", lambda: (Feature("letters"),))
    (tmp_path / "study.toml").write_text(STUDY)
    with open_known_names(open_study(tmp_path)) as names:
        assert names.mask("Ada") == "Ada"
        assert not names.find("Ada")


def features_by_name() -> dict[str, Feature]:
    return {feature.name: feature for feature in features()}


class Count:
    """A state that knows nothing of coding: it counts acts."""

    def __init__(self) -> None:
        self.head = 0
        self.kinds: list[str] = []

    def fold(self, acts: object) -> None:
        for act in acts:  # type: ignore[attr-defined]
            self.head = act.number
            self.kinds.append(act.kind)


def test_a_session_folds_any_state(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    with Journal.open(tmp_path / "study.db") as journal:
        session = Session(open_study(tmp_path), journal, Count)
        session.act(lambda state: NewAct("count", "lead", {"seen": state.head}))
        recorded = session.act(lambda state: NewAct("count", "lead", {"seen": state.head}))
        assert session.state.kinds == ["count", "count"]
        assert recorded[0].payload == {"seen": 1}
