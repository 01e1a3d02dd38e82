"""A strand with several sources of one kind: it has what one strand for each source has together."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.support.small_survey import NAME, QUESTIONNAIRE, answered, fielded

from quaestor.base.errors import QuaestorError, SettingsError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.erasure import drop_withdrawn
from quaestor.evidence.facts_cache import find_facts_in_strands, find_item_facts
from quaestor.evidence.funnel import last_result, read_passed, run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_facts import filter_items, read_post_counts, read_questions_at_step
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.samples import build_sample_settings, draw_sample
from quaestor.evidence.step_items import list_step_items, trace_item
from quaestor.evidence.text_index import build_index
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_study
from quaestor.study.settings.coding import ItemConditions
from quaestor.surveys.lifecycle import close_survey, open_surveys
from quaestor.surveys.open_answers import make_items
from quaestor.surveys.report_section import SurveySection

CODEBOOK = """
name = "themes"

[[facet]]
id = "theme"
levels = ["theme"]

[[code]]
id = "layers"
facet = "theme"
name = "custom layers"
"""
ROUND = """
[facets.theme]
kind = "single"
codes = "theme"

[[rounds]]
round = "themes"
items = { after = "open answers" }
facets = ["theme"]
raters = ["rater-1", "rater-2"]
"""
SITES = ("datascience", "stats")
STEPS = """
[families]
frameworks = ["keras*"]

[[funnel.steps]]
step = "tagged"
tags = ["frameworks"]

[[funnel.steps]]
step = "answered"
accepted_answer = true

