"""Misleading rows: every way of reading keeps and refuses the same ones."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from quaestor.base.errors import InputError, StateError
from quaestor.evidence.dataset import StagedDataset, read_manifest
from quaestor.evidence.ingest import ingest_stackexchange
from quaestor.evidence.sources.stackexchange.inputs import guess_site

HEAD = b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>\n'

POSTS = b"""<posts>
  <row Id="1" PostTypeId="1" Body="where ParentId='1' and x" Tags="|python|" AnswerCount="1" />
  <row Id="2" PostTypeId="1" Body="b" Tags="&#60;python&#62;" />
  <row Id="3" PostTypeId="2" ParentId="1" Body="ParentId='4'" />
  <row Id="4" PostTypeId="1" Body="ParentId='1'" Tags="|java|" />
  <row Id="5" PostTypeId="1" Body="b" Tags="|pyth&#111;n|" />
  <row Id="6" PostTypeId="1" Body="b" Tags='|python|' />
  <row Id="7" PostTypeId="1" Body="b" Tags = "|python|java|" />
  <row Id="8" PostTypeId="1" Body="Tags='|python|'" Tags="|c|" />
  <row Id="9" PostTypeId="1" Body="b" Tags="&lt;python&gt;&lt;c&gt;" OwnerUserId="-1" Mood="blue" />
  <row Id="10" PostTypeId="2" ParentId="99999999999999999999999" Body="b" />
  <row Id="11" PostTypeId="1" Body="<!-- x" Tags="|python|" />
  <row Id="12" PostTypeId="1" Body="fine" Tags="|python|" />
  <row Id="13" PostTypeId="1" Body="a -->" Tags="|python|" />
  <!-- <row Id="14" PostTypeId="1" Body="b" Tags="|python|" /> -->
  <row Id="15" PostTypeId="2" ParentId="2" Body="b" />
  <row Id="16" PostTypeId="2" Score="1" ParentId="9" Body="b" />
  <b>stray</b>
</posts>"""
WANTED = [1, 2, 3, 5, 6, 7, 9, 12, 13, 15, 16]
COMMENTS = b"""<comments>
  <row Id="1" PostId="1" Text="kept" Mood="odd" />
  <row Id="2" PostId="400" Text="see PostId='1'" />
  <row Id="3" PostId='3' Text="kept" />
  <row Id="4" PostId="&#49;" Text="kept" />
  <row Id="5" PostId="1" Text="broken />
  <row Id="6" PostId="12" Text="kept" />
</comments>"""
USERS = b"""<users>
  <row Id="-1" DisplayName="Community" AboutMe="where Id='9'" />
  <row Id="9" DisplayName="someone else" AboutMe="Id='-1'" />
</users>"""


class Stop(Exception):
    """A test's way to interrupt."""


def ids(evidence: Path, table: str = "posts") -> list[int]:
    manifest = read_manifest(evidence)
    assert manifest is not None
    files = [evidence / table / file.name for file in manifest.tables[table].files]
    return sorted(number for path in files for number in pq.read_table(path).column("id").to_pylist())


def rejects_of(evidence: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (evidence / "rejects" / "posts.jsonl").read_text().splitlines()]


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    folder = tmp_path / "dump"
    folder.mkdir()
    for name, text in (("Posts", POSTS), ("Comments", COMMENTS), ("Users", USERS)):
        (folder / f"{name}.xml").write_bytes(HEAD + text)
    return folder


def test_a_selection_does_not_depend_on_how_a_row_is_written(dump: Path, tmp_path: Path) -> None:
    report = ingest_stackexchange(dump, tmp_path / "out", tags=("python",))
    assert ids(tmp_path / "out") == WANTED
    assert ids(tmp_path / "out", "comments") == [1, 3, 4, 6]
    assert ids(tmp_path / "out", "users") == [-1]
    assert report.manifest.tables["posts"].unknown == {"Mood": 1}


