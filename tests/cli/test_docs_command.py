"""`quaestor docs` lists, prints and searches the documentation."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.paths import DOCS


def docs(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "quaestor.cli.main", "docs", *arguments], capture_output=True, text=True, check=False
    )


def test_without_a_topic_all_of_them_are_listed() -> None:
    listed = docs()
    assert listed.returncode == 0
    assert "how-to/invite-raters" in listed.stdout
    topics = {entry["topic"] for entry in json.loads(docs("--json").stdout)}
    assert {"tutorial", "reference/agreement", "decisions/0006-journal"} <= topics


def test_a_topic_is_printed_unchanged_if_the_output_is_not_a_terminal() -> None:
    assert docs("agreement").stdout == (DOCS / "reference" / "agreement.md").read_text("utf-8")


def test_a_search_without_a_match_exits_with_1_and_an_unknown_topic_with_2() -> None:
    assert "reference/agreement" in docs("--search", "kappa").stdout
    assert docs("--search", "xyzzyquux").returncode == 1
    unknown = docs("agrement")
    assert unknown.returncode == 2
    assert "nearest topics: agreement" in unknown.stderr