[[funnel.steps]]
step = "with code"
accepted_answer_with_code = true
"""
Row = Mapping[str, Any]


def draw_posts(seed: int, count: int) -> list[Row]:
    random = np.random.default_rng(seed)
    return [
        {
            "tag": random.choice(["keras", "keras-layer", "r"]),
            "year": int(random.integers(2015, 2019)),
            "answer": random.choice(["", "plain", "&lt;code&gt;x&lt;/code&gt;"]),
            "score": int(random.integers(-2, 6)),
        }
        for _ in range(count)
    ]


def write_dump(folder: Path, site: str, posts: Sequence[Row]) -> None:
    """Writes a dump whose posts have the numbers 1, 2, 3 … on every site."""
    (folder / site).mkdir()
    rows = []
    for number, post in enumerate(posts, start=1):
        accepted = f' AcceptedAnswerId="{number + 100}"' if post["answer"] else ""
        rows.append(
            f'<row Id="{number}" PostTypeId="1"{accepted} CreationDate="{post["year"]}-01-02T00:00:00.000" '
            f'Score="{post["score"]}" ViewCount="7" OwnerUserId="{number}" Tags="|{post["tag"]}|" '
            f"Title={quoteattr(f'{site} question {number}')} Body={quoteattr(f'<p>{site} body {number}</p>')} />"
        )
        if post["answer"]:
            rows.append(
                f'<row Id="{number + 100}" PostTypeId="2" ParentId="{number}" Score="1" '
                f'CreationDate="{post["year"]}-01-0{3 + len(site) % 5}T00:00:00.000" '
                f'Body="{site}: {post["answer"]}" />'
            )
    (folder / site / "Posts.xml").write_text("<posts>\n" + "\n".join(rows) + "\n</posts>\n", "utf-8")
    users = [f'<row Id="{number}" DisplayName="{site}-user-{number}" />' for number in range(1, len(posts) + 1)]
    (folder / site / "Users.xml").write_text("<users>\n" + "\n".join(users) + "\n</users>\n", "utf-8")


def study_of_dumps(folder: Path, posts: Mapping[str, Sequence[Row]], more: str = "") -> Study:
    folder.mkdir()
    text = '[study]\nname = "several"\nseed = 3\n'
    for site, rows in posts.items():
        write_dump(folder, site, rows)
        text += f'[sources.{site}]\nkind = "stackexchange"\npath = "{site}"\nsite = "{site}"\n{more}'
    listed = ", ".join(f'"{site}"' for site in posts)
    (folder / "study.toml").write_text(f"{text}\n[funnel]\nsource = [{listed}]\n{STEPS}", "utf-8")
    return ingested(folder)


def study_of_tables(folder: Path, tables: Mapping[str, Sequence[Row]], step: str = "score_at_least = 1") -> Study:
    folder.mkdir(exist_ok=True)
    text = '[study]\nname = "several"\nseed = 3\n'
    for source, rows in tables.items():
        with (folder / f"{source}.csv").open("w", encoding="utf-8", newline="") as file:
            names = list(rows[0]) if rows else ["id", "title", "score"]
            csv.writer(file).writerows([names, *([row[name] for name in names] for row in rows)])
        columns = ", ".join(f'{name} = {{ type = "{"whole" if name == "score" else "text"}" }}' for name in names)
        text += (
            f'[sources.{source}]\nkind = "table"\npath = "{source}.csv"\nitem = "{{id}}"\ncolumns = {{ {columns} }}\n'
        )
    listed = ", ".join(f'"{source}"' for source in tables)
    funnel = f'[funnel]\nsource = [{listed}]\nsteps = [{{ step = "scored", {step} }}]\n'
    (folder / "study.toml").write_text(f"{text}\n{funnel}", "utf-8")
    return ingested(folder)


def ingested(folder: Path) -> Study:
    study = open_study(folder)
    for source in study.settings.sources:
        ingest_source(study, source)
    return study


def search_rows(study: Study) -> dict[str, tuple[Any, ...]]:
    with build_index(study, lambda *_: None).reading() as connection:
        rows = connection.execute(
            "SELECT item, items.title, texts.body, author, fell_at FROM items JOIN texts ON texts.rowid = items.number"
        ).fetchall()
    return {row[0]: row[1:] for row in rows}


def merge(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {key: value for part in parts for key, value in part.items()}


def assert_is_sum(study: Study, parts: Sequence[Study]) -> None:
    """Asserts that a study of several sources has what the studies of each source have together."""
    whole, results = run_funnel(study), [run_funnel(part) for part in parts]
    assert whole.entered == sum(result.entered for result in results)
    for number, step in enumerate(whole.steps):
        same = [result.steps[number] for result in results]
        assert (step.entered, step.kept) == (sum(one.entered for one in same), sum(one.kept for one in same))
        assert sorted(read_passed(study, number)) == sorted(
            item for part in parts for item in read_passed(part, number)
        )
        for dropped in (False, True):
            lists = [list_step_items(one, step.step, dropped=dropped, limit=None) for one in (study, *parts)]
            assert {row.item: row for row in lists[0]} == {row.item: row for rows in lists[1:] for row in rows}
            assert len(lists[0]) == sum(map(len, lists[1:]))
    items = [item for part in parts for item in read_passed(part, -1)]
    assert read_item_texts(study, items) == merge([read_item_texts(part, items) for part in parts])
    for find in (find_item_facts, find_facts_in_strands):
        assert find(study, items) == merge([find(part, items) for part in parts])
        assert len(find(study, items)) == len(items)
    assert search_rows(study) == merge([search_rows(part) for part in parts])
    samples = [
        draw_sample(part, None, build_sample_settings(margin=0.0001, after=whole.steps[0].step))
        for part in (study, *parts)
    ]
    assert samples[0].size == samples[0].population == sum(sample.population for sample in samples[1:])
    assert samples[0].strata["all"] == sorted(item for sample in samples[1:] for item in sample.strata["all"])
    rows = pq.read_table(study.funnel_folder / "candidates.parquet").to_pylist()
    separate_rows = [
        row for part in parts for row in pq.read_table(part.funnel_folder / "candidates.parquet").to_pylist()
    ]
    assert {row["item"]: (row["source"], row["content_hash"], row["inputs_sha256"]) for row in rows} == {
        row["item"]: (row["source"], row["content_hash"], row["inputs_sha256"]) for row in separate_rows
    }
    for part in parts:
        for item in read_passed(part, -1)[:3]:
            assert trace_item(study, item) == {**trace_item(part, item), "strand": study.strand_title}


def test_two_dumps_give_the_sum_of_one_study_per_dump(tmp_path: Path) -> None:
    posts = {site: draw_posts(len(site), count) for site, count in zip(SITES, (30, 20), strict=True)}
    study = study_of_dumps(tmp_path / "both", posts)
    parts = [study_of_dumps(tmp_path / site, {site: rows}) for site, rows in posts.items()]
    assert_is_sum(study, parts)
    for key in ("questions", "answers"):
        assert read_post_counts(study, key) == sum(read_post_counts(part, key) or 0 for part in parts)
    whole, *separate = (read_questions_at_step(part, 0).to_pylist() for part in (study, *parts))
    assert sorted(map(str, whole)) == sorted(str(row) for rows in separate for row in rows)
    by_year = build_sample_settings(margin=0.0001, by="year", after="tagged")
    strata, *separate_strata = (draw_sample(part, None, by_year).strata for part in (study, *parts))
    for year, drawn in strata.items():
        assert sorted(drawn) == sorted(item for part in separate_strata for item in part.get(year, []))
    items = sorted(item for part in parts for item in read_passed(part, -1))
    in_2016 = {
        f"{site}/question/{number}"
        for site, rows in posts.items()
        for number, post in enumerate(rows, start=1)
        if post["year"] == 2016
    }
    assert set(filter_items(study, items, ItemConditions(year=2016))) == in_2016


def test_several_tables_give_the_sum_of_one_study_per_table(tmp_path: Path) -> None:
    tables = {
        f"sheet-{number}": [
            {"id": f"{number}-{row}", "title": f"Row {row} of {number}", "score": score}
            for row, score in enumerate(np.random.default_rng(number).integers(-2, 4, size=count).tolist())
        ]
        for number, count in enumerate((9, 1, 14))
    }
    study = study_of_tables(tmp_path / "all", tables)
    assert_is_sum(study, [study_of_tables(tmp_path / name, {name: rows}) for name, rows in tables.items()])
    assert study.strand_title == "sheet-0, sheet-1 and sheet-2"


POSTS = [
    {"tag": "r", "year": 2017, "answer": "", "score": 0},
    {"tag": "keras", "year": 2016, "answer": "plain", "score": 1},
]


def test_questions_that_each_ingest_left_out_by_tag_count_as_dropped(tmp_path: Path) -> None:
    study = study_of_dumps(tmp_path / "study", dict.fromkeys(SITES, POSTS), 'tags = ["frameworks"]\n')
    (tagged, *_) = run_funnel(study).steps
    assert (tagged.entered, tagged.kept) == (4, 2)
    skipped = {f"{site}/question/1" for site in SITES}
    assert {example.item for example in tagged.dropped_examples} == skipped
    assert {row.item for row in list_step_items(study, "tagged", dropped=True, limit=None)} == skipped
    path = trace_item(study, "stats/question/1")
    assert (path["fell_at"], path["source"]) == ("tagged", "stats")


def test_a_list_of_one_source_is_the_same_as_its_name(tmp_path: Path) -> None:
    study = study_of_tables(tmp_path, {"sheet": [{"id": "a", "title": "A", "score": 1}]})
    run_funnel(study)
    before = (study.funnel_folder / "funnel.json").read_bytes()
    study.file.write_text(study.file.read_text("utf-8").replace('["sheet"]', '"sheet"'), "utf-8")
    last = last_result(open_study(tmp_path))
    assert last is not None
    assert last[1]
    run_funnel(open_study(tmp_path))
    assert (study.funnel_folder / "funnel.json").read_bytes() == before
    assert pq.read_schema(study.funnel_folder / "fell.parquet").names == ["item", "id", "fell_at", "unseen"]


def test_the_funnel_is_outdated_when_a_source_is_added_or_ingested_again(tmp_path: Path) -> None:
    tables = {name: [{"id": f"{name}-1", "title": name, "score": 1}] for name in ("a", "b")}
    study = study_of_tables(tmp_path, tables)
    run_funnel(study)
    with (tmp_path / "b.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(["b-2", "more", "2"])
    ingest_source(study, "b")
    assert (last_result(study) or (None, None))[1] is False
    assert run_funnel(study).entered == 3
    assert (last_result(study) or (None, None))[1] is True
    with_one = study.file.read_text("utf-8").replace('["a", "b"]', '["a"]')
    (tmp_path / "study.toml").write_text(with_one, "utf-8")
    assert (last_result(open_study(tmp_path)) or (None, None))[1] is False


def test_items_with_the_same_id_in_two_sources_are_refused(tmp_path: Path) -> None:
    row = {"id": "p1", "title": "A", "score": 1}
    study = study_of_tables(tmp_path, {"sheet-2023": [row], "sheet-2024": [{**row, "id": "p0"}, row]})
    with pytest.raises(StateError, match="the sources 'sheet-2023' and 'sheet-2024' both have an item 'p1'"):
        run_funnel(study)
    assert not list(study.funnel_folder.glob("*fell.parquet"))


def test_a_column_that_a_table_lacks_is_empty_for_its_items(tmp_path: Path) -> None:
    tables = {
        "a": [{"id": "a1", "title": "A", "score": 1, "room": "12"}],
        "b": [{"id": "b1", "title": "B", "score": 1}],
    }
    study = study_of_tables(tmp_path, tables)
    run_funnel(study)
    rows = pq.read_table(study.funnel_folder / "candidates.parquet").to_pylist()
    assert {row["item"]: (row["source"], row["room"]) for row in rows} == {"a1": ("a", "12"), "b1": ("b", None)}


@pytest.mark.parametrize(
    ("rows", "step", "sentence"),
    [
        (
            {"id": "b1", "title": "B"},
            "score_at_least = 1",
            "the source 'b': the step 'scored' needs the column 'score'",
        ),
        ({"id": "b1", "title": "B"}, "where = 'score > 1'", "the source 'b': the condition 'score > 1' names 'score'"),
    ],
)
def test_a_step_that_needs_a_column_that_a_table_lacks_is_refused(
    tmp_path: Path, rows: Row, step: str, sentence: str
) -> None:
    study = study_of_tables(tmp_path, {"a": [{"id": "a1", "title": "A", "score": 1}], "b": [rows]}, step)
    with pytest.raises(SettingsError) as refused:
        run_funnel(study)
    assert sentence in str(refused.value)


def test_columns_of_different_types_are_refused(tmp_path: Path) -> None:
    study = study_of_tables(
        tmp_path, {name: [{"id": name, "title": "A", "score": "1"}] for name in ("a", "b")}, "title_at_least = 1"
    )
    text = study.file.read_text("utf-8")
    study.file.write_text(text[::-1].replace('"elohw"', '"txet"', 1)[::-1], "utf-8")
    with pytest.raises(SettingsError, match=r"the sources a and b have a column of different types \(.*score"):
        run_funnel(ingested(tmp_path))
    assert not list(study.funnel_folder.glob(".plain*"))


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ('["a", "nothing"]', "funnel.source is 'nothing'; choose from: a, b or dump"),
        ('["a", "dump"]', "funnel.source lists sources of several kinds ('a' is table and 'dump' is stackexchange)"),
        ('["a", "a"]', "funnel.source: 'a' is listed twice: list each source once"),
        ("[]", "funnel.source: write the name of a source in quotes, or several as a list"),
        ('["a", 3]', "funnel.source: write the name of a source in quotes, or several as a list"),
        ("3", "funnel.source: write the name of a source in quotes, or several as a list"),
    ],
)
def test_a_wrong_list_of_sources_is_refused_in_one_sentence(tmp_path: Path, source: str, sentence: str) -> None:
    study = study_of_tables(tmp_path, {name: [{"id": name, "title": "A", "score": 1}] for name in ("a", "b")})
    text = study.file.read_text("utf-8").replace('["a", "b"]', source)
    dump = '[sources.dump]\nkind = "stackexchange"\npath = "dump"\n'
    study.file.write_text(f"{text}\n{dump}", "utf-8")
    with pytest.raises(QuaestorError) as refused:
        open_study(tmp_path)
    assert sentence in str(refused.value)


def test_a_source_that_is_not_ingested_is_named(tmp_path: Path) -> None:
    study = study_of_tables(tmp_path, {name: [{"id": name, "title": "A", "score": 1}] for name in ("a", "b")})
    (study.evidence_of("b") / "manifest.json").unlink()
    with pytest.raises(StateError, match="the source 'b' has no evidence yet: run `quaestor ingest b` first"):
        run_funnel(study)
    assert study_status(study).next == "quaestor ingest b"


def test_open_answers_of_two_surveys_are_one_strand_and_stay_private(tmp_path: Path) -> None:
    other = f"{NAME}-again"
    with fielded(tmp_path) as surveys:
        answered(surveys)
        answered(surveys)
        make_items(surveys, NAME, "hardest")
    with fielded(tmp_path, QUESTIONNAIRE, other) as surveys:
        answered(surveys, other)
        make_items(surveys, other, "hardest")
    file = tmp_path / "study.toml"
    parts = open_study(tmp_path)
    assert [run_funnel(strand).entered for strand in parts.in_each_strand()] == [2, 1]
    text = file.read_text("utf-8")
    text = text[: text.index(f"[strands.{other}")]
    source = f'source = "{NAME}-hardest"'
    assert source in text
    file.write_text(text.replace(source, f'source = ["{NAME}-hardest", "{other}-hardest"]'), "utf-8")
    study = open_study(tmp_path)
    assert run_funnel(study).entered == 3
    items = read_passed(study, 0)
    texts = read_item_texts(study, items)
    assert {item.partition("/")[0] for item in texts} == {NAME, other}
    assert all(text.body for text in texts.values())
    assert drop_withdrawn(study, items) == list(items)
    assert len(search_rows(study)) == 3
    assert not (study.funnel_folder / "candidates.parquet").exists()
    assert not (study.funnel_folder / "search").exists()
    assert {trace_item(study, item)["source"] for item in items} == {f"{NAME}-hardest", f"{other}-hardest"}
    (tmp_path / "codebook.toml").write_text(CODEBOOK, "utf-8")
    file.write_text(file.read_text("utf-8") + ROUND, "utf-8")
    import_codebook(open_study(tmp_path))
    open_by_name(open_study(tmp_path), "themes", None)
    with open_coding(open_study(tmp_path)) as coding:
        assert set(coding.state.round("themes").plan.items) == set(items)
        for item in items:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "themes", rater, item, {"theme": "layers"})
    close_by_name(open_study(tmp_path), "themes", None)
    with open_surveys(open_study(tmp_path)) as surveys:
        for name in (NAME, other):
            close_survey(surveys, name)
        part = SurveySection().build(surveys.coding, (), lambda message: None)
    titles = [[table.title for table in section.tables if "Themes" in table.title] for section in part.sections]
    assert titles == [[f"Themes of open answers to {NAME} and {other}: theme"]] * 2
