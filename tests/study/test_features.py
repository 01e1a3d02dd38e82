"""The registered features: all of them load, and each says what the kernel asks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from quaestor.store.journal import Journal
from quaestor.store.records import NewAct
from quaestor.study.features import FEATURES, backup_parts, features
from quaestor.study.folder import open_study
from quaestor.study.free_text import NoFreeText
from quaestor.study.session import Session

STUDY = '[study]\nname = "small"\nlead = "lead"\n'


def test_every_named_feature_loads_under_its_own_name() -> None:
    assert [f"quaestor.{feature.name}.feature" for feature in features()] == list(FEATURES)


def test_a_backup_has_every_private_file_in_the_order_of_locks() -> None:
    assert [part.file for part in backup_parts()] == ["invitations.db", "answers.db", "interviews.db", "identities.db"]


def test_a_process_that_imports_no_feature_still_finds_them_all() -> None:
    script = "from quaestor.study.features import backup_parts; print(len(backup_parts()))"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "4"


def test_each_kind_of_act_has_the_sentence_of_one_feature() -> None:
    kinds = [kind for feature in features() for kind in feature.act_sentences]
    assert len(kinds) == len(set(kinds))
    assert all(sentence and not sentence.endswith(".") for one in features() for sentence in one.act_sentences.values())


class Count:
    """A state that knows nothing of coding: it counts acts."""

    def __init__(self) -> None:
        self.head = 0
        self.kinds: list[str] = []

    def take(self, acts: object) -> None:
        for act in acts:  # type: ignore[attr-defined]
            self.head = act.number
            self.kinds.append(act.kind)


def test_a_session_folds_any_state(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    with Journal.open(tmp_path / "study.db") as journal:
        session = Session(open_study(tmp_path), journal, Count, NoFreeText())
        session.act(lambda state: NewAct("count", "lead", {"seen": state.head}))
        recorded = session.act(lambda state: NewAct("count", "lead", {"seen": state.head}))
        assert session.state.kinds == ["count", "count"]
        assert recorded[0].payload == {"seen": 1}
