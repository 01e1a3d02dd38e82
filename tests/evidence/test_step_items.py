"""The items behind a number, as a file for a spreadsheet."""

from __future__ import annotations

import csv
from pathlib import Path

from quaestor.evidence.records import ExampleItem
from quaestor.evidence.step_items import write_item_table


def test_text_of_posts_is_never_a_formula(tmp_path: Path) -> None:
    fields = {"body": "", "created": "2020-01-01", "tags": ("python",), "score": -3, "views": 7, "link": ""}
    titles = ["=HYPERLINK(1)", "-how to save", "how = to save"]
    write_item_table([ExampleItem(item=f"so/question/{n}", title=title, **fields) for n, title in enumerate(titles)],
                tmp_path / "items.csv")  # fmt: skip
    rows = list(csv.DictReader((tmp_path / "items.csv").read_text("utf-8").splitlines()))
    assert [row["title"] for row in rows] == ["'=HYPERLINK(1)", "'-how to save", "how = to save"]
    assert [row["score"] for row in rows] == ["-3", "-3", "-3"], "a number stays one"
