"""Every source keeps the same promises, whatever it reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from quaestor.corpus.evidence import read_manifest
from quaestor.study.folder import Study, open_study
from quaestor.study.sources import ingest_source
from quaestor.study.templates import new_study


@dataclass(frozen=True)
class Source:
    """A source to try: its study file, and how it writes good and bad rows."""

    settings: str
    file: str
    table: str
    write: Callable[[int, int], bytes]


def posts(good: int, bad: int) -> bytes:
    rows = [f'<row Id="{number}" PostTypeId="1" Title="t{number}" />' for number in range(1, good + 1)]
    rows += [f'<row Id="x{number}" PostTypeId="1" Title="bad" />' for number in range(bad)]
    return ("<posts>\n" + "\n".join(rows) + "\n</posts>").encode()


def sheet(good: int, bad: int) -> bytes:
    rows = [f"{number},t{number}" for number in range(1, good + 1)] + [f"x{number},bad" for number in range(bad)]
    return ("id,title\n" + "\n".join(rows) + "\n").encode()


SOURCES = {
    "stackexchange": Source('kind = "stackexchange"\npath = "Posts.xml"\n', "Posts.xml", "posts", posts),
    "csv": Source(
        'kind = "table"\npath = "p.csv"\nitem = "f/{id}"\ncolumns.id = { type = "whole" }\ncolumns.title = {}\n',
        "p.csv",
        "items",
        sheet,
    ),
}


@pytest.fixture(params=SOURCES)
def source(request: pytest.FixtureRequest) -> Source:
    return SOURCES[request.param]


def study_with(source: Source, folder: Path, good: int, bad: int) -> Study:
    if not folder.exists():
        new_study(folder, "blank")
        with (folder / "study.toml").open("a") as file:
            file.write(f"[sources.one]\n{source.settings}")
    (folder / source.file).write_bytes(source.write(good, bad))
    return open_study(folder)


def test_good_rows_are_kept_and_bad_ones_counted_with_offset_and_reason(source: Source, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 40, 3)
    ingest_source(study, "one")
    evidence = study.evidence_of("one")
    manifest = read_manifest(evidence)
    assert manifest is not None
    entry = manifest.tables[source.table]
    assert (entry.rows, entry.rejected) == (40, 3)
    rows = [row for file in entry.files for row in pq.read_table(evidence / source.table / file.name).to_pylist()]
    assert sorted(row["title"] for row in rows) == sorted(f"t{number}" for number in range(1, 41))
    rejects = [json.loads(line) for line in (evidence / "rejects" / f"{source.table}.jsonl").read_text().splitlines()]
    assert len(rejects) == 3
    text = (study.root / source.file).read_bytes()
    for reject in rejects:
        assert text[reject["offset"] :].split(b"\n")[0].startswith((b"<row Id=", b"x"))
        assert "whole number" in reject["reason"] or "whole" in reject["reason"]


def test_the_manifest_says_where_everything_came_from(source: Source, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 5, 0)
    ingest_source(study, "one")
    manifest = read_manifest(study.evidence_of("one"))
    assert manifest is not None
    assert manifest.tool.startswith("quaestor ")
    assert [one.name for one in manifest.inputs] == [source.file]
    assert len(manifest.inputs[0].sha256) == 64
    assert manifest.inputs[0].bytes == (study.root / source.file).stat().st_size


def test_nothing_changed_means_nothing_to_do_and_a_change_is_seen(source: Source, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 5, 0)
    assert not ingest_source(study, "one").unchanged
    assert ingest_source(study, "one").unchanged
    study = study_with(source, tmp_path / "s", 6, 0)
    report = ingest_source(study, "one")
    assert not report.unchanged
    assert report.manifest.tables[source.table].rows == 6


def test_the_input_is_never_written_to(source: Source, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 5, 1)
    path = study.root / source.file
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    path.chmod(0o444)
    ingest_source(study, "one")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_no_good_row_at_all_is_still_evidence(source: Source, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 0, 2)
    report = ingest_source(study, "one")
    assert (report.manifest.tables[source.table].rows, report.manifest.tables[source.table].rejected) == (0, 2)
