"""Threats to validity follow from the funnel and the rounds."""

from __future__ import annotations

from pathlib import Path

from tests.support.small_study import small_study

from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.decisions import build_agreed_act
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.round_acts import open_by_name, waive_by_name
from quaestor.coding.session import open_coding
from quaestor.publication.publication import open_computed
from quaestor.publication.results.threats import list_threats
from quaestor.study.folder import Study


def threats_of(study: Study) -> str:
    with open_computed(study, needs_results=False) as computed:
        return "\n".join(list_threats(computed))


def rated(study: Study, name: str, other: str) -> None:
    """Two raters who differ on the first item alone."""
    with open_coding(study) as coding:
        items = coding.state.rounds[name].plan.items
        for rater, first in (("rater-1", "keep"), ("rater-2", other)):
            for item in items:
                answer = {"relevance": first if item == items[0] else "keep"}
                coding.act(
                    lambda state, r=rater, i=item, a=answer: build_rating_act(state, name, r, i, a, now=coding.now())
                )
        coding.act(lambda state: build_close_acts(state, name, coding.lead))


def test_threats_mention_what_funnel_and_rounds_left_out(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    assert "the funnel kept 12 of 13 questions (92.3%) in 1 steps" in threats_of(study)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    assert "the round pilot is still open" in threats_of(study)
    rated(study, "pilot", "exclude: crash")
    words = threats_of(study)
    assert "in pilot 2 raters reached a kappa of 0.00 on relevance" in words
    assert "they disagreed on 1 of 4 items, 1 of them unsettled" in words
    assert "simulated" not in words
    waive_by_name(study, "pilot", None, "a test")
    open_by_name(study, "main", None)
    rated(study, "main", "keep")
    with open_coding(study) as coding:
        coding.act(lambda state: build_agreed_act(state, "main", coding.lead))
    assert "in main 2 raters reached no defined kappa on relevance" in threats_of(study)
