"""A dump like a printed study has its taxonomy, popularity and difficulty, according to an independent parser."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from pathlib import Path
from statistics import median
from xml.etree import ElementTree

import pytest
from scipy.stats import pearsonr
from tests.support.paths import STUDIES

from quaestor.base.errors import InputError
from quaestor.synth.phrases import read_issue_blocks
from quaestor.synth.plan import (
    DEFAULT_FAMILIES,
    Medians,
    PlannedObject,
    SynthPlan,
    Taxonomy,
    read_plan,
    read_taxonomy,
)  # fmt: skip
from quaestor.synth.stackexchange import write_dump

STUDY = STUDIES / "dl-implementation-issues"
FRAMEWORKS = ("tensorflow", "pytorch", "theano")
FIGURES = ("viewcount", "score", "response_days")
BY_OBJECT = {
    "table06-model-setting.csv": "Model setting",
    "table09-model-training.csv": "Model training",
    "table10-model-prediction.csv": "Model prediction",
    "table11-model-evaluation.csv": "Model evaluation",
    "table12-runtime-environment.csv": "Runtime environment",
    "table13-visualization.csv": "Visualization",
}
WHOLE = read_plan("dl-implementation-issues")
LIKE = replace(WHOLE, tagged=3_000, how_to=2_800, accepted=2_600, open=2_500)
"""The printed study, all refined posts of it, with fewer of the others around them."""

SMALL_OBJECTS = (
    PlannedObject("Model training", "Derivative", {"theano": 1, "pytorch": 1}, Medians(2615, 6, 179.25)),
    PlannedObject("Visualization", "Data", {"pytorch": 5}, Medians(714, 1, 0.16)),
)
SMALL_PHASES = {"Model training": Medians(2615, 6, 179.25), "Visualization": Medians(714, 1, 0.16)}
SMALL = SynthPlan(
    40, 30, 20, 10, 7, {("theano", 2014): 1, ("pytorch", 2020): 2, ("pytorch", 2021): 4}, DEFAULT_FAMILIES,
    Taxonomy(SMALL_OBJECTS, SMALL_PHASES, 0.9, 0.2),
)  # fmt: skip

Row = dict[str, str]


@dataclass(frozen=True)
class Post:
    """A refined question of the dump with its true place in the taxonomy."""

    item: Row
    asked: str
    accepted: str
    answers: tuple[str, ...]
    viewcount: int
    score: int
    title: str

    @property
    def response_days(self) -> float:
        wait = datetime.fromisoformat(self.accepted) - datetime.fromisoformat(self.asked)
        return round(wait.total_seconds() / 86_400, 2)


def read_rows(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def printed(name: str) -> list[Row]:
    return [row for row in read_rows(STUDY / "printed" / name) if "(total)" not in row.values()]


def refined_posts(folder: Path) -> list[Post]:
    """The refined questions, with everything but their place in the taxonomy read from the XML."""
    rows = {element.attrib["Id"]: element.attrib for element in ElementTree.parse(folder / "Posts.xml").getroot()}
    answers: dict[str, list[str]] = {}
    for row in rows.values():
        if "ParentId" in row:
            answers.setdefault(row["ParentId"], []).append(row["CreationDate"])
    return [
        Post(
            item=item,
            asked=rows[item["id"]]["CreationDate"],
            accepted=rows[rows[item["id"]]["AcceptedAnswerId"]]["CreationDate"],
            answers=tuple(answers[item["id"]]),
            viewcount=int(rows[item["id"]]["ViewCount"]),
            score=int(rows[item["id"]]["Score"]),
            title=rows[item["id"]]["Title"],
        )
        for item in read_rows(folder / "truth-items.csv")
        if item["issue"]
    ]


def digest(folder: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        whole.update(path.name.encode() + path.read_bytes())
    return whole.hexdigest()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("like") / "dump"
    write_dump(folder, posts=7_500, seed=1, plan=LIKE, tables=())
    return folder


@pytest.fixture(scope="module")
def posts(folder: Path) -> list[Post]:
    return refined_posts(folder)


def medians_of(posts: list[Post], name: str) -> dict[str, tuple[float, ...]]:
    groups: dict[str, list[Post]] = {}
    for post in posts:
        groups.setdefault(post.item["phase"] if name == "phase" else object_of(post), []).append(post)
    return {
        group: tuple(median(getattr(post, figure) for post in members) for figure in FIGURES)
        for group, members in groups.items()
    }


def object_of(post: Post) -> str:
    return f"{post.item['phase']}/{post.item['object']}"


def test_every_object_has_the_printed_posts_of_every_framework(posts: list[Post]) -> None:
    found = Counter((object_of(post), post.item["framework"]) for post in posts)
    for row in printed("table03-taxonomy.csv"):
        for framework in FRAMEWORKS:
            assert found[f"{row['phase']}/{row['object']}", framework] == int(row[framework]), (row, framework)
    assert sum(found.values()) == len(posts) == 2_401


def test_the_years_match_the_plan(posts: list[Post]) -> None:
    found = Counter((post.item["framework"], int(post.asked[:4])) for post in posts)
    assert found == Counter({place: count for place, count in LIKE.yearly.items() if count})


def test_the_medians_of_every_object_and_phase_are_the_printed_ones(posts: list[Post]) -> None:
    names = {row["code"]: f"{row['phase']}/{row['object']}" for row in printed("table03-taxonomy.csv")}
    names |= {row["code"]: row["phase"] for row in read_rows(STUDY / "printed" / "table02-phases.csv")}
    found = medians_of(posts, "object") | medians_of(posts, "phase")
    compared = 0
    for row in printed("table14-popularity-difficulty.csv"):
        for figure, value in zip(FIGURES, found[names[row["code"]]], strict=True):
            if row[figure]:
                assert value == pytest.approx(float(row[figure]), abs=0.001), (row, figure)
                compared += 1
    assert compared == 191


def test_an_illegible_median_is_taken_from_the_study(posts: list[Post]) -> None:
    found = medians_of(posts, "object")
    assert found["Model prediction/Threshold"] == (568, 1, 128.43)
    assert found["Data processing/Placeholder"] == (475, 1, 0.08)


def test_phases_have_the_published_order(posts: list[Post]) -> None:
    found = medians_of(posts, "phase")
    popular = sorted(found, key=lambda phase: -found[phase][0])
    difficult = sorted(found, key=lambda phase: -found[phase][2])
    assert popular[:3] == ["Visualization", "Runtime environment", "Model evaluation"]
    assert difficult[:4] == ["Runtime environment", "Model setting", "Visualization", "Model training"]


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_views_correlate_strongly_with_score_and_weakly_with_response_time(tmp_path: Path, seed: int) -> None:
    write_dump(tmp_path / "dump", posts=7_500, seed=seed, plan=LIKE, tables=())
    posts = refined_posts(tmp_path / "dump")
    views = [post.viewcount for post in posts]
    liked = pearsonr(views, [post.score for post in posts]).statistic
    waited = pearsonr(views, [post.response_days for post in posts]).statistic
    assert 0.88 < liked < 0.94
    assert 0.1 < waited < 0.3
    truth = json.loads((tmp_path / "dump" / "truth.json").read_text())["taxonomy"]["pearson"]
    assert truth["viewcount_and_score"] == pytest.approx(liked, abs=0.0001)
    assert truth["viewcount_and_response"] == pytest.approx(waited, abs=0.0001)


def test_figures_have_heavy_tails(posts: list[Post]) -> None:
    assert max(post.viewcount for post in posts) > 50 * median(post.viewcount for post in posts)
    assert max(post.score for post in posts) > 50
    assert min(post.score for post in posts) < 0
    assert max(post.response_days for post in posts) > 100


def test_accepted_answers_come_inside_the_dump_and_not_always_first(posts: list[Post]) -> None:
    assert all(post.asked < post.accepted < "2021-09-05" for post in posts)
    assert sum(min(post.answers) < post.accepted for post in posts) > 100


def test_the_truth_matches_the_dump(folder: Path, posts: list[Post]) -> None:
    for post in posts:
        told = (int(post.item["viewcount"]), int(post.item["score"]), float(post.item["response_days"]))
        assert told == (post.viewcount, post.score, post.response_days)
        assert post.item["text"].split()[0] == post.item["verb"]
        assert f"how to {post.item['text']}".lower() in post.title.lower()
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["taxonomy"]
    found = medians_of(posts, "object") | medians_of(posts, "phase")
    counts = Counter((object_of(post), post.item["framework"]) for post in posts)
    for group in truth["objects"] + truth["phases"]:
        name = f"{group['phase']}/{group['object']}" if "object" in group else group["phase"]
        assert tuple(group[figure] for figure in FIGURES) == pytest.approx(found[name]), name
        if "object" in group:
            assert group["posts"] == {framework: counts[name, framework] for framework in FRAMEWORKS}
    assert (len(truth["objects"]), len(truth["phases"])) == (63, 7)
    assert sum(issue["posts"] for issue in truth["issues"]) == 2_401


def test_questions_that_are_not_refined_have_no_planted_figures(folder: Path) -> None:
    others = [row for row in read_rows(folder / "truth-items.csv") if not row["issue"]]
    assert len(others) == LIKE.how_to - LIKE.refined
    assert {row["viewcount"] + row["score"] + row["response_days"] + row["text"] for row in others} == {""}


@cache
def printed_issues() -> dict[tuple[str, str, str], int | None]:
    """The posts of each printed line by phase, object and name; tables 5 and 8 count across objects."""
    lines: dict[tuple[str, str, str], int | None] = {}
    for row in printed("table05-data-processing.csv"):
        lines["Data processing", "", row["issue"]] = int(row["posts"]) if row["posts"] else None
    for row in printed("table08-operations.csv"):
        lines["Model setting", "", row["operation"]] = int(row["posts"]) if row["posts"] else None
    for name, phase in BY_OBJECT.items():
        for row in printed(name):
            lines[phase, row["object"], row["issue"]] = int(row["posts"]) if row["posts"] else None
    return lines


def test_every_printed_issue_is_asked_as_often_as_printed(posts: list[Post]) -> None:
    shared = {"Layer", "Model", "Trained model"}
    found: Counter[tuple[str, str, str]] = Counter()
    for post in posts:
        phase, name, issue = post.item["phase"], post.item["object"], post.item["issue"]
        across = phase == "Data processing" or (phase == "Model setting" and name in shared)
        found[phase, "" if across else name, issue] += 1
    assert set(found) == set(printed_issues())
    for place, count in printed_issues().items():
        assert found[place] == count if count is not None else found[place] > 0, place


def test_kinds_of_models_and_layers_are_asked_about_as_often_as_printed(posts: list[Post]) -> None:
    texts = [
        post.item["text"].lower()
        for post in posts
        if post.item["phase"] == "Model setting" and post.item["object"] in {"Layer", "Model", "Trained model"}
    ]
    for row in printed("table07-object-types.csv"):
        if row["object_type"] not in {"Model", "Layer", "Trained model"}:
            kind = re.compile(rf"\b(an?|trained) {row['object_type'].lower()} (layer|model)\b")
            assert sum(bool(kind.search(text)) for text in texts) == int(row["posts"]), row


def test_most_verbs_of_data_processing_transform_or_compute(posts: list[Post]) -> None:
    groups: dict[str, str] = {}
    for code in tomllib.loads((STUDY / "codebook.toml").read_text(encoding="utf-8"))["code"]:
        if code.get("parent") == "data-processing/data":
            before = re.match(r"\(([^)]*)\)", code["name"])
            for verb in before[1].split("/") if before else [code["name"].split()[0]]:
                groups.setdefault(verb, code["across"]["operation-group"])
    verbs = [post.item["verb"] for post in posts if post.item["phase"] == "Data processing"]
    assert set(verbs) <= set(groups)
    share = sum(groups[verb] in {"transform-convert", "compute-operate"} for verb in verbs) / len(verbs)
    assert share == pytest.approx(0.634, abs=0.001)


def test_every_pattern_uses_a_verb_of_its_printed_line() -> None:
    other_words = {"mean": "average"}
    for block in read_issue_blocks():
        for issue in block.issues:
            words = {other_words.get(word, word) for word in re.findall(r"[\w-]+", issue.name)}
            for pattern in issue.patterns:
                assert pattern.split()[0] in words, (issue.name, pattern)


def test_issues_sum_to_the_posts_of_their_objects() -> None:
    assert WHOLE.taxonomy is not None
    totals = {(planned.phase, planned.object): planned.total for planned in WHOLE.taxonomy.objects}
    for block in read_issue_blocks():
        together = sum(totals.pop((block.phase, name)) for name in block.objects)
        assert sum(issue.posts for issue in block.issues) == together, block.objects
    assert not totals


def test_the_same_seed_gives_the_same_bytes_also_after_a_run_that_failed(tmp_path: Path) -> None:
    def fail(table: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    write_dump(tmp_path / "one", posts=7_000, seed=4, plan=LIKE, tables=())
    with pytest.raises(KeyboardInterrupt):
        write_dump(tmp_path / "two", posts=7_000, seed=4, plan=LIKE, tables=(), progress=fail)
    assert not (tmp_path / "two").exists()
    write_dump(tmp_path / "two", posts=7_000, seed=4, plan=LIKE, tables=())
    write_dump(tmp_path / "other", posts=7_000, seed=5, plan=LIKE, tables=())
    assert digest(tmp_path / "one") == digest(tmp_path / "two") != digest(tmp_path / "other")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        (None, "69c39d1618046a420e4abe0511d32688ca960410bcae6ef2aaecc7f8b6510a76"),
        (replace(SMALL, taxonomy=None), "87ddc930896f2edf98ed56880d81100bf102189a0253b80b8beac56057c86551"),
    ],
)
def test_dumps_without_a_taxonomy_are_unchanged(tmp_path: Path, plan: SynthPlan | None, expected: str) -> None:
    write_dump(tmp_path / "dump", posts=8_000, seed=5, plan=plan, tables=())
    assert digest(tmp_path / "dump") == expected


@pytest.mark.parametrize("seed", range(5))
def test_a_long_response_time_is_given_to_an_early_question(tmp_path: Path, seed: int) -> None:
    write_dump(tmp_path / "dump", posts=200, seed=seed, plan=SMALL, tables=())
    posts = refined_posts(tmp_path / "dump")
    waits = {post.item["framework"]: post.response_days for post in posts if post.item["object"] == "Derivative"}
    assert sum(waits.values()) / 2 == pytest.approx(179.25, abs=0.006)
    assert all(post.accepted < "2021-09-05" for post in posts)


def test_a_response_time_that_fits_no_question_is_cut_at_the_end_of_the_dump(tmp_path: Path) -> None:
    assert SMALL.taxonomy is not None
    hard = tuple(replace(planned, medians=Medians(500, 1, 2_000)) for planned in SMALL_OBJECTS)
    plan = replace(SMALL, taxonomy=replace(SMALL.taxonomy, objects=hard))
    write_dump(tmp_path / "dump", posts=200, seed=1, plan=plan, tables=())
    posts = refined_posts(tmp_path / "dump")
    assert len(posts) == 7
    assert all(post.asked < post.accepted < "2021-09-05" for post in posts)


def edited(edit: Callable[[PlannedObject], PlannedObject]) -> SynthPlan:
    assert SMALL.taxonomy is not None
    return replace(SMALL, taxonomy=replace(SMALL.taxonomy, objects=tuple(edit(one) for one in SMALL_OBJECTS)))


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (edited(lambda one: replace(one, posts={**one.posts, "pytorch": 2})), "4 posts of pytorch, but 6"),
        (edited(lambda one: replace(one, posts={**one.posts, "caffe": 1})), "2 posts of caffe, but 0"),
        (edited(lambda one: replace(one, object="Soup")), "no phrases"),
        (edited(lambda one: replace(one, phase="Cooking")), "Cooking"),
        (edited(lambda one: replace(one, medians=Medians(1, 1, -1))), "negative"),
        (replace(SMALL, taxonomy=Taxonomy(SMALL_OBJECTS, {}, 0.9, 0.2)), "no medians of the phase"),
    ],
)
def test_a_taxonomy_that_does_not_fit_is_refused(tmp_path: Path, plan: SynthPlan, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_dump(tmp_path / "dump", posts=200, seed=1, plan=plan)
    assert not (tmp_path / "dump").exists()


def copied(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_bytes((STUDY / "printed" / name).read_bytes())
    return folder


def names_of_taxonomy() -> Iterator[str]:
    yield from ("table03-taxonomy.csv", "table14-popularity-difficulty.csv", "other.csv")


@pytest.mark.parametrize("missing", list(names_of_taxonomy()))
def test_a_study_without_one_of_the_printed_files_plants_no_taxonomy(tmp_path: Path, missing: str) -> None:
    some = copied(tmp_path, *(name for name in names_of_taxonomy() if name != missing))
    assert read_taxonomy(some, FRAMEWORKS, {}) is None
    copied(tmp_path, missing)
    assert read_taxonomy(tmp_path, FRAMEWORKS, {}) is not None


def test_published_files_with_a_missing_figure_are_refused(tmp_path: Path) -> None:
    copied(tmp_path, *names_of_taxonomy())
    table = tmp_path / "table14-popularity-difficulty.csv"
    table.write_text(table.read_text().replace("V,Overall,1047.00", "V,Overall,"))
    with pytest.raises(InputError, match="has no median for V"):
        read_taxonomy(tmp_path, FRAMEWORKS, {})
    copied(tmp_path, table.name)
    (tmp_path / "other.csv").write_text("figure,value,where\n")
    with pytest.raises(InputError, match="Pearson r of viewcount and score"):
        read_taxonomy(tmp_path, FRAMEWORKS, {})
