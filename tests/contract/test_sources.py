"""Every kind of source fulfils the same contract."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from quaestor.base.errors import SettingsError
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.ingest import describe_change, ingest_source
from quaestor.study.features import features
from quaestor.study.folder import Study, open_study
from quaestor.study.settings.sources import SourceSettings, load_source_kind, source_kind_names
from quaestor.study.templates import new_study

_PLUGIN = '''
"""A kind of source as another package brings it: one item a line, `number title`."""
import pyarrow as pa
from typing import Literal
from quaestor.evidence.sources.protocol import IngestPlan, Reject, TableCounts
from quaestor.study.settings.sources import SourceSettings

SCHEMA = pa.schema([("item", pa.string()), ("title", pa.string()), ("row_number", pa.int64())])

class LinesSettings(SourceSettings):
    kind: Literal["lines"]
    prefix: str = "line"

class LinesSource:
    settings = LinesSettings

    def plan(self, request):
        def read(sink, finished):
            writer = sink.open("items", "00", SCHEMA)
            rows, rejected, offset = [], 0, 0
            for number, line in enumerate(request.path.read_bytes().splitlines(keepends=True), 1):
                first, _, title = line.decode().strip().partition(" ")
                if first.isdigit():
                    rows.append({"item": f"{request.settings.prefix}/{first}", "title": title, "row_number": number})
                else:
                    writer.reject(Reject(offset, f"line {number} does not begin with a whole number", title))
                    rejected += 1
                offset += len(line)
                request.progress(request.path.name, offset, request.path.stat().st_size)
            if rows:
                writer.write(pa.RecordBatch.from_pylist(rows, SCHEMA))
            writer.close()
            yield "items", TableCounts(len(rows), rejected, len(rows) + rejected), offset

        settings = request.settings.model_dump() | {"site": request.name}
        return IngestPlan("lines", settings, [request.path], {"items": request.path.stat().st_size}, read)

    def remedy(self, path):
        return "run `lines fetch`"
'''


@dataclass(frozen=True)
class Case:
    """A source to try: its study file, how it writes good and bad rows, and how a bad one begins."""

    kind: str
    settings: str
    file: str
    table: str
    write: Callable[[int, int], bytes]
    bad: bytes
    remedy: str = "put the input there or correct the path"


def posts(good: int, bad: int) -> bytes:
    rows = [f'<row Id="{number}" PostTypeId="1" Title="t{number}" />' for number in range(1, good + 1)]
    rows += [f'<row Id="x{number}" PostTypeId="1" Title="bad" />' for number in range(bad)]
    return ("<posts>\n" + "\n".join(rows) + "\n</posts>").encode()


def rows_of(head: str, line: str) -> Callable[[int, int], bytes]:
    def write(good: int, bad: int) -> bytes:
        lines = [line.format(id=number, title=f"t{number}") for number in range(1, good + 1)]
        lines += [line.format(id=f"x{number}", title="bad") for number in range(bad)]
        return (head + "".join(f"{text}\n" for text in lines)).encode()

    return write


def table(file: str, remedy: str = "put the input there or correct the path") -> Case:
    columns = 'item = "f/{id}"\ncolumns.id = { type = "whole" }\ncolumns.title = {}\n'
    write = rows_of("id,title\n", "{id},{title}")
    return Case("table", f'path = "{file}"\n{columns}', file, "items", write, b"x", remedy)


CASES = {
    "stackexchange": Case("stackexchange", 'path = "Posts.xml"\n', "Posts.xml", "posts", posts, b"<row Id="),
    "table": table("p.csv"),
    "lines": Case(
        "lines", 'path = "p.txt"\n', "p.txt", "items", rows_of("", "{id} {title}"), b"x", "run `lines fetch`"
    ),
}


@pytest.fixture(autouse=True)
def plugin(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings the kind `lines`, installed as pip does it."""
    folder = tmp_path_factory.mktemp("packages")
    (folder / "lines_source.py").write_text(_PLUGIN)
    about = folder / "lines_source-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lines-source\nVersion: 1.0\n")
    broken = "broken = lines_source_missing:Nothing"
    (about / "entry_points.txt").write_text(f"[quaestor.sources]\nlines = lines_source:LinesSource\n{broken}\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture(params=CASES)
def source(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def study_with(source: Case, folder: Path, good: int, bad: int) -> Study:
    if not folder.exists():
        new_study(folder, "blank")
        with (folder / "study.toml").open("a") as file:
            file.write(f'[sources.one]\nkind = "{source.kind}"\n{source.settings}')
    (folder / source.file).parent.mkdir(parents=True, exist_ok=True)
    (folder / source.file).write_bytes(source.write(good, bad))
    return open_study(folder)


def test_every_registered_source_kind_is_tested_here() -> None:
    live = {feature.live_source.kind for feature in features() if feature.live_source}
    assert live == {"interviews", "open-answers"}, "these have no input to ingest"
    assert {case.kind for case in CASES.values()} | {"broken"} | live == set(source_kind_names())


def test_a_source_kind_has_settings_under_its_name(source: Case) -> None:
    settings = load_source_kind(source.kind).settings
    assert issubclass(settings, SourceSettings)
    assert settings.model_config["extra"] == "forbid"
    assert settings.model_config["frozen"]


def test_a_mistake_in_source_settings_gives_a_one_sentence_error(source: Case, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 1, 0)
    good = study.file.read_text()
    for old, new, expected in (
        ('path = "', 'pat = "', "sources.one.path is missing: add it"),
        (f'kind = "{source.kind}"', 'kind = "lined"', "sources.one.kind is 'lined'; choose from: lines, "),
        (
            f'kind = "{source.kind}"',
            "",
            "sources.one.kind is missing; choose from: broken, interviews, lines, open-answers, ",
        ),
        ("[sources.one]", "[sources.one]\nsit = 1", "sources.one.sit is not a known key, allowed here: "),
    ):
        study.file.write_text(good.replace(old, new))
        with pytest.raises(SettingsError) as refused:
            open_study(study.root)
        assert str(refused.value).startswith(f"{study.file}: {expected}")
        assert "\n" not in str(refused.value)


def test_a_kind_that_cannot_be_loaded_is_named_with_its_origin(tmp_path: Path) -> None:
    new_study(tmp_path / "s", "blank")
    with (tmp_path / "s" / "study.toml").open("a") as file:
        file.write('[sources.one]\nkind = "broken"\npath = "x"\n')
    with pytest.raises(SettingsError, match="'broken' cannot be loaded from lines_source_missing:Nothing"):
        open_study(tmp_path / "s")


def test_a_missing_input_is_reported_with_its_remedy(source: Case, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 1, 0)
    (study.root / source.file).unlink()
    with pytest.raises(SettingsError, match="does not exist") as refused:
        ingest_source(study, "one")
    assert str(refused.value).endswith(f": {source.remedy}")


def test_good_rows_are_kept_and_bad_ones_counted_with_offset_and_reason(source: Case, tmp_path: Path) -> None:
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
        assert text[reject["offset"] :].split(b"\n")[0].startswith(source.bad)
        assert "whole" in reject["reason"]


def test_the_manifest_lists_all_inputs(source: Case, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 5, 0)
    ingest_source(study, "one")
    manifest = read_manifest(study.evidence_of("one"))
    assert manifest is not None
    assert manifest.tool.startswith("quaestor ")
    assert [input_.name for input_ in manifest.inputs] == [Path(source.file).name]
    assert len(manifest.inputs[0].sha256) == 64
    assert manifest.inputs[0].bytes == (study.root / source.file).stat().st_size


def test_an_unchanged_input_is_not_ingested_again_and_a_changed_one_is(source: Case, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 5, 0)
    assert not ingest_source(study, "one").unchanged
    assert ingest_source(study, "one").unchanged
    study = study_with(source, tmp_path / "s", 6, 0)
    assert "the input of one changed" in describe_change(study, "one")
    report = ingest_source(study, "one")
    assert not report.unchanged
    assert not describe_change(study, "one")
    assert report.manifest.tables[source.table].rows == 6


def test_the_input_is_never_changed(source: Case, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 5, 1)
    path = study.root / source.file
    before = (path.read_bytes(), path.stat().st_mtime_ns)
    path.chmod(0o444)
    ingest_source(study, "one")
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before


def test_a_source_without_valid_rows_is_still_evidence(source: Case, tmp_path: Path) -> None:
    study = study_with(source, tmp_path / "s", 0, 2)
    report = ingest_source(study, "one")
    assert (report.manifest.tables[source.table].rows, report.manifest.tables[source.table].rejected) == (0, 2)
