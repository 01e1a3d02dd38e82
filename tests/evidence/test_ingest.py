"""Ingest, end to end: every form of input, every way to be interrupted, every kind of bad file."""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import py7zr
import pyarrow.parquet as pq
import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.ingest import ingest_stackexchange
from quaestor.synth.stackexchange import write_dump

WriteTable = object


def rows_of(evidence: Path, table: str = "posts") -> list[dict[str, object]]:
    manifest = read_manifest(evidence)
    assert manifest is not None
    rows = [
        row for file in manifest.tables[table].files for row in pq.read_table(evidence / table / file.name).to_pylist()
    ]
    return sorted(rows, key=lambda row: row["id"])


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synthetic") / "dump"
    write_dump(folder, posts=3_000, seed=11)
    return folder


def test_every_row_of_the_coffee_dump_is_read(coffee: Path, tmp_path: Path) -> None:
    report = ingest_stackexchange(coffee, tmp_path / "out").as_json()
    assert report["tables"] == {"posts": {"rows": 592, "rejected": 0}}
    assert (report["questions"], report["answers"], report["accepted"], report["closed"]) == (
        225,
        327,
        105,
        14,
    )
    assert report["bytes"] == (coffee / "Posts.xml").stat().st_size


def test_values_of_the_coffee_dump_equal_those_of_an_xml_parser(coffee: Path, tmp_path: Path) -> None:
    ingest_stackexchange(coffee, tmp_path / "out")
    rows = {row["id"]: row for row in rows_of(tmp_path / "out")}
    for _, element in ElementTree.iterparse(coffee / "Posts.xml"):
        if element.tag == "row":
            row = rows[int(element.attrib["Id"])]
            assert row["body"] == element.attrib["Body"]
            assert row["title"] == element.attrib.get("Title")
            assert row["score"] == int(element.attrib["Score"])
            assert row["creation_date"].isoformat(timespec="milliseconds") == element.attrib["CreationDate"]  # type: ignore[attr-defined]
            tags = element.attrib.get("Tags")
            assert row["tags"] == (tags[1:-1].split("><") if tags else None)


def test_a_selection_by_tag_equals_a_simple_loop_over_the_coffee_dump(coffee: Path, tmp_path: Path) -> None:
    ingest_stackexchange(coffee, tmp_path / "out", tags=("brewing*", "storage"))
    elements = [e.attrib for _, e in ElementTree.iterparse(coffee / "Posts.xml") if e.tag == "row"]
    questions = {
        e["Id"]
        for e in elements
        if any(tag.startswith("brewing") or tag == "storage" for tag in e.get("Tags", "")[1:-1].split("><"))
    }
    expected = {int(e["Id"]) for e in elements if e["Id"] in questions or e.get("ParentId") in questions}
    assert {row["id"] for row in rows_of(tmp_path / "out")} == expected
    assert len(expected) > 20


@pytest.mark.parametrize("tags", [(), ("tensorflow*", "python")])
@pytest.mark.parametrize("form", ["file", "gz", "7z"])
def test_every_form_of_a_dump_gives_the_same_evidence(
    dump: Path, tmp_path: Path, form: str, tags: tuple[str, ...]
) -> None:
    ingest_stackexchange(dump, tmp_path / "folder", tags=tags)
    if form == "file":
        path = dump / "Posts.xml"
    elif form == "gz":
        path = tmp_path / "Posts.xml.gz"
        path.write_bytes(gzip.compress((dump / "Posts.xml").read_bytes()))
    else:
        path = tmp_path / "small.stackexchange.com.7z"
        with py7zr.SevenZipFile(path, "w") as archive:
            for table in sorted(dump.glob("*.xml")):
                archive.write(table, table.name)
    report = ingest_stackexchange(path, tmp_path / form, tags=tags)
    assert rows_of(tmp_path / form) == rows_of(tmp_path / "folder")
    if form == "7z":
        assert report.manifest.site == "small"
        for name in ("comments", "users", "votes", "posthistory", "postlinks", "badges", "tags"):
            assert rows_of(tmp_path / form, name) == rows_of(tmp_path / "folder", name)


def test_the_eight_tables_contain_the_synthetic_rows(dump: Path, tmp_path: Path) -> None:
    truth = json.loads((dump / "truth.json").read_text())
    report = ingest_stackexchange(dump, tmp_path / "out")
    assert {name: entry.rows for name, entry in report.manifest.tables.items()} == truth["rows"]
    found = report.as_json()
    assert [found[key] for key in ("questions", "answers", "accepted", "closed")] == [
        truth[key] for key in ("questions", "answers", "accepted", "closed")
    ]
    assert report.manifest.notes == ("synthetic evidence, seed 11: not written by people",)
    assert all(len(input_.sha256) == 64 for input_ in report.manifest.inputs)


