"""The spreadsheet of a rater: what it contains, how it comes back, and what is wrong with it when it does."""

from __future__ import annotations

import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from tests.support.coded_interviews import ROUND as PASSAGES
from tests.support.coded_interviews import coded_study
from tests.support.command_line import in_this_process, quaestor
from tests.support.filled_spreadsheets import Rows, fill, read_sheets, save_again
from tests.support.made_once import study_of

from quaestor.base.errors import InputError, StateError
from quaestor.base.table_files import unescape_formula
from quaestor.coding.codebook import import_codebook
from quaestor.coding.model.answers import check_answers
from quaestor.coding.model.records import CANNOT_JUDGE, Rating
from quaestor.coding.model.views import build_rater_view
from quaestor.coding.phrases import request_reread
from quaestor.coding.rating_files import import_ratings, rate
from quaestor.coding.rating_rows import InvalidCells
from quaestor.coding.rating_spreadsheet import build_rating_spreadsheet
from quaestor.coding.renaming import rename_rater
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import CodingSession, open_coding
from quaestor.study.folder import Study, open_study

STUDY = """
[study]
name = "rated in spreadsheets"
lead = "lead"

[sources.sheet]
kind = "table"
path = "posts.csv"
item = "stackoverflow/question/{id}"
columns.id = { type = "whole" }
columns.title = {}
columns.body = {}

[[funnel.steps]]
step = "all"
where = "id > 0"

[facets.relevance]
kind = "keep"
question = "Is it about a model?"
reasons = ["crash", "installation"]

[facets.topic]
kind = "single"
codes = "issue"
ask_if = { relevance = "keep" }

[facets.tags]
kind = "multiple"
options = ["a", "b, c", "3", "yes", "2021-03-01"]

[facets.phrase]
kind = "phrase"
required = false

[facets.why]
kind = "text"
required = false

[[rounds]]
round = "main"
items = { after = "all" }
facets = ["relevance", "topic", "tags", "phrase", "why"]
raters = ["rater-1", "rater-2"]
instructions = "Read it all."

[[rounds]]
round = "phrases"
items = { after = "all", set_size = 3 }
facets = ["phrase"]
raters = ["rater-1"]

[[rounds]]
round = "later"
items = { after = "all" }
facets = ["relevance", "topic"]
raters = ["rater-1"]

[[rounds]]
round = "other"
items = { after = "all" }
facets = ["relevance"]
raters = ["rater-1"]
practice = [{ item = "stackoverflow/question/50", answers = { relevance = "keep" } }]
"""
CODEBOOK = """
[[facet]]
id = "issue"
levels = ["phase", "object"]
""" + "".join(
    f'[[code]]\nid = "{code}"\nfacet = "issue"\nname = "{name}"\n{more}\n'
    for code, name, more in (
        ("training", "Model training", 'definition = "While it learns."\nexamples = ["loss is NaN"]'),
        ("setting", "=Model; setting", ""),
        ("training/loss", "loss", 'parent = "training"'),
        ("setting/loss", "Loss", 'parent = "setting"'),
    )
)
ITEMS = [f"stackoverflow/question/{number}" for number in range(1, 7)]
FORMULA = '=HYPERLINK("http://x.example","y")'
COMPLETE = {"relevance": "keep", "topic": "Model training", "tags": "a; 3"}
STORED = {"relevance": {"answer": "keep"}, "topic": "training", "tags": ["3", "a"]}


def make_study(folder: Path) -> Study:
    body = "<p>First &lt;line&gt;</p><p>second</p><pre><code>x = 1</code></pre>"
    titles = [FORMULA, *(f"how to train {number} &amp; test" for number in range(2, 7))]
    posts = [f'{number},"{title.replace(chr(34), chr(34) * 2)}",{body}' for number, title in enumerate(titles, start=1)]
    study = study_of(
        folder,
        {"posts.csv": "\n".join(["id,title,body", *posts]), "study.toml": STUDY, "codebook.toml": CODEBOOK},
    )
    import_codebook(study)
    open_by_name(study, "main", None)
    return study


@pytest.fixture
def coding(tmp_path: Path) -> Iterator[CodingSession]:
    with open_coding(make_study(tmp_path / "study")) as opened:
        yield opened


