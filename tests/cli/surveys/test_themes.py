"""`quaestor survey items` and `themes`: output, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.command_line import quaestor
from tests.support.small_survey import NAME, answered, fielded


def test_items_can_be_derived_again_and_the_next_step_is_printed(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        answered(surveys)
    first = quaestor("survey", "items", NAME, "hardest", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "1 open answer from 1 participant, read from answers.db when they are needed" in first.stderr
    assert "Next: `quaestor funnel`" in first.stderr
    again = quaestor("survey", "items", NAME, "hardest", "--json", cwd=tmp_path)
    document = json.loads(again.stdout)
    assert (document["source"], document["items"], document["added"]) == ("tools-hardest", 1, False)


def test_wrong_calls_are_refused_with_one_sentence(tmp_path: Path) -> None:
    with fielded(tmp_path):
        pass
    done = quaestor("survey", "themes", "considerations", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() == "quaestor: the round 'considerations' has not been opened, opened so far: none"
    done = quaestor("survey", "items", NAME, "years", cwd=tmp_path)
    assert done.returncode == 2
    assert "has no text field" in done.stderr
