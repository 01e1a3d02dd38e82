"""No round contains items of withdrawn participants, however its items are chosen."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.coded_interviews import CODEBOOK, FACET, MATCHED, OPENED, code_all
from tests.support.small_interviews import TALK, a_study, with_interview, with_transcript
from tests.support.small_survey import FORMS, NAME, answered, fielded

from quaestor.base.errors import StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round, preview_planned_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.samples import draw_sample
from quaestor.interviews.items import SOURCE, STEP, make_items
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.study.folder import Study, open_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.surveys.open_answers import make_items as make_open_answers
from quaestor.surveys.open_answers import parse_response
from quaestor.surveys.respond import withdraw as withdraw_response

KEEP = """
[facets.wanted]
kind = "keep"
question = "Is it about work?"
"""
SAMPLE = f"""
[samples.some]
after = "{STEP}"
size = 2
"""
KEPT = {"round": "kept", "items": {"after": STEP}, "facets": ["wanted"], "raters": ["rater-1", "rater-2"]}
PRACTICE = {"item": "P1/00003", "answers": {"wanted": "keep"}, "feedback": "It is."}
WAYS: dict[str, Mapping[str, Any]] = {
    "after a step": {"after": STEP},
    "of a sample": {"sample": "some"},
    "again": {"again": "themes"},
    "some of them again": {"again": "themes", "size": 2},
    "kept by a round": {"kept_by": "kept"},
}


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """P1, P2 and P3 talked; what they said was coded, kept by a round, and P1 withdrew; `before` has it as it was."""
    folder = tmp_path_factory.mktemp("made")
    a_study(folder / "study", more=FACET + KEEP)
    (folder / "study" / "codebook.toml").write_text(CODEBOOK, "utf-8")
    with open_interviews(open_study(folder / "study")) as interviews:
        for _ in range(3):
            with_transcript(interviews, with_interview(interviews).id, TALK, dict(MATCHED))
        make_items(interviews)
    with (folder / "study" / "study.toml").open("a") as file:
        file.write(SAMPLE)
    study = open_study(folder / "study")
    ingest_source(study, SOURCE)
    run_funnel(study)
    for planned in (OPENED, KEPT):
        add_round(study, planned)
        study = open_study(study.root)
    import_codebook(study)
    for name in ("themes", "kept"):
        open_by_name(study, name, None)
    code_all(study, {"rater-1": {}, "rater-2": {}})
    with open_coding(study) as coding:
        for rater in ("rater-1", "rater-2"):
            for item in coding.state.round("kept").plan.items:
                rate(coding, "kept", rater, item, {"wanted": "keep"})
    for name in ("themes", "kept"):
        close_by_name(study, name, None)
    settle_agreed(study, "kept", None)
    shutil.copytree(study.root / "evidence", folder / "before")
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    return folder


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(shutil.copytree(study_template / "study", tmp_path / "study"))


@pytest.fixture
def with_older_evidence(study_template: Path, study: Study) -> Study:
    """The same after somebody put back the funnel from before the withdrawal, which is refused, and ran it again."""
    shutil.rmtree(study.root / "evidence")
    shutil.copytree(study_template / "before", study.root / "evidence")
    with pytest.raises(StateError, match="run `quaestor funnel` again"):
        draw_sample(study, "some")
    run_funnel(study)
    return study


def opened(study: Study, items: Mapping[str, Any], **more: Any) -> tuple[str, ...]:
    """The items of a round that is opened now; its preview says as many."""
    add_round(study, {**OPENED, "round": "next", "items": items, **more})
    study = open_study(study.root)
    preview = preview_planned_round(study, "next")
    open_by_name(study, "next", None)
    with open_coding(study) as coding:
        plan = coding.state.round("next").plan
    assert preview.items == len(plan.items)
    return (*plan.items, *(one.item for one in plan.practice))


@pytest.mark.parametrize("way", WAYS)
def test_a_round_contains_no_turns_of_withdrawn_participants(with_older_evidence: Study, way: str) -> None:
    items = opened(with_older_evidence, WAYS[way])
    assert {item.partition("/")[0] for item in items} <= {"P2", "P3"}
    assert len(items) == (2 if "size" in WAYS[way] or "sample" in WAYS[way] else 4), "what is left is enough"


def test_a_withdrawal_in_the_sealed_file_is_enough(with_older_evidence: Study) -> None:
    (with_older_evidence.root / "withdrawn-participants.txt").unlink()
    assert draw_sample(with_older_evidence, "some").population == 4


def test_practice_items_contain_no_turns_of_withdrawn_participants(study: Study) -> None:
    items = opened(study, {"sample": "some"}, facets=["wanted"], practice=[PRACTICE])
    assert not [item for item in items if item.startswith("P1")]


def test_a_round_without_remaining_items_is_refused(study: Study) -> None:
    with open_interviews(study) as interviews:
        withdraw(interviews, "P2")
        withdraw(interviews, "P3")
    with pytest.raises(StateError, match="has no items"):
        opened(study, {"again": "themes"})


def test_a_participant_who_withdraws_while_a_round_is_opened_is_not_in_it(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quaestor.coding import round_acts as rounds

    chosen: Callable[..., rounds.ChosenItems] = rounds.choose_items

    def withdrawn_meanwhile(*given: Any) -> rounds.ChosenItems:
        items = chosen(*given)
        with open_interviews(study) as interviews:
            withdraw(interviews, "P2")
        return items

    add_round(study, {**OPENED, "round": "next", "items": {"again": "themes"}})
    monkeypatch.setattr(rounds, "choose_items", withdrawn_meanwhile)
    with pytest.raises(StateError, match="somebody who has withdrawn meanwhile: open it again"):
        open_by_name(open_study(study.root), "next", None)


def test_items_of_another_table_with_ids_like_turns_are_kept(study: Study, tmp_path: Path) -> None:
    (study.root / "posts.csv").write_text("id,title,body\nP1/00001,A title,Some words\nP2/00001,Another,More\n")
    text = (study.root / "study.toml").read_text("utf-8")
    block = '[sources.posts]\nkind = "table"\npath = "posts.csv"\nitem = "{id}"\n'
    block += "columns.id = {}\ncolumns.title = {}\ncolumns.body = {}\n"
    text = text.replace(f'source = "{SOURCE}"', 'source = "posts"') + f"\n{block}"
    (study.root / "study.toml").write_text(text, "utf-8")
    other = open_study(study.root)
    ingest_source(other, "posts")
    run_funnel(other)
    assert set(opened(other, {"after": STEP})) == {"P1/00001", "P2/00001"}


def test_a_round_contains_no_open_answers_of_withdrawn_respondents(tmp_path: Path) -> None:
    facet = '\n[facets.theme]\nkind = "text"\nquestion = "What about?"\n'
    with fielded(tmp_path) as surveys:
        for words in ("one", "two", "three"):
            code, gone = answered(surveys, forms={**FORMS, "words": {"q.hardest": [words]}})
        make_open_answers(surveys, NAME, "hardest")
    (tmp_path / "study.toml").write_text((tmp_path / "study.toml").read_text("utf-8") + facet, "utf-8")
    study = open_study(tmp_path)
    ingest_source(study, f"{NAME}-hardest")
    run_funnel(study)
    first = {"round": "first", "items": {"after": "open answers"}, "facets": ["theme"], "raters": ["a", "b"]}
    add_round(study, first)
    open_by_name(open_study(tmp_path), "first", None)
    shutil.copytree(tmp_path / "evidence", tmp_path / "before")
    with open_surveys(study) as surveys:
        withdraw_response(surveys, code)
    shutil.rmtree(tmp_path / "evidence")
    shutil.copytree(tmp_path / "before", tmp_path / "evidence")
    run_funnel(open_study(tmp_path))
    for name, items in (("second", {"again": "first"}), ("third", {"after": "open answers"})):
        add_round(open_study(tmp_path), {**first, "round": name, "items": items})
        open_by_name(open_study(tmp_path), name, None)
        with open_coding(open_study(tmp_path)) as coding:
            left = {parse_response(item) for item in coding.state.round(name).plan.items}
        assert len(left) == 2
        assert gone.id not in left
