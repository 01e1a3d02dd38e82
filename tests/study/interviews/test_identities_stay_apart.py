"""Who participants are is in no evidence, no report and no journal, in whatever a study makes of itself."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyarrow.parquet as pq

from labelled_study import labelled_study
from quaestor.study.folder import open_study
from quaestor.study.interviews.items import SOURCE, make_items
from quaestor.study.interviews.people import Contact, set_contact
from quaestor.study.interviews.room import open_interviews
from quaestor.study.results.report import build_report
from quaestor.study.sources import ingest_source
from small_interviews import AGREEMENT, SMALL, with_transcript

TELLING = ("Wilhelmina Xanthe", "w.xanthe@example.org", "+41 555 0199", "Prefers mornings.")


def test_a_report_and_the_evidence_hold_nothing_of_the_file_of_identities(tmp_path: Path) -> None:
    folder = labelled_study(tmp_path / "study", posts=30).root
    (folder / "instruments").mkdir(exist_ok=True)
    (folder / "instruments" / "guide.md").write_text(SMALL, "utf-8")
    (folder / "instruments" / "agreement.md").write_text(AGREEMENT, "utf-8")
    with open_interviews(open_study(folder)) as room:
        with_transcript(room)
        set_contact(room, "P1", Contact(*TELLING))
        made = make_items(room)
    if made.added:
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
