"""Results of several rounds: each item counts once, with the decision of the later round."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.publication.test_right_numbers import CODEBOOK, STUDY, counts, publish
from tests.support.made_once import study_of

from quaestor.base.errors import SettingsError
from quaestor.coding.codebook import change_codebook, import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.publication.publication import open_computed
from quaestor.publication.report.make import NotFullyDecided, build_report
from quaestor.publication.results.threats import list_threats
from quaestor.study.folder import Study, open_study

PILOT = """
[samples.thirty]
after = "all"
size = 30
seed = 5

[[rounds]]
round = "first"
items = { sample = "twenty" }
facets = ["topic"]
raters = ["rater-1", "rater-2"]

[[rounds]]
round = "second"
items = { sample = "thirty" }
facets = ["topic"]
raters = ["rater-1", "rater-2"]
"""


def list_items(study: Study, name: str) -> set[str]:
    with open_coding(study) as coding:
        return set(coding.state.round(name).plan.items)


def rate_round(study: Study, name: str, code: str, contested: str = "") -> None:
    """Both raters give every item the same code, except for a contested one."""
    with open_coding(study) as coding:
        for item in coding.state.round(name).plan.items:
            for rater in ("rater-1", "rater-2"):
                differs = item == contested and rater == "rater-2"
                rate(coding, name, rater, item, {"topic": "training/loss" if differs else code})
    close_by_name(study, name, None)


@pytest.fixture
def pooled(tmp_path: Path) -> Study:
    head, _, tail = STUDY.partition("[[rounds]]")
    tail = tail.partition("[results]")[2].replace('code = "main.topic"', 'code = ["first.topic", "second.topic"]')
    text = f"{head}{PILOT}\n[results]{tail}".replace("SETTING", "setting")
    posts = "\n".join(["id,title", *(f"{number},how to do {number}" for number in range(101, 161))])
    study = study_of(tmp_path / "study", {"posts.csv": posts, "study.toml": text, "codebook.toml": CODEBOOK})
    import_codebook(study)
    for name in ("first", "second"):
        open_by_name(study, name, None)
    return study


def test_the_later_round_counts_and_the_report_says_so(pooled: Study) -> None:
    rate_round(pooled, "first", "training")
    rate_round(pooled, "second", "setting")
    first, second = (list_items(pooled, name) for name in ("first", "second"))
    both = first & second
    assert 0 < len(both) < len(first), "some items are in both rounds"
    result = counts(publish(pooled))
    assert result == {"S": len(second), "T": len(first - second), "total": len(first | second)}
    build_report(pooled, lambda words: None)
    page = (pooled.published / "report" / "index.html").read_text("utf-8")
    origin = f"first ({len(first - second)} items) and second ({len(second)} items)"
    assert f"The codes come from the rounds {origin}." in page
    assert f"{len(both)} items were decided in several of them, {len(both)} of these differently" in page


def test_codes_that_were_merged_since_do_not_differ(pooled: Study) -> None:
    rate_round(pooled, "first", "training")
    rate_round(pooled, "second", "setting")
    pooled.file.write_text(pooled.file.read_text("utf-8").partition("[[findings]]")[0], "utf-8")
    study = open_study(pooled.root)
    change_codebook(study, "codebook.merge", {"codes": ["setting"], "into": "training"})
    build_report(study, lambda words: None)
    assert ", 0 of these differently" in (study.published / "report" / "index.html").read_text("utf-8")


@pytest.mark.parametrize("is_decided_elsewhere", [True, False])
def test_an_item_is_undecided_unless_another_pooled_round_decided_it(pooled: Study, is_decided_elsewhere: bool) -> None:
    first, second = (list_items(pooled, name) for name in ("first", "second"))
    contested = min(first & second if is_decided_elsewhere else first - second)
    rate_round(pooled, "first", "training", contested)
    rate_round(pooled, "second", "setting")
    if is_decided_elsewhere:
        build_report(pooled, lambda words: None)
        return
    with pytest.raises(NotFullyDecided, match="In the round first 1 item is undecided"):
        build_report(pooled, lambda words: None)


def test_an_unanswered_item_has_no_final_code_unless_another_pooled_round_decided_it(pooled: Study) -> None:
    first, second = (list_items(pooled, name) for name in ("first", "second"))
    unanswered = {min(first & second), *sorted(first - second)[:2]}
    with open_coding(pooled) as coding:
        for item in first:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "first", rater, item, {} if item in unanswered else {"topic": "training"})
    close_by_name(pooled, "first", None)
    rate_round(pooled, "second", "setting")
    with open_computed(pooled) as computed:
        threats = list_threats(computed)
    why = "the question is optional, and no rater answered it"
    assert f"Measurement: 2 kept items have no final code: {why}." in threats
    result = counts(publish(pooled))
    assert result == {"S": len(second), "T": len(first - second) - 2, "total": len(first | second) - 2}


def test_a_round_named_twice_is_refused(pooled: Study) -> None:
    text = pooled.file.read_text("utf-8").replace('"first.topic", ', '"second.topic", ')
    pooled.file.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match="twice"):
        open_study(pooled.root)
