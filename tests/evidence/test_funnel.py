"""The funnel over a study: what was planted is found, and every number has its items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.support.desk import QUICK, join
from tests.support.desk import browser as visitor

from quaestor.base.errors import SettingsError, StateError
from quaestor.coding.model.phrases import build_curves
from quaestor.coding.model.state import OPEN
from quaestor.coding.rating import build_next_item
from quaestor.coding.session import open_coding
from quaestor.demo.coding import ROUND, SIMULATED_RATER, SIZE
from quaestor.demo.folder import VISITOR, create_join_links, drop_used_links
from quaestor.demo.progress import STEPS, build_event_printer
from quaestor.demo.run import build_demo
from quaestor.demo.survey import SURVEY, count_survey_responses
from quaestor.evidence.funnel import dropped_at_file, last_result, run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.items import content_hash
from quaestor.evidence.samples import build_sample_settings, draw_sample, write_sample
from quaestor.evidence.step_items import list_step_items, trace_item
from quaestor.people.credentials import Passwords
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study
from quaestor.surveys.lifecycle import open_surveys
from quaestor.web.app import make_app


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """The demo: the printed funnel, planted in a synthetic dump and found again."""
    folder = tmp_path_factory.mktemp("demo") / "study"
    messages: list[str] = []
    build_demo(folder, 3, build_event_printer(messages.append, lambda what, done, total: None))
    assert any("threshold 0.5 reached" in message for message in messages)
    steps = [message.partition(".")[0] for message in messages if message[:1].isdigit()]
    assert steps == [str(step) for step in range(1, len(STEPS) + 1)]
    assert any("10 of 10 findings hold" in message for message in messages), "a round more disturbs no result"
    study = open_study(folder)
    with open_coding(study) as coding:
        shares = [curve.discrepancy for curve in build_curves(coding.state.round("phrases"))]
    assert len(shares) == 100
    assert sum(shares[:10]) > 3 * sum(shares[-10:]), "the raters come to agree"
    return study


def test_the_printed_funnel_is_found_exactly(demo: Study) -> None:
    found = last_result(demo)
    assert found is not None
    result, holds = found
    assert holds
    assert [step.kept for step in result.steps[:4]] == [90_697, 14_203, 4_327, 3_842]
    truth = json.loads((demo.root / "dump" / "truth.json").read_text())
    assert [{"in": step.entered, "out": step.kept} for step in result.steps[:4]] == [
        {"in": one["in"], "out": one["out"]} for one in truth["funnel"]
    ]
    assert result.steps[4].step == "refined by two raters"
    assert truth["refined"] == 2_401
    assert abs(result.steps[4].kept - 2_401) < 10
    assert result.steps[4].kept == pq.read_table(demo.funnel_folder / "candidates.parquet").num_rows
    assert not result.pending
    assert "simulated raters" in result.note


def test_the_demo_has_an_open_round_for_the_visitor(demo: Study) -> None:
    with open_coding(demo) as coding:
        still_open = [name for name, one in coding.state.rounds.items() if one.status == OPEN]
        one = coding.state.round(ROUND)
    assert still_open == [ROUND]
    assert (len(one.plan.items), one.plan.raters, one.plan.blind) == (SIZE, (VISITOR, SIMULATED_RATER), True)
    assert set(one.ratings) == {SIMULATED_RATER}
    assert len(one.ratings[SIMULATED_RATER]) == SIZE
    assert build_next_item(demo, ROUND, VISITOR)["practice"]


def test_the_demo_survey_is_open_with_the_printed_counts(demo: Study) -> None:
    with open_surveys(demo) as surveys:
        assert surveys.is_open(SURVEY)
    so_far = count_survey_responses(demo)
    assert so_far is not None
    assert (so_far.simulated, so_far.people) == (92, 0)
    assert [bar.count for bar in so_far.questions[0].bars] == [39, 53]


def test_the_visitors_link_opens_a_rating_sheet_and_works_once(demo: Study) -> None:
    doors = create_join_links(demo)
    assert doors.visitor is not None
    assert drop_used_links(demo, doors) == doors
    with visitor(make_app(demo.root, passwords=Passwords(QUICK))) as opened:
        join(opened, doors.visitor)
        assert f"/rounds/{ROUND}/rate" in opened.get("/").text
        sheet = opened.get(f"/rounds/{ROUND}/rate").text
    assert "Practice" in sheet
    assert 'data-key="7"' in sheet
    assert (drop_used_links(demo, doors).visitor, drop_used_links(demo, doors).lead) == (None, doors.lead)


def test_the_yearly_counts_of_the_refined_posts_are_the_printed_ones(demo: Study) -> None:
    import csv

    with (demo.root / "dump" / "truth-items.csv").open() as file:
        planted = {f"stackoverflow/question/{row['id']}": row for row in csv.DictReader(file)}
    candidates = list_step_items(demo, "not closed", dropped=False, limit=None)
    refined = [candidate for candidate in candidates if planted[candidate.item]["topic"] == "implementation"]
    assert len(refined) == 2_401
    with (demo.root / "printed" / "table01-posts-by-year.csv").open() as file:
        for printed in csv.DictReader(file):
            if printed["year"] == "total":
                continue
            for framework in ("tensorflow", "pytorch", "theano"):
                others = [name for name in ("tensorflow", "pytorch", "theano") if name != framework][:1]
                found = [
                    one for one in refined if one.created[:4] == printed["year"] and _framework(one.tags) == framework
                ]
                assert len(found) == int(printed[framework]), (printed["year"], framework, others)


def _framework(tags: Sequence[str]) -> str:
    return next(name for name in ("tensorflow", "pytorch", "theano") if any(name in tag for tag in tags))


def test_every_question_in_evidence_has_the_step_that_dropped_it(demo: Study) -> None:
    table = pq.read_table(dropped_at_file(demo))
    counts = {row["values"]: row["counts"] for row in table.column("fell_at").value_counts().to_pylist()}
    assert counts[4] + counts[5] == 3_842
    assert {step: counts[step] for step in (1, 2, 3)} == {1: 90_697 - 14_203, 2: 14_203 - 4_327, 3: 4_327 - 3_842}


def test_candidates_have_stable_ids_a_hash_of_their_content_and_provenance(demo: Study) -> None:
    table = pq.read_table(demo.funnel_folder / "candidates.parquet")
    row = table.slice(5, 1).to_pylist()[0]
    assert row["item"] == f"stackoverflow/question/{row['id']}"
    assert row["content_hash"] == content_hash([row["title"], row["body"], row["tags"]])
    assert row["source"] == "stackoverflow"
    assert all(len(one) == 64 for one in row["inputs_sha256"].split(","))
    assert abs(table.num_rows - 2_401) < 10


def test_the_examples_of_a_step_really_were_kept_and_dropped(demo: Study) -> None:
    found = last_result(demo)
    assert found is not None
    for number, step in enumerate(found[0].steps):
        assert len(step.kept_examples) == len(step.dropped_examples) == 5
        for example in step.kept_examples:
            assert number < len(trace_item(demo, example.item)["passed"])
        for example in step.dropped_examples:
            if number == 0:
                assert not any(name in tag for tag in example.tags for name in ("tensorflow", "pytorch", "theano"))
            else:
                assert trace_item(demo, example.item)["fell_at"] == step.step


def test_the_same_seed_gives_the_same_examples_and_another_seed_others(demo: Study, tmp_path: Path) -> None:
    before = (demo.funnel_folder / "funnel.json").read_bytes()
    run_funnel(demo)
    assert (demo.funnel_folder / "funnel.json").read_bytes() == before


def test_a_number_opens_its_items(demo: Study) -> None:
    rows = list_step_items(demo, "not closed", dropped=True, limit=1_000)
    assert len(rows) == 485
    assert {trace_item(demo, row.item)["fell_at"] for row in rows[:3]} == {"not closed"}
    left = list_step_items(demo, "tagged tensorflow, pytorch or theano", dropped=True, limit=1_000)
    assert 5 <= len(left) <= 100
    assert trace_item(demo, left[0].item)["fell_at"] == "tagged tensorflow, pytorch or theano"
    again = list_step_items(demo, "not closed", dropped=True, limit=100, offset=100)
    assert [row.item for row in again] == [row.item for row in rows[100:200]]
    with pytest.raises(StateError, match="has no step 'not clsed'; choose from: not closed"):
        list_step_items(demo, "not clsed", dropped=False, limit=1)
    with pytest.raises(StateError, match="there is no item"):
        trace_item(demo, "stackoverflow/question/999999999")


def test_a_sample_is_drawn_by_seed_and_states_the_size_it_needs(demo: Study, tmp_path: Path) -> None:
    pilot = draw_sample(demo, "pilot")
    assert pilot.size == 100
    assert draw_sample(demo, "pilot") == pilot
    other = draw_sample(demo, None, build_sample_settings(seed=99, after="not closed"))
    assert other.needed == other.size == 350
    by_year = draw_sample(demo, None, build_sample_settings(by="year", size=200))
    candidates = {row["item"]: row for row in pq.read_table(demo.funnel_folder / "candidates.parquet").to_pylist()}
    assert by_year.size == 200
    for year, items in by_year.strata.items():
        assert {str(candidates[item]["creation_date"].year) for item in items} <= {year}
        whole = sum(str(row["creation_date"].year) == year for row in candidates.values())
        assert abs(len(items) - 200 * whole / len(candidates)) < 1
    assert set(draw_sample(demo, None, build_sample_settings(by="family", size=50)).strata) == {
        "tensorflow",
        "pytorch",
        "theano",
    }
    write_sample(pilot, tmp_path / "pilot.csv")
    assert len((tmp_path / "pilot.csv").read_text().splitlines()) == 101


def test_the_status_lists_sources_funnel_and_the_next_command(demo: Study, tmp_path: Path) -> None:
    status = study_status(demo)
    assert [stage.name for stage in status.stages if stage.state != "done"] == [f"survey {SURVEY}", f"round {ROUND}"]
    assert "round refinement" in {stage.name for stage in status.stages}
    assert "synthetic" in status.stages[0].detail
    fresh = open_study(new_study(tmp_path / "fresh", "dl-implementation-issues"))
    assert "put the input of stackoverflow at" in study_status(fresh).next
    blank = open_study(new_study(tmp_path / "blank", "blank"))
    assert "add a source" in study_status(blank).next


def test_a_changed_study_file_makes_the_funnel_stale(demo: Study, tmp_path: Path) -> None:
    text = demo.file.read_text()
    try:
        demo.file.write_text(text.replace("closed = false", "closed = true"))
        changed = open_study(demo.root)
        with pytest.raises(StateError, match="changed since the funnel ran"):
            list_step_items(changed, "not closed", dropped=True, limit=1)
        assert [line.state for line in study_status(changed).stages if line.name == "funnel"] == ["stale"]
        assert study_status(changed).next == "quaestor funnel"
    finally:
        demo.file.write_text(text)


def test_changed_evidence_is_noticed_before_it_is_used(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "mine", "blank")
    (folder / "Posts.xml").write_text('<posts>\n<row Id="1" PostTypeId="1" Title="a" Tags="|x|" />\n</posts>')
    with (folder / "study.toml").open("a") as file:
        file.write('[sources.so]\nkind = "stackexchange"\npath = "Posts.xml"\n')
    study = open_study(folder)
    ingest_source(study, "so")
    assert study_status(study).stages[0].state == "done"
    (folder / "Posts.xml").write_text('<posts>\n<row Id="2" PostTypeId="1" Title="abc" Tags="|x|" />\n</posts>')
    assert study_status(study).stages[0].state == "stale"
    assert study_status(study).next == "quaestor ingest so"
    ingest_source(study, "so")
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + 'tags = ["x"]\n')
    assert "study.toml changed since" in study_status(open_study(folder)).stages[0].detail


@pytest.mark.parametrize(
    "step",
    [
        'where = "1/0 > score"',
        'where = "5 in 5"',
        "where = \"'a' * 999999999 == title\"",
        "where = \"title.re_search('(')\"",
        'where = "tags.contains(5)"',
        "score_at_least = 99999999999999999999999",
    ],
)
def test_a_step_that_fails_gives_a_one_sentence_error(tmp_path: Path, step: str) -> None:
    folder = new_study(tmp_path / "mine", "blank")
    (folder / "Posts.xml").write_text('<posts>\n<row Id="1" PostTypeId="1" Title="a" Tags="|x|" />\n</posts>')
    text = (folder / "study.toml").read_text() + '[sources.so]\nkind = "stackexchange"\npath = "Posts.xml"\n'
    (folder / "study.toml").write_text(text)
    ingest_source(open_study(folder), "so")
    (folder / "study.toml").write_text(f'{text}[[funnel.steps]]\nstep = "one"\n{step}\n')
    with pytest.raises(SettingsError) as refused:
        run_funnel(open_study(folder))
    assert "\n" not in str(refused.value)


def test_missing_evidence_gives_a_one_sentence_error(tmp_path: Path) -> None:
    study = open_study(new_study(tmp_path / "new", "dl-implementation-issues"))
    with pytest.raises(StateError, match="has no evidence yet: run `quaestor ingest stackoverflow` first"):
        run_funnel(study)
    with pytest.raises(StateError, match="the funnel has not run yet"):
        dropped_at_file(study)
    with pytest.raises(SettingsError, match=r"sources\.stackoverflow\.path is 'dump', but .* does not exist"):
        ingest_source(study, "stackoverflow")
    with pytest.raises(SettingsError, match="there is no source 'stackoverflw'; choose from: stackoverflow"):
        ingest_source(study, "stackoverflw")


def test_a_table_source_passes_through_the_funnel(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "mine", "blank")
    (folder / "posts.csv").write_text(
        "id,title,tags,score\n1,How to sort,python;list,3\n2,Why,python,9\n"
        "3,How to read,java,x\n4,How to sum,python,1\n"
    )
    (folder / "study.toml").write_text(
        """
[study]
name = "mine"
[sources.sheet]
kind = "table"
path = "posts.csv"
item = "forum/question/{id}"
columns.id = { type = "whole" }
columns.title = {}
columns.tags = { type = "list", separator = ";" }
columns.score = { type = "whole" }
[[funnel.steps]]
step = "python"
tags = ["python"]
[[funnel.steps]]
step = "how-to"
kind = "how-to"
[[funnel.steps]]
step = "liked"
where = "score >= 3"
"""
    )
    study = open_study(folder)
    report = ingest_source(study, "sheet")
    assert report.as_json()["tables"] == {"items": {"rows": 3, "rejected": 1}}
    assert ingest_source(study, "sheet").unchanged
    result = run_funnel(study)
    assert [(step.entered, step.kept) for step in result.steps] == [(3, 3), (3, 2), (2, 1)]
    assert trace_item(study, "forum/question/2")["fell_at"] == "how-to"
    candidates = pq.read_table(study.funnel_folder / "candidates.parquet").to_pylist()
    assert [row["item"] for row in candidates] == ["forum/question/1"]
