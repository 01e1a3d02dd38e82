"""A table as files: five of them, whole, the same again, and nowhere else."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from quaestor.render.table_model import Table
from quaestor.render.tables.files import write_table
from quaestor.render.tables.layout import Link


def test_five_files_the_same_again(journal_table: Table, link: Link, tmp_path: Path) -> None:
    paths = write_table(journal_table, tmp_path / "tables", link)
    assert [path.name for path in paths] == [f"table-3.{one}" for one in ("html", "md", "tex", "csv", "xlsx")]
    before = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in write_table(journal_table, tmp_path / "tables", link)] == before
    assert sorted((tmp_path / "tables").iterdir()) == sorted(paths)


def test_a_hostile_name_stays_in_its_folder_and_two_names_stay_two(hostile_table: Table, tmp_path: Path) -> None:
    names = ["../3 é", "../3 e", "", "..", "x" * 300, "a/b", "a b"]
    paths = [write_table(dataclasses.replace(hostile_table, id=name), tmp_path)[0] for name in names]
    assert {path.parent for path in paths} == {tmp_path}
    assert len({path.name for path in paths}) == len(names)