def build(coding: CodingSession, rater: str = "rater-1", name: str = "main") -> bytes:
    return build_rating_spreadsheet(coding, name, rater).content


def bring(
    coding: CodingSession, content: bytes, file: str = "filled.xlsx", rater: str | None = None, **more: Any
) -> Any:
    return import_ratings(coding, more.pop("name", "main"), Path(file), rater, data=content, **more)


def find_rating(coding: CodingSession, item: str, rater: str = "rater-1") -> Rating:
    rating = coding.state.round("main").current(rater, item)
    assert rating is not None
    return rating


def read_parts(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name).decode("utf-8", "replace") for name in packed.namelist()}


def list_problems(coding: CodingSession, content: bytes, **more: Any) -> dict[str, str]:
    """The problems of a file by cell; nothing of it is recorded."""
    before = coding.state.head
    with pytest.raises(InvalidCells) as refused:
        bring(coding, content, **more)
    assert coding.state.head == before
    return {problem.where: problem.words for problem in refused.value.problems}


def test_a_spreadsheet_has_the_items_the_codebook_and_the_ratings_so_far(coding: CodingSession) -> None:
    rate(coding, "main", "rater-1", ITEMS[1], COMPLETE | {"why": "because"}, unsure=("topic",), memo="look again")
    sheets = read_sheets(build(coding))
    header, *rows = sheets["Ratings"]
    assert header == ["item", "title", "text", "link", "relevance", "topic", "tags", "phrase", "why", "unsure", "memo"]
    assert {row[0] for row in rows} == set(ITEMS)
    rated = next(row for row in rows if row[0] == ITEMS[1])
    assert rated[1:3] == ["how to train 2 & test", "First <line>\n\nsecond\n\nx = 1"]
    answers = ["keep", "Model training", "3; a", "", "because", "topic", "look again"]
    assert rated[3:] == ["https://stackoverflow.com/q/2", *answers]
    assert ["topic", "Asked only if relevance is keep.", "Model training", "training", "", "While it learns.", "", "",
            "loss is NaN"] in sheets["Codebook"]  # fmt: skip
    assert ["instructions", "Read it all."] in sheets["About"]
    # Names that are not unique or contain the separator are listed by id.
    assert [row[1] for row in sheets["Lists"]][:5] == [
        "Model training",
        "training/loss",
        "setting",
        "setting/loss",
        CANNOT_JUDGE,
    ]


def test_drop_down_lists_notes_and_the_header_are_set_up_for_a_spreadsheet_program(coding: CodingSession) -> None:
    parts = read_parts(build(coding))
    sheet = parts["xl/worksheets/sheet1.xml"]
    for column, length in (("E", 4), ("F", 5), ("G", 6)):
        rule = re.search(rf'<dataValidation [^>]*sqref="{column}2:{column}7"[^>]*>.*?</dataValidation>', sheet)
        assert rule is not None
        list_column = chr(ord(column) - ord("E") + ord("A"))
        assert f"<formula1>Lists!${list_column}$1:${list_column}${length}</formula1>" in rule[0]
        assert ("showErrorMessage" in rule[0]) == (column != "G"), "several codes must be typed"
    assert 'state="frozen"' in sheet
    assert "hidden" in re.search(r'<sheet name="Lists"[^>]*>', parts["xl/workbook.xml"])[0]  # type: ignore[index]
    assert "Asked only if relevance is keep." in parts["xl/comments1.xml"]
    assert "<f>" not in sheet, "no cell is a formula"
    titles = {row[0]: row[1] for row in read_sheets(build(coding))["Ratings"]}
    assert titles[ITEMS[0]] == f"'{FORMULA}"


def test_a_spreadsheet_contains_nothing_of_other_raters(coding: CodingSession) -> None:
    before = build(coding)
    for item in ITEMS:
        rate(coding, "main", "rater-2", item, COMPLETE | {"why": "tellingword"}, memo="tellingmemo")
    after = build(coding)
    assert "telling" not in "".join(read_parts(after).values())
    assert before == after, "not even a number tells how much others have done"
    with pytest.raises(StateError, match="'lead' does not rate in 'main'"):
        build(coding, "lead")


