"""Posts, open answers and other tables as strands of one study."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from tests.support.command_line import in_this_process
from tests.support.settling import settle_with_assents
from tests.support.small_survey import NAME, answered, fielded

from quaestor.base.errors import SettingsError, StateError
from quaestor.coding.codebook import import_codebook
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import last_result, read_passed, run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.samples import draw_sample
from quaestor.evidence.step_items import list_step_items, trace_item
from quaestor.study.folder import Study, open_study
from quaestor.surveys.open_answers import make_items
from quaestor.surveys.themes import count_themes

POSTS = """

[sources.posts]
kind = "table"
path = "posts.csv"
item = "{id}"
columns = { id = {}, title = {}, body = {} }

[funnel]
title = "Posts"
steps = [{ step = "long posts", body_at_least = 8 }]

[samples.some]
after = "long posts"
size = 2

[samples.answers]
strand = "tools-hardest"
size = 1

[facets.theme]
kind = "single"
codes = "theme"
"""
CODEBOOK = """
name = "themes"

[[facet]]
id = "theme"
levels = ["theme"]

[[code]]
id = "layers"
facet = "theme"
name = "custom layers"

[[code]]
id = "speed"
facet = "theme"
name = "inference speed"
"""
RATERS = ["rater-1", "rater-2"]


def mixed_study(folder: Path) -> Study:
    """A study of three posts and two open answers, ingested, with its funnels run."""
    with fielded(folder) as surveys:
        answered(surveys)
        answered(surveys)
        file = folder / "study.toml"
        text = POSTS.replace('[samples.answers]\nstrand = "tools-hardest"\nsize = 1\n', "")
        file.write_text(file.read_text("utf-8") + text, "utf-8")
        with (folder / "posts.csv").open("w", encoding="utf-8", newline="") as table:
            rows = [
                ("id", "title", "body"),
                *((f"p{n}", f"Post {n}", "short" if n == 3 else f"A long post {n}") for n in (1, 2, 3)),
            ]
            csv.writer(table).writerows(rows)
        made = make_items(surveys, NAME, "hardest")
        assert made.strand == "tools-hardest"
        sample = '\n[samples.answers]\nstrand = "tools-hardest"\nsize = 1\n'
        file.write_text(file.read_text("utf-8") + sample, "utf-8")
    study = open_study(folder)
    for strand in study.in_each_strand():
        ingest_source(study, strand.funnel_source())
        run_funnel(strand)
    return study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return mixed_study(tmp_path)


def test_each_strand_has_its_own_funnel_and_ids_that_begin_with_its_name(study: Study) -> None:
    posts, answers = study.in_each_strand()
    assert (posts.strand_title, answers.strand_title) == ("Posts", "tools-hardest")
    assert sorted(read_passed(posts, 0)) == ["p1", "p2"]
    kept = read_passed(answers, -1)
    assert len(kept) == 2
    assert all(item.startswith(f"tools-hardest:{NAME}/") for item in kept)
    for strand, entered in ((posts, 3), (answers, 2)):
        last = last_result(strand)
        assert last is not None
        assert (last[0].entered, last[1]) == (entered, True)


def test_the_funnel_as_json_has_a_line_for_a_strand_without_steps(study: Study) -> None:
    lines = json.loads(in_this_process("funnel", "--json", "--study", study.root).stdout)
    assert [(line["strand"], line["in"], line["out"]) for line in lines] == [("", 3, 2), ("tools-hardest", 2, 2)]
    assert lines[1]["step"] is None


def test_texts_samples_and_paths_come_from_the_strand_of_the_item(study: Study) -> None:
    (answer, *_) = read_passed(study.in_strand("tools-hardest"), -1)
    texts = read_item_texts(study, ["p1", answer])
    assert texts["p1"].title == "Post 1"
    assert texts[answer].title == "What was hardest?"
    assert draw_sample(study, "some").strata["all"] == ["p1", "p2"]
    assert draw_sample(study, "answers").strata["all"][0] in read_passed(study.in_strand("tools-hardest"), -1)
    assert trace_item(study, "p3")["fell_at"] == "long posts"
    path = trace_item(study, answer)
    assert (path["strand"], path["source"]) == ("tools-hardest", f"{NAME}-hardest")
    assert [row.item for row in list_step_items(study, "long posts", dropped=True, limit=None)] == ["p3"]


def test_an_id_without_its_strand_is_refused_with_the_whole_id(study: Study) -> None:
    (answer, *_) = read_passed(study.in_strand("tools-hardest"), -1)
    with pytest.raises(StateError, match=f"no item .* in evidence; did you mean '{answer}'"):
        trace_item(study, answer.partition(":")[2])


def test_strands_are_coded_under_one_codebook_and_counted_separately(study: Study) -> None:
    codebook = study.root / "codebook.toml"
    codebook.write_text(CODEBOOK, "utf-8")
    with open_coding(study) as coding:
        import_codebook(coding, codebook)
    for name, items in (("posts", {"after": "long posts"}), ("answers", {"strand": "tools-hardest"})):
        add_round(study, {"round": name, "items": items, "facets": ["theme"], "raters": RATERS})
        study = open_study(study.root)
        open_by_name(study, name, None)
        with open_coding(study) as coding:
            plan = coding.state.round(name).plan
            assert plan.origin == ("evidence" if name == "posts" else "surveys")
            for item in plan.items:
                for rater in RATERS:
                    rate(coding, name, rater, item, {"theme": "layers" if item == plan.items[0] else "speed"})
        close_by_name(study, name, None)
    with open_coding(study) as coding:
        themes = count_themes(coding, "answers")
        assert [(theme.name, theme.participants) for theme in themes.themes] == [
            ("custom layers", 1),
            ("inference speed", 1),
        ]
        assert {item for item, _ in coding.state.round("posts").decisions} == {"p1", "p2"}


def test_a_settled_answer_of_a_strand_is_counted_by_its_participant(study: Study) -> None:
    codebook = study.root / "codebook.toml"
    codebook.write_text(CODEBOOK, "utf-8")
    with open_coding(study) as coding:
        import_codebook(coding, codebook)
    add_round(study, {"round": "answers", "items": {"strand": "tools-hardest"}, "facets": ["theme"], "raters": RATERS})
    study = open_study(study.root)
    open_by_name(study, "answers", None)
    with open_coding(study) as coding:
        items = coding.state.round("answers").plan.items
        for item in items:
            for rater, code in zip(RATERS, ("layers", "speed"), strict=True):
                rate(coding, "answers", rater, item, {"theme": code})
    close_by_name(study, "answers", None)
    for item in items:
        settle_with_assents(study, "answers", "lead", item, "theme", "speed", "discussion", "read again")
    with open_coding(study) as coding:
        (theme,) = count_themes(coding, "answers").themes
        assert (theme.name, theme.participants) == ("inference speed", 2)


@pytest.mark.parametrize(
    ("addition", "sentence"),
    [
        ('[strands.posts]\nsource = "nothing"\n', "strands.posts.source is 'nothing'; choose from: posts"),
        ("[strands.more]\n", "strands.more.source is missing"),
        (
            '[strands.more]\nsource = "posts"\nsteps = [{ step = "long posts", closed = false }]\n',
            "two strands have a step called 'long posts'",
        ),
        ('[strands."Not good"]\nsource = "posts"\n', "strands.Not good"),
        ('[samples.x]\nstrand = "none"\n', "samples.x.strand is 'none'"),
    ],
)
def test_a_wrong_strand_is_refused_in_one_sentence(tmp_path: Path, addition: str, sentence: str) -> None:
    plain = POSTS.replace('[samples.answers]\nstrand = "tools-hardest"\nsize = 1\n', "")
    (tmp_path / "study.toml").write_text(f'[study]\nname = "s"\n{plain}\n{addition}', "utf-8")
    with pytest.raises(SettingsError) as refused:
        open_study(tmp_path)
    assert sentence in str(refused.value)