def test_a_selection_takes_from_other_tables_what_belongs_to_its_posts(dump: Path, tmp_path: Path) -> None:
    ingest_stackexchange(dump, tmp_path / "whole")
    ingest_stackexchange(dump, tmp_path / "some", tags=("python",))
    posts = {row["id"] for row in rows_of(tmp_path / "some")}
    owners = {row["owner_user_id"] for row in rows_of(tmp_path / "some")}
    for table, key, ids in (
        ("comments", "post_id", posts),
        ("votes", "post_id", posts),
        ("users", "id", owners),
    ):
        expected = [row for row in rows_of(tmp_path / "whole", table) if row[key] in ids]
        assert rows_of(tmp_path / "some", table) == expected
    assert rows_of(tmp_path / "some", "tags") == rows_of(tmp_path / "whole", "tags")


@pytest.mark.parametrize("cut", ["inside a row", "between rows"])
def test_a_dump_that_was_cut_off_is_noted_as_incomplete(dump: Path, tmp_path: Path, cut: str) -> None:
    copy = Path(shutil.copytree(dump, tmp_path / "copy"))
    text = (copy / "Posts.xml").read_bytes()
    half = text.index(b"<row", len(text) // 2)
    (copy / "Posts.xml").write_bytes(text[: half + (9 if cut == "inside a row" else 0)])
    notes = ingest_stackexchange(copy, tmp_path / "out").manifest.notes
    assert notes[-1] == "Posts.xml does not end with a closing tag: the file may be incomplete"
    assert notes[:-1] == ingest_stackexchange(dump, tmp_path / "whole").manifest.notes


def test_ingesting_an_unchanged_input_again_does_nothing_and_says_so(dump: Path, tmp_path: Path) -> None:
    first = ingest_stackexchange(dump, tmp_path / "out")
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    again = ingest_stackexchange(dump, tmp_path / "out")
    assert (first.unchanged, again.unchanged) == (False, True)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")} == files
    assert {**again.as_json(), "unchanged": False} == first.as_json()
    other = ingest_stackexchange(dump, tmp_path / "out", tags=("python",))
    assert not other.unchanged


def test_a_touched_file_with_the_same_content_is_unchanged_and_a_changed_one_is_not(dump: Path, tmp_path: Path) -> None:
    copy = tmp_path / "dump"
    shutil.copytree(dump, copy)
    ingest_stackexchange(copy, tmp_path / "out")
    os.utime(copy / "Posts.xml")
    assert ingest_stackexchange(copy, tmp_path / "out").unchanged
    text = (copy / "Posts.xml").read_bytes()
    (copy / "Posts.xml").write_bytes(text.replace(b'Score="1"', b'Score="2"', 1))
    assert not ingest_stackexchange(copy, tmp_path / "out").unchanged


def test_evidence_depends_only_on_the_input_and_not_on_process_timing(dump: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        ingest_stackexchange(dump, tmp_path / name, workers=3)
    first, second = (
        {path.relative_to(tmp_path / name): path.read_bytes() for path in (tmp_path / name).rglob("*.parquet")}
        for name in ("one", "two")
    )
    assert first == second


def test_new_evidence_replaces_all_older_evidence(dump: Path, coffee: Path, tmp_path: Path) -> None:
    ingest_stackexchange(dump, tmp_path / "out")
    (tmp_path / "out" / "notes").mkdir()
    (tmp_path / "out" / "notes" / "mine.txt").write_text("a person's own")
    ingest_stackexchange(coffee, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        ".lock",
        "manifest.json",
        "notes",
        "posts",
        "rejects",
    ]
    assert len(rows_of(tmp_path / "out")) == 592


CHILD = """
import sys
from pathlib import Path
from quaestor.evidence.ingest import ingest_stackexchange
ingest_stackexchange(Path(sys.argv[1]), Path(sys.argv[2]), tags=tuple(sys.argv[3:]))
"""


@pytest.mark.parametrize("tags", [(), ("python",)])
def test_a_killed_ingest_leaves_nothing_visible_and_the_next_run_resumes_it(
    dump: Path, tmp_path: Path, tags: tuple[str, ...]
) -> None:
    whole = ingest_stackexchange(dump, tmp_path / "reference", tags=tags).as_json()["tables"]
    out = tmp_path / "out"
    random_moments = random.Random(5)
    killed = 0
    for _ in range(12):
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(dump), str(out), *tags], start_new_session=True)
        try:
            child.wait(random_moments.uniform(0.15, 0.9))
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            killed += 1
        manifest = read_manifest(out) if out.exists() else None
        if manifest is not None:
            assert {name: {"rows": entry.rows, "rejected": 0} for name, entry in manifest.tables.items()} == whole
            for name, entry in manifest.tables.items():
                assert sum(pq.read_metadata(out / name / file.name).num_rows for file in entry.files) == entry.rows
            shutil.rmtree(out)
    assert killed >= 3
    assert ingest_stackexchange(dump, out, tags=tags).as_json()["tables"] == whole
    assert rows_of(out) == rows_of(tmp_path / "reference")
    assert not (out / ".aside").exists()