def test_a_spreadsheet_comes_back_empty_half_filled_complete_and_unchanged(coding: CodingSession) -> None:
    blank = build(coding)
    done = bring(coding, blank)
    assert (done.added, done.known, done.empty, done.unfinished) == (0, 0, 6, ())
    half = fill(blank, {ITEMS[0]: COMPLETE, ITEMS[1]: {"relevance": "keep", "tags": "a"}, ITEMS[2]: {"memo": "hm"}})
    rows = [row[0] for row in read_sheets(blank)["Ratings"]]
    done = bring(coding, half)
    assert (done.added, done.known, done.empty) == (1, 0, 3)
    topic, others = f"F{rows.index(ITEMS[1]) + 1}", rows.index(ITEMS[2]) + 1
    assert {problem.where for problem in done.unfinished} == {topic, f"E{others}", f"G{others}"}
    assert find_rating(coding, ITEMS[0]).answers == STORED
    complete = fill(half, dict.fromkeys(ITEMS, COMPLETE))
    done = bring(coding, complete)
    assert (done.added, done.known, done.empty, done.unfinished) == (5, 1, 0, ())
    done = bring(coding, complete)
    assert (done.added, done.known) == (0, 6)
    assert [act.kind for act in coding.journal.acts()].count("ratings.import") == 2


def test_a_changed_row_is_recorded_again_even_if_it_returns_to_an_earlier_answer(coding: CodingSession) -> None:
    blank = build(coding)
    first = fill(blank, {ITEMS[0]: COMPLETE})
    other = fill(first, {ITEMS[0]: {"tags": "b, c"}})
    for content in (first, other, first):
        assert bring(coding, content).added == 1
    assert find_rating(coding, ITEMS[0]).answers == STORED
    assert len(coding.state.round("main").ratings["rater-1"][ITEMS[0]]) == 3


def test_a_rating_at_the_desk_is_never_undone_by_an_older_spreadsheet(coding: CodingSession) -> None:
    rate(coding, "main", "rater-1", ITEMS[0], COMPLETE)
    rate(coding, "main", "rater-1", ITEMS[1], COMPLETE)
    older = build(coding)
    rate(coding, "main", "rater-1", ITEMS[0], {"relevance": "exclude: crash", "tags": "a"})
    done = bring(coding, older)
    assert (done.added, done.known) == (0, 2)
    assert find_rating(coding, ITEMS[0]).answers["relevance"]["answer"] == "exclude"
    both = fill(older, {ITEMS[0]: {"tags": "b, c"}, ITEMS[1]: {"tags": "b, c"}})
    problems = list_problems(coding, both)
    assert [words.split(":")[0] for words in problems.values()] == [
        f"{ITEMS[0]} was rated again after this spreadsheet was written"
    ]
    emptied = fill(both, {ITEMS[0]: dict.fromkeys(("relevance", "topic", "tags"), "")})
    done = bring(coding, emptied)
    assert (done.added, done.empty, len(done.notes)) == (1, 5, 1)
    assert "the recorded rating stays" in done.notes[0].words
    assert find_rating(coding, ITEMS[0]).answers["relevance"]["answer"] == "exclude"


def test_an_item_to_be_rated_again_is_blank_and_the_same_answer_counts_as_a_new_rating(coding: CodingSession) -> None:
    open_by_name(coding, "phrases", None)
    blank = build(coding, name="phrases")
    header, *rows = read_sheets(blank)["Ratings"]
    items = [row[0] for row in rows]
    assert len(items) == 3, "the items of the open set"
    older = fill(blank, {item: {"phrase": "load, model"} for item in items})
    assert bring(coding, older, name="phrases").added == 3
    request_reread(coding, "phrases", "rater-1", items[0])
    assert bring(coding, older, name="phrases").known == 3, "an older spreadsheet does not answer the request"
    again = build(coding, name="phrases")
    phrases = {row[0]: row[header.index("phrase")] for row in read_sheets(again)["Ratings"][1:]}
    assert phrases == {items[0]: "", items[1]: "load, model", items[2]: "load, model"}
    done = bring(coding, again, name="phrases")
    assert (done.known, done.empty, done.notes) == (2, 1, ())
    assert bring(coding, fill(again, {items[0]: {"phrase": "load, model"}}), name="phrases").added == 1
    assert build_rater_view(coding.state, "phrases", "rater-1").left == ()


