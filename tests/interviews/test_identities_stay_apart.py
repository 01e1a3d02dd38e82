"""Evidence, reports and the journal contain no identities of participants."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.support.labelled_study import labelled_study
from tests.support.small_interviews import AGREEMENT, SMALL, a_study, with_transcript

from quaestor.base.errors import StateError
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, make_items
from quaestor.interviews.names.remaining import refuse_names
from quaestor.interviews.participants.people import Contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.publication.report.make import build_report
from quaestor.study.backup import back_up_study, restore_study
from quaestor.study.folder import open_study

TELLING = ("Wilhelmina Xanthe", "w.xanthe@example.org", "+41 555 0199", "Prefers mornings.")


def test_report_and_evidence_contain_nothing_of_the_identities_file(tmp_path: Path) -> None:
    folder = labelled_study(tmp_path / "study", posts=30).root
    (folder / "instruments").mkdir(exist_ok=True)
    (folder / "instruments" / "guide.md").write_text(SMALL, "utf-8")
    (folder / "instruments" / "agreement.md").write_text(AGREEMENT, "utf-8")
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
        set_contact(room, "P1", Contact(*TELLING))
        items = make_items(room)
    if items.added:
        ingest_source(open_study(folder), SOURCE)
    build_report(open_study(folder), lambda words: None, with_audit=False)
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert len([path for path in written if folder / "published" in path.parents]) > 20
    for path in written:
        held = text_of(path)
        assert not [word for word in TELLING if word.encode() in held], path


def text_of(path: Path) -> bytes:
    """What a file holds, also where it is packed."""
    if path.suffix == ".parquet":
        return str(pq.read_table(path).to_pylist()).encode()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            return b"".join(packed.read(name) for name in packed.namelist())
    return path.read_bytes()


@pytest.mark.parametrize("lost", [("identities.db",), ("identities.db", "identities.key")])
def test_a_study_that_lost_its_names_file_cannot_be_published(tmp_path: Path, lost: tuple[str, ...]) -> None:
    study = a_study(tmp_path / "study")
    with open_interviews(study) as room:
        with_transcript(room)
    kept = back_up_study(study, tmp_path / "kept.backup")
    assert kept
    for name in lost:
        for path in study.root.glob(f"{name}*"):
            path.unlink()
    for refused in (refuse_names, lambda one: build_report(one, lambda _: None)):
        with pytest.raises(StateError, match=r"identities\.db is missing, .*restore a backup"):
            refused(study)
    assert not (study.root / "identities.db").exists()
    if "identities.key" not in lost:
        restore_study(study, tmp_path / "kept.backup", replacing=True)
        refuse_names(study)
