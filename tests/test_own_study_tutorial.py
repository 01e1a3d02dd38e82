"""Every command of the tutorial for one's own study prints the output shown on the page."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.support.tutorials import Tutorial

TUTORIAL = Tutorial("tutorial-your-own-study.md")
CODES = ["parsing", "time zones", "calendar arithmetic", "nothing hard"]


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder after every command was run in its turn."""
    return TUTORIAL.follow(tmp_path_factory.mktemp("tutorial"))


def test_every_command_prints_the_output_shown_on_the_page(followed: Path) -> None:
    assert len(list(TUTORIAL.commands())) >= 40
    assert (followed / "published" / "report" / "figures" / "joint-display.svg").exists()


def test_the_joint_display_on_the_page_is_that_of_the_report_and_the_handbook(followed: Path) -> None:
    with (followed / "published" / "report" / "tables" / "table-joint.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["Code"] for row in rows] == CODES
    for row in rows:
        [printed] = [line for line in TUTORIAL.page.splitlines() if line.startswith(f"| {row['Code']} |")]
        cells = [cell.strip() for cell in printed.strip("|").split("|")]
        strands = ("posts", "survey", "interviews")
        counts = [f"{row[f'{strand}: count']} ({float(row[f'{strand}: share']):.1%})" for strand in strands]
        assert cells == [row["Code"], *counts, row["comparison"]]
    for page in ("report/index.html", "handbook/strands.html"):
        shown = (followed / "published" / page).read_text("utf-8")
        for words in (*CODES, "To read those files.", "Nothing so far.", "How to add one month to 31 January?"):
            assert words in shown, (page, words)