def is_kept(text: str) -> bool:
    """Whether a cell is text and has no apostrophe that an import removes."""
    return bool(text.strip()) and unescape_formula(text) == text


answered = st.fixed_dictionaries(
    {
        "relevance": st.sampled_from(["keep", "exclude: crash", "exclude: installation", CANNOT_JUDGE]),
        "topic": st.sampled_from(["training", "setting", "training/loss", "setting/loss", CANNOT_JUDGE]),
        "tags": st.sets(st.sampled_from(["a", "b, c", "3", "yes", "2021-03-01"]), min_size=1).map(sorted),
    },
    optional={
        "phrase": st.sampled_from(["load, model", "=save, weights"]),
        "why": st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1).filter(is_kept),
        "memo": st.text("ab =+-@'\n\t\"", min_size=1).filter(is_kept),
    },
)


@pytest.fixture(scope="module")
def module_coding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CodingSession]:
    with open_coding(make_study(tmp_path_factory.mktemp("random") / "study")) as opened:
        yield opened


@given(filled=st.dictionaries(st.sampled_from(ITEMS), answered, max_size=6), seed=st.integers())
def test_what_is_filled_in_at_random_is_what_is_recorded(
    module_coding: CodingSession, filled: dict[str, dict[str, Any]], seed: int
) -> None:
    coding, dice = module_coding, random.Random(seed)
    labels = {"training": "model TRAINING", "training/loss": "Training/Loss"}
    expected, cells = {}, {}
    for item, answers in filled.items():
        memo = answers.pop("memo", "")
        if answers["relevance"] != "keep":
            answers.pop("topic")
        plan = coding.state.round("main").plan
        expected[item] = (check_answers(plan, coding.state.history.at(plan.codebook), answers), memo.splitlines())
        typed = (
            dict.fromkeys(("topic", "phrase", "why"), "") | answers | {"memo": memo, "tags": "; ".join(answers["tags"])}
        )
        if "topic" in answers and dice.random() < 0.5:
            typed["topic"] = labels.get(answers["topic"], answers["topic"])
        if dice.random() < 0.5:
            typed |= {name: f" {typed[name]} ".upper() for name in ("relevance", "tags")}
        cells[item] = typed

    def shuffle(sheets: dict[str, Rows]) -> None:
        header, *rows = sheets["Ratings"]
        dice.shuffle(rows)
        sheets["Ratings"] = [header, *rows]

    before = {rating.item: rating for rating in coding.state.round("main").all_ratings()}
    done = bring(coding, save_again(fill(build(coding), cells), shuffle))
    assert done.unfinished == ()
    for item in ITEMS:
        rating = coding.state.round("main").current("rater-1", item)
        if item not in expected:
            assert rating == before.get(item), "what was not touched did not change"
            continue
        assert rating is not None
        answers = {name: value if name != "why" else value.splitlines() for name, value in rating.answers.items()}
        wanted, memo = expected[item]
        assert answers == {name: value if name != "why" else value.splitlines() for name, value in wanted.items()}
        assert rating.memo.splitlines() == memo


def test_numbers_dates_flags_spaces_and_case_are_understood(coding: CodingSession) -> None:
    cells: dict[str, Any] = {
        ITEMS[0]: {"relevance": " Keep ", "topic": "MODEL training ", "tags": 3.0},
        ITEMS[1]: {"relevance": "Exclude: Crash", "tags": date(2021, 3, 1)},
        ITEMS[2]: {"relevance": "KEEP", "topic": "Training/Loss", "tags": " A ;3; "},
        ITEMS[3]: {"relevance": "Cannot Judge", "tags": "Yes\u00a0"},
    }
    done = bring(coding, fill(build(coding), cells))
    assert done.added == 4
    tags = [find_rating(coding, item).answers["tags"] for item in ITEMS[:4]]
    assert tags == [["3"], ["2021-03-01"], ["3", "a"], ["yes"]]
    assert find_rating(coding, ITEMS[2]).answers["topic"] == "training/loss"
    assert find_rating(coding, ITEMS[3]).answers["relevance"] == CANNOT_JUDGE