def test_a_stream_gives_the_same_rows_and_the_same_rejects_as_a_file(dump: Path, tmp_path: Path) -> None:
    packed = tmp_path / "Posts.xml.gz"
    packed.write_bytes(gzip.compress((dump / "Posts.xml").read_bytes(), mtime=0))
    for tags in ((), ("python",)):
        plain = ingest_stackexchange(dump / "Posts.xml", tmp_path / f"plain{len(tags)}", tags=tags)
        stream = ingest_stackexchange(packed, tmp_path / f"stream{len(tags)}", tags=tags)
        assert ids(tmp_path / f"stream{len(tags)}") == ids(tmp_path / f"plain{len(tags)}")
        assert rejects_of(tmp_path / f"plain{len(tags)}") == rejects_of(tmp_path / f"stream{len(tags)}")
        assert stream.as_json()["bytes"] == plain.as_json()["bytes"] > 0


def test_a_full_ingest_and_a_selection_by_tag_reject_the_same_rows(dump: Path, tmp_path: Path) -> None:
    whole = ingest_stackexchange(dump, tmp_path / "whole").manifest.tables
    some = ingest_stackexchange(dump, tmp_path / "some", tags=("python",)).manifest.tables
    assert len(rejects_of(tmp_path / "whole")) == whole["posts"].rejected == some["posts"].rejected == 3
    assert whole["comments"].rejected == some["comments"].rejected == 1


def test_a_truncated_gzip_gives_every_readable_row(tmp_path: Path) -> None:
    rows = b"".join(b'<row Id="%d" PostTypeId="1" Body="%d" />\n' % (n, n * 7919) for n in range(1, 4000))
    raw = gzip.compress(b"<posts>\n" + rows + b"</posts>", mtime=0)
    (tmp_path / "Posts.xml.gz").write_bytes(raw[: len(raw) // 2])
    readable = zlib.decompressobj(31).decompress(raw[: len(raw) // 2])
    ingest_stackexchange(tmp_path / "Posts.xml.gz", tmp_path / "out")
    assert len(ids(tmp_path / "out")) == readable.count(b"/>") > 1_000


def test_a_run_that_cannot_be_resumed_leaves_nothing_of_an_earlier_one(dump: Path, tmp_path: Path) -> None:
    def stop_at_comments(what: str, done: int, total: int) -> None:
        if what == "Comments.xml":
            raise Stop

    with pytest.raises(Stop):
        ingest_stackexchange(dump, tmp_path / "out", tags=("python",), workers=3, progress=stop_at_comments)
    ingest_stackexchange(dump, tmp_path / "out", tags=("python",), workers=1)
    assert ids(tmp_path / "out") == WANTED


def test_evidence_with_missing_files_is_rebuilt(dump: Path, tmp_path: Path) -> None:
    ingest_stackexchange(dump, tmp_path / "out")
    part = next((tmp_path / "out" / "posts").glob("*.parquet"))
    part.unlink()
    assert not ingest_stackexchange(dump, tmp_path / "out").unchanged
    assert part.exists()


def test_a_folder_with_other_files_is_never_changed(dump: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "posts").mkdir(parents=True)
    (own / "posts" / "mine.txt").write_text("years of work")
    with pytest.raises(InputError, match="has files that are not evidence"):
        ingest_stackexchange(dump, own)
    ingest_stackexchange(dump, tmp_path / "out")
    (tmp_path / "out" / "posts" / "mine.txt").write_text("years of work")
    with pytest.raises(StateError, match="files that are not evidence"):
        ingest_stackexchange(dump, tmp_path / "out", tags=("python",))
    assert (own / "posts" / "mine.txt").exists()
    assert (tmp_path / "out" / "posts" / "mine.txt").exists()


def test_a_difference_between_counted_and_written_rows_is_an_error(tmp_path: Path, dump: Path) -> None:
    report = ingest_stackexchange(dump, tmp_path / "out")
    aside = StagedDataset(tmp_path / "other")
    aside.begin("x")
    with pytest.raises(StateError, match="rows, expected"):
        aside.commit(report.manifest)


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("stackoverflow.com-Posts.7z", "stackoverflow"),
        ("coffee.stackexchange.com.7z", "coffee"),
        ("ru.stackoverflow.com", "ru.stackoverflow"),
        ("Posts.xml", "dump"),
        ("stackoverflow.com-Posts.xml", "stackoverflow"),
    ],
)
def test_the_site_is_derived_from_the_path(tmp_path: Path, name: str, site: str) -> None:
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / name).touch()
    assert guess_site(tmp_path / "dump" / name) == site
    if "-Posts" in name:
        assert guess_site(tmp_path / "dump") == site