def test_finished_tables_of_an_interrupted_run_are_not_read_again(dump: Path, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop_at_votes(what: str, done: int, total: int) -> None:
        if what == "Votes.xml":
            raise Stop

    with pytest.raises(Stop):
        ingest_stackexchange(dump, tmp_path / "out", progress=stop_at_votes)
    assert read_manifest(tmp_path / "out") is None
    report = ingest_stackexchange(dump, tmp_path / "out")
    assert set(report.resumed) >= {"posts", "comments", "users"}
    ingest_stackexchange(dump, tmp_path / "reference")
    assert rows_of(tmp_path / "out") == rows_of(tmp_path / "reference")
    assert set(report.manifest.tables) == {
        "posts",
        "comments",
        "users",
        "votes",
        "posthistory",
        "postlinks",
        "badges",
        "tags",
    }


def test_bad_rows_are_counted_and_kept_with_offset_and_reason(write_posts: object, tmp_path: Path) -> None:
    good = [f'<row Id="{number}" PostTypeId="1" Tags="|x|" Body="b" />' for number in range(1, 50)]
    bad = [
        b'<row Id="90" Body="a\x00b" />',
        b'<row Id="91" Body="caf\xe9" />',
        '<row Id="92" Score="many" />',
    ]
    folder = write_posts(*good[:20], *bad, *good[20:], '<row Id="93" PostTypeId="1" Body="cut', end=False)  # type: ignore[operator]
    report = ingest_stackexchange(folder, tmp_path / "out")
    assert report.as_json()["tables"] == {"posts": {"rows": 49, "rejected": 4}}
    rejects = [json.loads(line) for line in (tmp_path / "out" / "rejects" / "posts.jsonl").read_text().splitlines()]
    text = (folder / "Posts.xml").read_bytes()
    assert [text[reject["offset"] :][:11] for reject in rejects] == [
        b'<row Id="90',
        b'<row Id="91',
        b'<row Id="92',
        b'<row Id="93',
    ]
    assert [
        "0x00" in rejects[0]["reason"],
        "UTF-8" in rejects[1]["reason"],
        "Score" in rejects[2]["reason"],
    ] == [True] * 3
    assert "not closed" in rejects[3]["reason"]


def test_an_archive_cut_short_gives_the_rows_before_the_cut(dump: Path, tmp_path: Path) -> None:
    path = tmp_path / "Posts.xml.gz"
    raw = gzip.compress((dump / "Posts.xml").read_bytes(), mtime=0)
    path.write_bytes(raw[: len(raw) * 2 // 3])
    report = ingest_stackexchange(path, tmp_path / "out")
    entry = report.manifest.tables["posts"]
    assert 1_000 < entry.rows < 3_000
    reasons = (tmp_path / "out" / "rejects" / "posts.jsonl").read_text()
    assert "cannot be read further as gzip" in reasons


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("Posts.xml", b"", "is empty"),
        ("Posts.xml", b"Hello, I am a text.", "is not a table of a Stack Exchange dump"),
        ("Posts.xml", b"<html><body>404</body></html>", "expected the element <posts>"),
        ("Posts.xml", b"\xff\xfe<\x00p\x00", "is UTF-16"),
        ("letters.xml", b"<?xml version='1.0'?><letters/>", "one of <posts>"),
        ("dump.7z", b"7z\xbc\xaf\x27\x1c" + bytes(40), "dump.7z"),
        ("Posts.xml.gz", b"not gzip at all", "gzip"),
        ("readme.txt", b"read me", "is not a table"),
    ],
)
def test_an_input_that_is_not_a_dump_is_refused_in_one_sentence(
    tmp_path: Path, name: str, content: bytes, expected: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=expected) as refused:
        ingest_stackexchange(tmp_path / name, tmp_path / "out")
    assert "\n" not in str(refused.value)
    assert not (tmp_path / "out" / "manifest.json").exists()


def test_a_folder_without_tables_and_a_missing_path_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no table"):
        ingest_stackexchange(tmp_path / "empty", tmp_path / "out")
    with pytest.raises(InputError, match="does not exist"):
        ingest_stackexchange(tmp_path / "nowhere", tmp_path / "out")


def test_a_dump_with_the_same_table_twice_is_refused(dump: Path, tmp_path: Path) -> None:
    shutil.copy(dump / "Tags.xml", tmp_path / "Tags.xml")
    (tmp_path / "Tags.xml.gz").write_bytes(gzip.compress((dump / "Tags.xml").read_bytes()))
    with pytest.raises(InputError, match="more than once"):
        ingest_stackexchange(tmp_path, tmp_path / "out")


def test_a_second_ingest_into_the_same_folder_is_refused_while_the_first_runs(dump: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    hold = (
        "import fcntl, sys, time; f = open(sys.argv[1], 'w'); fcntl.flock(f, fcntl.LOCK_EX);"
        "print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", hold, str(out / ".lock")], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(StateError, match="another process is busy with an ingest"):
            ingest_stackexchange(dump, out)
        child.kill()
    assert not ingest_stackexchange(dump, out).unchanged


def test_the_reported_seconds_are_the_elapsed_time(dump: Path, tmp_path: Path) -> None:
    started = time.perf_counter()
    report = ingest_stackexchange(dump, tmp_path / "out")
    assert 0 < report.manifest.seconds <= time.perf_counter() - started