def test_all_errors_are_reported_at_once_with_their_cells_and_nothing_is_recorded(coding: CodingSession) -> None:
    def change(sheets: dict[str, Rows]) -> None:
        header, *rows = sheets["Ratings"]
        texts = [
            ["keep", "traning", "a; z", "no phrase", "", "", ""],
            ["exclude: crash", "training", "a", "", "", "", ""],
            ["keep", "loss", "a", "", "", "relevence", ""],
            ["keep", "training", "a", "", "", "", ""],
            ["keep", "training", "a", "", "", "", ""],
            ["perhaps", "", "", "", "", "", ""],
        ]
        rows = [[*row[:4], *answers] for row, answers in zip(rows, texts, strict=True)]
        rows[3][0], rows[4][0], rows[5][0] = rows[2][0], "stackoverflow/question/99", ""
        sheets["Ratings"] = [header, *rows]

    problems = list_problems(coding, save_again(build(coding), change))
    beginnings = {
        "F2": "topic is 'traning'; choose from: training",
        "G2": "tags is 'z'",
        "H2": "phrase is 'no phrase'",
        "F3": "topic is asked only if relevance is keep",
        "F4": "topic is 'loss'; choose from",
        "J4": "unsure of 'relevence'; choose from: relevance",
        "A5": "'rater-1' rates",
        "A6": "'stackoverflow/question/99' is not an item of the round 'main'",
        "A7": "the row has answers and no item",
    }
    assert problems.keys() == beginnings.keys()
    assert [cell for cell, words in problems.items() if not words.startswith(beginnings[cell])] == []


def test_a_repeated_problem_is_listed_once_with_its_cells(coding: CodingSession) -> None:
    content = fill(build(coding), {item: {"relevance": "perhaps"} for item in ITEMS})
    assert list(list_problems(coding, content)) == ["E2:E7"]


def test_columns_of_ones_own_are_ignored_and_named_and_missing_ones_are_refused(coding: CodingSession) -> None:
    def add(sheets: dict[str, Rows]) -> None:
        for number, row in enumerate(sheets["Ratings"]):
            row.insert(0, "" if number else "Done?")
            row[5] = "RELEVANCE " if not number else row[5]

    done = bring(coding, save_again(fill(build(coding), {ITEMS[0]: COMPLETE}), add))
    assert (done.added, done.ignored) == (1, ("Done?",))

    def remove(sheets: dict[str, Rows]) -> None:
        sheets["Ratings"] = [row[:4] for row in sheets["Ratings"]]

    with pytest.raises(InputError, match=r"has no columns 'relevance', 'topic', 'tags', 'phrase', 'why', found: item"):
        bring(coding, save_again(build(coding), remove))


HEADER = ("item", "relevance", "topic", "tags", "phrase", "why", "memo")
LINE = (ITEMS[0], "keep", "Model training", "a", "", "größer, “so”", "née")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize(
    ("name", "separator"), [("r.csv", ","), ("r.csv", ";"), ("r.tsv", "\t"), ("r.txt", "\t"), ("r.csv", "\t")]
)
def test_separators_and_encodings_are_detected(
    module_coding: CodingSession, encoding: str, name: str, separator: str
) -> None:
    memo = f"né {encoding} {name} {ord(separator)}"
    lines = [HEADER, (*LINE[:-1], memo), (ITEMS[1],)]
    text = "\r\n".join(separator.join(f'"{cell}"' for cell in line) for line in lines)
    done = bring(module_coding, text.encode(encoding), name, "rater-2")
    assert (done.added, done.empty) == (1, 1)
    rating = find_rating(module_coding, ITEMS[0], "rater-2")
    assert (rating.answers["why"], rating.memo) == ("größer, “so”", memo)


