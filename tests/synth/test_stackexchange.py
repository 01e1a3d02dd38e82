"""A synthetic dump contains exactly what its truth file says, according to an independent XML parser."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from quaestor.base.errors import InputError
from quaestor.synth.plan import DEFAULT_FAMILIES, SynthPlan, minimum_posts
from quaestor.synth.stackexchange import ALL_TABLES, write_dump
from quaestor.synth.truth import Truth

YEARLY: Mapping[tuple[str, int], int] = {
    ("tensorflow", 2015): 15, ("tensorflow", 2016): 160, ("tensorflow", 2017): 316, ("tensorflow", 2018): 324,
    ("tensorflow", 2019): 463, ("tensorflow", 2020): 447, ("tensorflow", 2021): 172, ("pytorch", 2017): 20,
    ("pytorch", 2018): 56, ("pytorch", 2019): 101, ("pytorch", 2020): 151, ("pytorch", 2021): 129,
    ("theano", 2014): 5, ("theano", 2015): 8, ("theano", 2016): 28, ("theano", 2017): 6,
}  # fmt: skip
PRINTED = SynthPlan(90_697, 14_203, 4_327, 3_842, 2_401, YEARLY, DEFAULT_FAMILIES)
SMALL_YEARLY = {("tensorflow", 2016): 9, ("tensorflow", 2021): 3, ("pytorch", 2019): 5, ("theano", 2014): 2}
SMALL = SynthPlan(700, 110, 40, 31, 19, SMALL_YEARLY, DEFAULT_FAMILIES)
PHASES = {
    "Data processing", "Model setting", "Model training", "Model prediction", "Model evaluation",
    "Runtime environment", "Visualization",
}  # fmt: skip
STEMS = ("Posts", "Comments", "Users", "Votes", "PostHistory", "PostLinks", "Badges", "Tags")

Row = dict[str, str]


def rows_of(path: Path) -> Iterator[Row]:
    """The rows as another parser reads them, without keeping the tree."""
    events = ElementTree.iterparse(path, events=("start", "end"))
    _, root = next(events)
    for event, element in events:
        if event == "end" and element.tag == "row":
            yield dict(element.attrib)
            root.clear()


def tags_of(row: Row) -> list[str]:
    return re.findall(r"[^|<>]+", row["Tags"])


def framework_of(row: Row, families: Mapping[str, tuple[str, ...]]) -> str | None:
    """The first framework, in the order of the families, one of whose tags the question carries."""
    tags = tags_of(row)
    return next((name for name, family in families.items() if set(family) & set(tags)), None)


def items_of(folder: Path) -> dict[str, Row]:
    with (folder / "truth-items.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: row for row in csv.DictReader(file)}


def funnel_of(folder: Path, families: Mapping[str, tuple[str, ...]]) -> tuple[list[int], Counter[tuple[str, int]]]:
    """Questions after each step, and the refined ones by framework and year, all counted from the XML."""
    items = items_of(folder)
    counts = [0] * 6
    yearly: Counter[tuple[str, int]] = Counter()
    for row in rows_of(folder / "Posts.xml"):
        if row["PostTypeId"] != "1":
            continue
        framework = framework_of(row, families)
        how_to = "how to" in row["Title"].lower()
        passes = [True, framework is not None, how_to, "AcceptedAnswerId" in row, "ClosedDate" not in row]
        passes.append(framework is not None and how_to and items[row["Id"]]["topic"] == "implementation")
        for step, passed in enumerate(passes):
            if not passed:
                break
            counts[step] += 1
        else:
            yearly[framework or "", int(row["CreationDate"][:4])] += 1
    return counts, yearly


def planned(plan: SynthPlan) -> list[int]:
    return [plan.tagged, plan.how_to, plan.accepted, plan.open, plan.refined]


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Truth]:
    folder = tmp_path_factory.mktemp("synth") / "dump"
    return folder, write_dump(folder, posts=12_000, seed=5)


@pytest.fixture(scope="module")
def posts(dump: tuple[Path, Truth]) -> list[Row]:
    return list(rows_of(dump[0] / "Posts.xml"))


@pytest.mark.parametrize("tag_syntax", ["new", "old"])
@pytest.mark.parametrize("seed", [0, 1, 99])
def test_the_truth_file_matches_the_counts_of_a_parser(tmp_path: Path, seed: int, tag_syntax: str) -> None:
    truth = write_dump(tmp_path / "dump", posts=2_000, seed=seed, tag_syntax=tag_syntax)
    found = list(rows_of(tmp_path / "dump" / "Posts.xml"))
    kinds = Counter(row["PostTypeId"] for row in found)
    counts, yearly = funnel_of(tmp_path / "dump", DEFAULT_FAMILIES)
    assert len(found) == truth.posts == 2_000
    assert (kinds["1"], kinds["2"]) == (truth.questions, truth.answers)
    assert sum("AcceptedAnswerId" in row for row in found) == truth.accepted
    assert sum("ClosedDate" in row for row in found) == truth.closed
    assert counts == [truth.questions, *(step.leaving for step in truth.funnel), truth.refined]
    assert [step.entering for step in truth.funnel] == counts[:4]
    assert yearly == {(name, year): n for name, years in truth.yearly.items() for year, n in years.items()}


@pytest.mark.parametrize("tag_syntax", ["new", "old"])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_small_plan_is_found_exactly(tmp_path: Path, seed: int, tag_syntax: str) -> None:
    write_dump(tmp_path / "dump", posts=3_000, seed=seed, tag_syntax=tag_syntax, plan=SMALL, tables=())
    counts, yearly = funnel_of(tmp_path / "dump", SMALL.families)
    assert counts[0] > SMALL.tagged
    assert counts[1:] == planned(SMALL)
    assert yearly == SMALL.yearly


def test_the_printed_plan_is_found_exactly(tmp_path: Path) -> None:
    truth = write_dump(tmp_path / "dump", posts=215_000, seed=3, plan=PRINTED, tables=())
    counts, yearly = funnel_of(tmp_path / "dump", PRINTED.families)
    assert counts[1:] == planned(PRINTED)
    assert yearly == YEARLY
    assert [step.leaving for step in truth.funnel] == planned(PRINTED)[:4]
    assert truth.refined == PRINTED.refined


def test_the_fewest_posts_that_a_plan_needs_are_enough(tmp_path: Path) -> None:
    truth = write_dump(tmp_path / "dump", posts=minimum_posts(SMALL), seed=1, plan=SMALL)
    counts, yearly = funnel_of(tmp_path / "dump", SMALL.families)
    assert (counts[1:], yearly) == (planned(SMALL), SMALL.yearly)
    assert truth.posts == minimum_posts(SMALL)


def test_a_shared_tag_belongs_to_the_first_framework_that_claims_it(tmp_path: Path) -> None:
    families = {"keras": ("keras", "tf.keras"), "tensorflow": ("tensorflow", "keras"), "jax": ("jax",)}
    yearly = {("keras", 2018): 4, ("tensorflow", 2018): 4, ("jax", 2020): 2}
    plan = SynthPlan(300, 60, 30, 20, 10, yearly, families)
    write_dump(tmp_path / "dump", posts=1_000, seed=1, plan=plan, tables=())
    counts, found = funnel_of(tmp_path / "dump", families)
    assert (counts[1:], found) == (planned(plan), yearly)


def test_refined_questions_have_a_phase_a_verb_and_an_object_and_others_have_none(tmp_path: Path) -> None:
    write_dump(tmp_path / "dump", posts=3_000, seed=1, plan=SMALL, tables=())
    titles = {row["Id"]: row.get("Title", "") for row in rows_of(tmp_path / "dump" / "Posts.xml")}
    items = items_of(tmp_path / "dump")
    assert len(items) == SMALL.how_to
    assert {item["topic"] for item in items.values()} > {"implementation", "installation", "comprehension"}
    for number, item in items.items():
        if item["topic"] == "implementation":
            assert item["phase"] in PHASES
            assert f"how to {item['verb']} " in titles[number].lower()
            assert item["object"]
        else:
            assert (item["phase"], item["verb"], item["object"]) == ("", "", "")


def test_questions_about_a_framework_fall_within_its_lifetime(tmp_path: Path) -> None:
    write_dump(tmp_path / "dump", posts=3_000, seed=4, plan=SMALL, tables=())
    first: dict[str, str] = {}
    for row in rows_of(tmp_path / "dump" / "Posts.xml"):
        framework = framework_of(row, DEFAULT_FAMILIES) if "Tags" in row else None
        if framework:
            first[framework] = min(first.get(framework, "9"), row["CreationDate"])
    assert first["tensorflow"] > "2015-11"
    assert first["pytorch"] > "2017-01"
    assert first["theano"] > "2012"


def test_the_same_arguments_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_dump(tmp_path / name, posts=2_000, seed=8, plan=SMALL)
    write_dump(tmp_path / "other", posts=2_000, seed=9, plan=SMALL)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert digests(tmp_path / "one")["Posts.xml"] != digests(tmp_path / "other")["Posts.xml"]


def test_posts_do_not_depend_on_which_other_tables_are_written(tmp_path: Path) -> None:
    write_dump(tmp_path / "whole", posts=1_000, seed=8)
    write_dump(tmp_path / "part", posts=1_000, seed=8, tables=("votes",))
    assert sorted(digests(tmp_path / "part")) == ["Posts.xml", "Votes.xml", "truth-items.csv", "truth.json"]
    for name in ("Posts.xml", "Votes.xml"):
        assert digests(tmp_path / "part")[name] == digests(tmp_path / "whole")[name]


def test_ids_and_dates_ascend_together(posts: list[Row]) -> None:
    ids = [int(row["Id"]) for row in posts]
    dates = [row["CreationDate"] for row in posts]
    assert all(earlier < later for earlier, later in pairwise(ids))
    assert dates == sorted(dates)
    assert dates[0] > "2008-07-31"
    assert dates[-1] < "2021-09-05"


def test_accepted_answers_exist_come_later_and_belong_to_their_question(posts: list[Row]) -> None:
    parents = {row["Id"]: row["ParentId"] for row in posts if row["PostTypeId"] == "2"}
    accepted = [(row["Id"], row["AcceptedAnswerId"]) for row in posts if "AcceptedAnswerId" in row]
    assert accepted
    for question, answer in accepted:
        assert parents[answer] == question
        assert int(answer) > int(question)


def test_answers_follow_their_questions_with_other_posts_in_between(posts: list[Row]) -> None:
    place = {row["Id"]: number for number, row in enumerate(posts)}
    questions = {row["Id"] for row in posts if row["PostTypeId"] == "1"}
    distances = [place[row["Id"]] - place[row["ParentId"]] for row in posts if "ParentId" in row]
    assert all(row["ParentId"] in questions for row in posts if "ParentId" in row)
    assert min(distances) == 1
    assert sum(distance > 2 for distance in distances) > len(distances) / 5


def test_answer_counts_and_last_activity_agree_with_the_answers(posts: list[Row]) -> None:
    answers = Counter(row["ParentId"] for row in posts if "ParentId" in row)
    last = {row["ParentId"]: row["CreationDate"] for row in posts if "ParentId" in row}
    for row in posts:
        assert row["LastActivityDate"] >= row["CreationDate"]
        if row["PostTypeId"] == "1":
            assert int(row["AnswerCount"]) == answers[row["Id"]]
            assert row["LastActivityDate"] >= last.get(row["Id"], "")


def test_every_file_has_the_shape_of_an_official_dump(dump: tuple[Path, Truth]) -> None:
    folder, truth = dump
    assert tuple(stem.lower() for stem in STEMS) == ALL_TABLES == tuple(truth.rows)
    for stem in STEMS:
        text = (folder / f"{stem}.xml").read_bytes()
        lines = text.split(b"\n")
        assert lines[0] == b'\xef\xbb\xbf<?xml version="1.0" encoding="utf-8"?>'
        assert lines[1] == b"<!-- Synthetic evidence, seed 5. Not written by people. -->"
        assert lines[2] == f"<{stem.lower()}>".encode()
        assert lines[-2:] == [f"</{stem.lower()}>".encode(), b""]
        assert all(line.startswith(b'  <row Id="') and line.endswith(b'" />') for line in lines[3:-2])
        ids = [int(row["Id"]) for row in rows_of(folder / f"{stem}.xml")]
        assert len(ids) == truth.rows[stem.lower()] > 0
        assert ids == sorted(set(ids))


def test_other_tables_point_to_posts_and_users_that_exist(dump: tuple[Path, Truth], posts: list[Row]) -> None:
    folder, truth = dump
    numbers = {row["Id"] for row in posts}
    users = {row["Id"] for row in rows_of(folder / "Users.xml")}
    for stem in ("Comments", "Votes", "PostHistory", "PostLinks", "Badges"):
        for row in rows_of(folder / f"{stem}.xml"):
            assert {row[name] for name in ("PostId", "RelatedPostId") if name in row} <= numbers
            assert row.get("UserId", "1") in users
    assert {row["OwnerUserId"] for row in posts if "OwnerUserId" in row} <= users
    assert truth.rows["comments"] == sum(int(row["CommentCount"]) for row in posts)


def test_tag_counts_match_the_questions(dump: tuple[Path, Truth], posts: list[Row]) -> None:
    carried = Counter(tag for row in posts if "Tags" in row for tag in tags_of(row))
    kinds = {row["Id"]: row["PostTypeId"] for row in posts}
    listed = list(rows_of(dump[0] / "Tags.xml"))
    assert {row["TagName"]: int(row["Count"]) for row in listed} == carried
    wikis = [(kinds[row["ExcerptPostId"]], kinds[row["WikiPostId"]]) for row in listed if "WikiPostId" in row]
    assert wikis
    assert set(wikis) == {("4", "5")}


def test_licences_follow_the_date(posts: list[Row]) -> None:
    for row in posts:
        version = (
            "2.5" if row["CreationDate"] < "2011-04-08" else "3.0" if row["CreationDate"] < "2018-05-02" else "4.0"
        )
        assert row["ContentLicense"] == f"CC BY-SA {version}"


def test_sizes_and_shares_are_plausible(dump: tuple[Path, Truth], posts: list[Row]) -> None:
    folder, truth = dump
    questions = [row for row in posts if row["PostTypeId"] == "1"]
    assert 1_200 < (folder / "Posts.xml").stat().st_size / truth.posts < 1_800
    assert 0.55 < truth.answers / truth.posts < 0.6
    assert 0.5 < sum("<pre><code>" in row["Body"] for row in posts) / len(posts) < 0.7
    assert max(len(row["Body"]) for row in posts) <= 30_000
    assert all(1 <= len(set(tags_of(row))) == len(tags_of(row)) <= 5 for row in questions)
    assert all(15 <= len(row["Title"]) <= 150 for row in questions)
    assert any("OwnerDisplayName" in row and "OwnerUserId" not in row for row in posts)
    assert 0.01 < sum(int(row["Score"]) < 0 for row in posts) / len(posts) < 0.15
    assert max(int(row["Score"]) for row in posts) > 100
    assert {"FavoriteCount" in row for row in questions} == {True, False}
    assert any(ord(letter) > 0xFFFF for row in posts for letter in row["Body"])


def test_progress_ends_at_the_number_of_rows(tmp_path: Path) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def note(table: str, done: int, total: int) -> None:
        seen[table] = (done, total)

    truth = write_dump(tmp_path / "dump", posts=500, seed=1, progress=note)
    assert seen == {table: (rows, rows) for table, rows in truth.rows.items()}


@pytest.mark.parametrize("total", [1, 2, 3, 10])
def test_the_smallest_dumps_are_complete(tmp_path: Path, total: int) -> None:
    truth = write_dump(tmp_path / "dump", posts=total, seed=1)
    found = list(rows_of(tmp_path / "dump" / "Posts.xml"))
    assert len(found) == truth.posts == total
    assert found[0]["PostTypeId"] == "1"


def test_the_truth_is_written_with_the_dump(dump: tuple[Path, Truth]) -> None:
    folder, truth = dump
    written = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    assert written == truth.as_json()
    assert written["synthetic"] is True
    assert written["funnel"][0] == {"step": "tagged", "in": truth.questions, "out": truth.funnel[0].leaving}


def test_an_earlier_synthetic_dump_is_replaced_completely(tmp_path: Path) -> None:
    write_dump(tmp_path / "dump", posts=100, seed=1)
    write_dump(tmp_path / "dump", posts=50, seed=2, tables=())
    assert sorted(digests(tmp_path / "dump")) == ["Posts.xml", "truth-items.csv", "truth.json"]
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


@pytest.mark.parametrize("name", ["notes.txt", "Posts.xml"])
def test_a_folder_with_other_files_is_refused_and_unchanged(tmp_path: Path, name: str) -> None:
    (tmp_path / "dump").mkdir()
    (tmp_path / "dump" / name).write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not a synthetic dump"):
        write_dump(tmp_path / "dump", posts=50, seed=1)
    assert (tmp_path / "dump" / name).read_text(encoding="utf-8") == "mine"


def test_other_files_in_a_synthetic_dump_are_not_removed(tmp_path: Path) -> None:
    write_dump(tmp_path / "dump", posts=50, seed=1, tables=())
    (tmp_path / "dump" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="not a synthetic dump"):
        write_dump(tmp_path / "dump", posts=50, seed=1)


def test_a_failed_run_leaves_no_files(tmp_path: Path) -> None:
    def fail(table: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_dump(tmp_path / "dump", posts=50, seed=1, progress=fail)
    assert list(tmp_path.iterdir()) == []


def test_too_few_posts_are_refused_with_the_minimum(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least 740 posts"):
        write_dump(tmp_path / "dump", posts=739, seed=1, plan=SMALL)
    assert minimum_posts(SMALL) == 740


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (SynthPlan(10, 20, 5, 5, 0, {}, DEFAULT_FAMILIES), "narrows"),
        (SynthPlan(10, 5, 4, 3, 2, {("theano", 2015): 1}, DEFAULT_FAMILIES), "sum to 1"),
        (SynthPlan(10, 5, 4, 3, 1, {("caffe", 2015): 1}, DEFAULT_FAMILIES), "families only for"),
        (SynthPlan(10, 5, 4, 3, 1, {("theano", 1999): 1}, DEFAULT_FAMILIES), "1999"),
        (SynthPlan(10, 5, 4, 3, 0, {}, {}), "no framework"),
        (SynthPlan(10, 5, 4, 3, 0, {}, {"one": ("tag",), "two": ("tag",)}), "earlier framework"),
    ],
)
def test_a_plan_that_contradicts_itself_is_refused(tmp_path: Path, plan: SynthPlan, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_dump(tmp_path / "dump", posts=1_000, seed=1, plan=plan)


def test_unknown_tables_syntaxes_sizes_and_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose among posts, comments"):
        write_dump(tmp_path / "dump", posts=10, seed=1, tables=("answers",))
    with pytest.raises(InputError, match="new, old"):
        write_dump(tmp_path / "dump", posts=10, seed=1, tag_syntax="newest")
    with pytest.raises(InputError, match="0 posts"):
        write_dump(tmp_path / "dump", posts=0, seed=1)
    with pytest.raises(InputError, match="-1"):
        write_dump(tmp_path / "dump", posts=10, seed=-1)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file"):
        write_dump(tmp_path / "file", posts=10, seed=1)
