"""`quaestor survey items` and `themes` as a lead meets them: words, JSON, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import quaestor
from tests.support.small_survey import NAME, answered, fielded


def test_items_are_made_once_and_again_and_the_next_step_is_said(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        answered(surveys)
    first = quaestor("survey", "items", NAME, "hardest", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "1 open answers of 1 participants are in" in first.stderr
    assert "`quaestor ingest tools-hardest`, `quaestor funnel`" in first.stderr
    again = quaestor("survey", "items", NAME, "hardest", "--json", cwd=tmp_path)
    document = json.loads(again.stdout)
    assert (document["source"], document["items"], document["added"]) == ("tools-hardest", 1, False)


def test_what_cannot_be_counted_is_one_sentence(tmp_path: Path) -> None:
    with fielded(tmp_path):
        pass
    said = quaestor("survey", "themes", "considerations", cwd=tmp_path)
    assert said.returncode == 2
    assert said.stderr.strip() == "quaestor: the round 'considerations' has not been opened, opened so far: none"
    said = quaestor("survey", "items", NAME, "years", cwd=tmp_path)
    assert said.returncode == 2
    assert "asks for no words of one's own" in said.stderr