def test_a_spreadsheet_of_another_round_rater_or_study_is_refused(coding: CodingSession, tmp_path: Path) -> None:
    content = build(coding)
    open_by_name(coding, "other", None)
    with pytest.raises(InputError, match="is a spreadsheet of the round 'main', not of 'other'"):
        bring(coding, content, name="other")
    with pytest.raises(InputError, match="is the spreadsheet of 'rater-1', not of 'rater-2'"):
        bring(coding, content, rater="rater-2")
    another = open_coding(make_study(tmp_path / "another"))
    with another as opened, pytest.raises(InputError, match="of another study, 'rated in spreadsheets'"):
        bring(opened, content)

    def change_version(sheets: dict[str, Rows]) -> None:
        row = next(row for row in sheets["About"] if row[0] == "codebook version")
        row[1] = 7.0

    with pytest.raises(InputError, match="written with version 7 of the codebook, and the round uses version 1"):
        bring(coding, save_again(content, change_version))
    rename_rater(coding, "rater-1", "renamed", "lead")
    assert bring(coding, fill(content, {ITEMS[0]: COMPLETE})).added == 1
    assert find_rating(coding, ITEMS[0], "renamed").answers == STORED


def test_a_code_of_another_version_of_the_codebook_is_explained(coding: CodingSession) -> None:
    for command in (
        ["codebook", "add", "new", "--name", "New", "--facet", "issue"],
        ["codebook", "merge", "setting/loss", "--into", "training/loss"],
    ):
        assert in_this_process(*command, "--study", coding.study.root).exit_code == 0
    newer = fill(build(coding), {ITEMS[0]: COMPLETE | {"topic": "new"}})
    (words,) = list_problems(coding, newer).values()
    assert words.endswith("('new' is a code of version 3 of the codebook; the round uses 1)")
    assert bring(coding, fill(newer, {ITEMS[0]: {"topic": "setting/loss"}})).added == 1
    open_by_name(coding, "later", None)
    older = fill(build(coding, name="later"), {ITEMS[0]: {"relevance": "keep", "topic": "setting/loss"}})
    (words,) = list_problems(coding, older, name="later").values()
    assert words == "topic is 'setting/loss', a code that was merged into 'training/loss': choose another one"


def test_a_closed_round_takes_no_changes_and_a_spreadsheet_without_any_is_fine(coding: CodingSession) -> None:
    content = fill(build(coding), {ITEMS[0]: COMPLETE})
    assert bring(coding, content).added == 1
    close_by_name(coding, "main", None, "enough")
    assert bring(coding, content).known == 1
    with pytest.raises(StateError, match="the round 'main' is closed"):
        bring(coding, fill(content, {ITEMS[0]: {"tags": "3"}}))


def test_a_rater_must_finish_practice_and_cannot_import_times_or_ratings_of_others(coding: CodingSession) -> None:
    open_by_name(coding, "other", None)
    with pytest.raises(StateError, match="must finish 1 practice item"):
        build_rating_spreadsheet(coding, "other", "rater-1", is_own=True)
    own = b"item,relevance\nstackoverflow/question/1,keep\n"
    with pytest.raises(StateError, match="must finish 1 practice item"):
        bring(coding, own, "own.csv", "rater-1", name="other", is_own=True)
    with pytest.raises(StateError, match="'rater-2' does not rate"):
        bring(coding, own, "own.csv", "rater-2", name="other", is_own=True)
    header = "item,rater,relevance,topic,tags,phrase,why,time,seconds,simulated"
    table = header + "\n{item},{rater},keep,training,a,,,2020-01-01,9,true\n"
    done = bring(coding, table.format(item=ITEMS[0], rater="rater-1").encode(), "own.csv", "rater-1", is_own=True)
    assert (done.added, done.ignored) == (1, ("time", "seconds", "simulated"))
    rating = find_rating(coding, ITEMS[0])
    assert (rating.simulated, rating.seconds, rating.time[:4] != "2020") == (False, 0.0, True)
    theirs = table.format(item=ITEMS[0], rater="rater-2").encode()
    problems = list_problems(coding, theirs, file="own.csv", rater="rater-1", is_own=True)
    assert problems == {"B2": "the row is by 'rater-2', not by 'rater-1': remove it"}


def write_book(fill_sheet: Callable[[Any], None]) -> bytes:
    file = io.BytesIO()
    with xlsxwriter.Workbook(file, {"in_memory": True}) as book:
        sheet = book.add_worksheet("Ratings")
        sheet.write_row(0, 0, HEADER)
        sheet.write_row(1, 0, LINE)
        fill_sheet(sheet)
    return file.getvalue()


def add_part(content: bytes, name: str, data: bytes) -> bytes:
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"no zip at all", "is not a valid XLSX workbook"),
        (b"PK\x03\x04" + bytes(100), "is not a valid XLSX workbook"),
        (add_part(write_book(lambda sheet: None), "xl/media/a.bin", bytes(60_000_000)), "times its size when unpacked"),
        (write_book(lambda sheet: sheet.write(1_048_575, 3, "x")), "spreads its cells over 1,048,576 rows"),
    ],
    ids=["empty", "text", "truncated", "bomb", "stray cell"],
)
def test_hostile_files_are_refused_in_one_sentence(module_coding: CodingSession, content: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        bring(module_coding, content, rater="rater-1")


def test_a_million_declared_rows_cost_nothing_and_a_formula_counts_as_its_value(coding: CodingSession) -> None:
    def write(sheet: Any) -> None:
        sheet.write_formula(1, 1, '=IF(1,"keep","")', None, "keep")
        sheet.write_formula(1, 6, '=WEBSERVICE("http://x.example")', None, "")

    content = write_book(write)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as packed, zipfile.ZipFile(file, "w") as declared:
        for name in packed.namelist():
            part = packed.read(name)
            if name == "xl/worksheets/sheet1.xml":
                part = re.sub(rb'<dimension ref="[^"]*"/>', b'<dimension ref="A1:XFD1048576"/>', part)
            declared.writestr(name, part)
    assert bring(coding, file.getvalue(), rater="rater-1").added == 1
    assert find_rating(coding, ITEMS[0]).answers["relevance"] == {"answer": "keep"}
    failed = write_book(lambda sheet: sheet.write_formula(1, 1, "=1/0", None, "#DIV/0!"))
    assert list_problems(coding, failed, rater="rater-1") == {
        "B2": "the formula failed (#DIV/0!): correct or empty the cell"
    }


def test_a_round_that_codes_passages_has_no_spreadsheet(tmp_path: Path) -> None:
    study = coded_study(tmp_path / "study", [[("Interviewer", "And?"), ("Guest", "We load it.")]])
    with (
        open_coding(study) as coding,
        pytest.raises(StateError, match="codes passages, which a spreadsheet cannot mark"),
    ):
        build_rating_spreadsheet(coding, PASSAGES, "rater-1")


def test_the_commands_write_a_private_file_once_and_report_every_cell(tmp_path: Path) -> None:
    study = open_study(make_study(tmp_path / "study").root)
    written = quaestor("ratings", "sheet", "main", "--as", "rater-1", cwd=study.root)
    assert (written.returncode, written.stderr.splitlines()[0]) == (
        0,
        "6 items, 0 of them rated, written to main-rater-1.xlsx",
    )
    path = study.root / "main-rater-1.xlsx"
    assert path.stat().st_mode & 0o777 == 0o600
    again = in_this_process("ratings", "sheet", "main", "--as", "rater-1", "--out", path, "--study", study.root)
    assert "exists, and a rater may have filled it in" in str(again.exception)
    path.write_bytes(fill(path.read_bytes(), {ITEMS[0]: {"relevance": "x", "tags": "y"}, ITEMS[1]: COMPLETE}))
    refused = quaestor("ratings", "import", "main", path, cwd=study.root)
    assert refused.returncode == 2
    assert "has 2 problems, nothing was imported:\n" in refused.stderr
    filled: Mapping[str, Any] = {ITEMS[0]: {"relevance": "keep", "tags": ""}}
    path.write_bytes(fill(path.read_bytes(), filled))
    done = json.loads(in_this_process("ratings", "import", "main", path, "--json", "--study", study.root).stdout)
    assert (done["given"], done["known"], done["empty"], done["ignored"]) == (1, 0, 4, [])
    assert {row["where"][0] for row in done["unfinished"]} == {"F", "G"}
    with open_coding(study) as coding:
        assert len(build_rater_view(coding.state, "main", "rater-1").ratings) == 1
