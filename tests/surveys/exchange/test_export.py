"""Exported tables contain exactly the stored answers and are imported unchanged."""

from __future__ import annotations

import csv
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from python_calamine import CalamineWorkbook
from tests.support.answers_of_kinds import check
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, answered, fielded, small_survey

from quaestor.base import table_files as tables
from quaestor.base.errors import InputError, StateError
from quaestor.surveys.exchange import table_files as sheets
from quaestor.surveys.exchange.export import ExportResult, export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.lifecycle import Surveys, open_survey, open_surveys, review_response
from quaestor.surveys.model.flow import is_shown, missing_reason
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import Answer, Question, Response, ResponseStatus
from quaestor.surveys.respond import withdraw
from quaestor.surveys.store.answers import AnswerFile
from quaestor.surveys.store.responses import new_code, new_id

ASKED = parse_questionnaire(QUESTIONNAIRE, NAME)
NEWER = (
    QUESTIONNAIRE.replace('id = "years"\nkind = "number"', 'id = "months"\nkind = "number"')
    .replace('"Research", "Engineering"', '"Engineering", "Sales"')
    .replace('"Speed", "Accuracy", "Size"', '"Size", "Speed", "Price"')
    .replace('"Wrong results", "A crash"', '"Slowness", "A crash"')
    .replace('id = "hardest"\nkind = "long-text"', 'id = "hardest"\nkind = "number"')
    .replace('show_if = "used = none"', "")
)
"""A second version: questions, options and rows gone and new, a question of another kind, a condition less."""
VERSIONS = {1: ASKED, 2: parse_questionnaire(NEWER, NAME)}
FORMULA = '=HYPERLINK(1), "and" more\nlines'
HOSTILE = [
    FORMULA, "+1", "-1", "@a", "'=1", "a,b", '"', '""', "a\nb", "\tx", "😀", "עברית", "_x0041_", "skipped", "1",
    "0", "TRUE", "#N/A", "2024-01-02", "007", "1e5", "a;b", "|", "\u2028", "\x0b", "\x01", "\ufeff", "e\u0301",
]  # fmt: skip
WORDS = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_sheet(path: Path, name: str) -> list[list[Any]]:
    return CalamineWorkbook.from_path(path).get_sheet_by_name(name).to_python(skip_empty_area=False)


def exported(surveys: Surveys, path: Path, **how: bool) -> ExportResult:
    return export_answers(surveys, NAME, path, **how)


def test_a_tidy_export_has_one_row_per_part_of_each_answer(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        _, response = answered(surveys, stratum="pro")
        done = exported(surveys, tmp_path / "answers.csv")
    lines = read_csv(tmp_path / "answers.csv")
    assert (done.responses, done.rows, done.columns) == (1, len(lines), len(lines[0]))
    assert {line["response"] for line in lines} == {response.id}
    assert {line["stratum"] for line in lines} == {"pro"}
    said = {(line["question"], line["part"]): line for line in lines}
    assert said["role", ""]["text"] == "Teaching"
    assert said["met", "a-crash"]["code"] == "never"
    assert said["why-none", ""]["missing"] == "not shown"
    assert done.files == (tmp_path / "answers.csv", tmp_path / "answers.codebook.csv")
    assert stat.S_IMODE(done.files[0].stat().st_mode) == 0o600
    known = {(one["question"], one["part"]) for one in read_csv(done.files[1])}
    assert known == set(said)


def test_all_export_formats_have_the_same_cells(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        for _ in range(3):
            answered(surveys)
        for wide in (False, True):
            exported(surveys, tmp_path / "a.csv", wide=wide, raw=True)
            exported(surveys, tmp_path / "a.xlsx", wide=wide, raw=True)
            exported(surveys, tmp_path / "a.parquet", wide=wide, raw=True)
            lines = [list(line.values()) for line in read_csv(tmp_path / "a.csv")]
            found = [
                ["" if cell is None else str(cell) for cell in row]
                for row in read_sheet(tmp_path / "a.xlsx", "answers")
            ]
            table = parquet.read_table(tmp_path / "a.parquet")
            columns = [["" if cell is None else str(cell) for cell in column.to_pylist()] for column in table.columns]
            assert found[1:] == lines
            assert [list(row) for row in zip(*columns, strict=True)] == lines
            assert found[0] == table.column_names
    assert read_sheet(tmp_path / "a.xlsx", "codebook")[1:]


def test_numbers_are_exported_as_numbers_without_raw(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        exported(surveys, tmp_path / "a.xlsx", wide=True)
        exported(surveys, tmp_path / "a.parquet", wide=True)
    head, row = read_sheet(tmp_path / "a.xlsx", "answers")
    said = dict(zip(head, row, strict=True))
    assert (said["years"], said["used.other"], said["order.speed"]) == (4.0, 1.0, 2.0)
    (line,) = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert (line["years"], line["used.other"], line["why-none"]) == (4.0, 1, None)


def test_only_a_raw_export_contains_formula_like_cells(tmp_path: Path) -> None:
    forms = {**FORMS, "words": {"q.hardest": [FORMULA]}}
    with fielded(tmp_path / "study") as surveys:
        answered(surveys, forms=forms)
        for name in ("a.csv", "a.xlsx"):
            exported(surveys, tmp_path / name)
            exported(surveys, tmp_path / f"raw-{name}", raw=True)
    safe = [line["text"] for line in read_csv(tmp_path / "a.csv") if line["question"] == "hardest"]
    raw = [line["text"] for line in read_csv(tmp_path / "raw-a.csv") if line["question"] == "hardest"]
    assert (safe, raw) == ([f"'{FORMULA}"], [FORMULA])
    assert any(f"'{FORMULA}" in row for row in read_sheet(tmp_path / "a.xlsx", "answers"))
    assert any(FORMULA in row for row in read_sheet(tmp_path / "raw-a.xlsx", "answers"))


def test_excluded_responses_are_reported_and_appear_in_an_export_of_everything(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        kept, dropped = (answered(surveys)[1] for _ in range(2))
        begun = answered(surveys, forms={"consent": FORMS["consent"]})[1]
        review_response(surveys, NAME, dropped.id, keep=False, why="twice the same")
        code, _ = answered(surveys)
        withdraw(surveys, code)
        few = exported(surveys, tmp_path / "few.csv", wide=True)
        everything = exported(surveys, tmp_path / "all.csv", wide=True, everything=True)
    assert (few.responses, few.left_out, few.withdrawn) == (1, {"dropped": 1, "open": 1}, 1)
    assert [line["response"] for line in read_csv(tmp_path / "few.csv")] == [kept.id]
    assert "standing" not in read_csv(tmp_path / "few.csv")[0]
    assert (everything.responses, everything.left_out) == (3, {})
    stands = {line["response"]: (line["standing"], line["kept"]) for line in read_csv(tmp_path / "all.csv")}
    assert stands == {kept.id: ("finished", "1"), dropped.id: ("finished", "0"), begun.id: ("open", "1")}
    assert read_csv(tmp_path / "all.codebook.csv")[-1]["missing"] == "withdrawn"


def test_importing_an_old_export_does_not_restore_withdrawn_respondents(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        _, kept = answered(surveys)
        code, _ = answered(surveys)
        for wide in (False, True):
            exported(surveys, tmp_path / f"{wide}.csv", wide=wide)
        withdraw(surveys, code)
        for wide in (False, True):
            done = import_answers(surveys, NAME, tmp_path / f"{wide}.csv", None)
            assert (done.responses, done.known, done.withdrawn) == (0, 1, 1)
        assert [response.id for response in surveys.answers.responses(NAME)] == [kept.id]
        assert surveys.coding.state.unhandled_acts[-1].payload["withdrawn"] == 1


def test_an_export_contains_the_answers_of_every_version(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        _, old = answered(surveys)
        small_survey(
            tmp_path / "study", QUESTIONNAIRE.replace('"Speed", "Accuracy", "Size"', '"Speed", "Size", "Price"')
        )
        open_survey(surveys, NAME, separate=True)
        _, new = answered(surveys, forms={**FORMS, "words": {"q.order.price.rank": ["1"]}})
        exported(surveys, tmp_path / "answers.csv", wide=True)
    rows = {row["response"]: row for row in read_csv(tmp_path / "answers.csv")}
    assert (rows[old.id]["version"], rows[old.id]["order.accuracy"], rows[old.id]["order.price"]) == ("1", "1", "")
    assert (rows[new.id]["version"], rows[new.id]["order.accuracy"], rows[new.id]["order.price"]) == ("2", "", "1")


def test_an_impossible_export_is_refused_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_surveys(small_survey(tmp_path / "study")) as surveys:
        with pytest.raises(StateError, match="has no answers: open it, or import answers"):
            exported(surveys, tmp_path / "answers.csv")
        open_survey(surveys, NAME)
        answered(surveys)
        with pytest.raises(InputError, match=r"has no supported ending: use .csv, .xlsx, .parquet"):
            exported(surveys, tmp_path / "answers.sav")
        with pytest.raises(InputError, match="does not exist"):
            exported(surveys, tmp_path / "nowhere" / "answers.csv")
        answered(surveys, forms={**FORMS, "words": {"q.hardest": ["😀" * 20_000]}})
        with pytest.raises(InputError, match="of a cell in a workbook: export as CSV"):
            exported(surveys, tmp_path / "answers.xlsx")
        monkeypatch.setattr(tables, "_MAX_ROWS", 10)
        with pytest.raises(InputError, match="more rows than the 10 of a workbook"):
            exported(surveys, tmp_path / "answers.xlsx")
    assert [path.name for path in tmp_path.iterdir()] == ["study"]  # nothing half is left


# Round trips


def given_answer(draw: st.DrawFn, question: Question) -> Answer:
    """An answer as a page would have taken it; empty where it was skipped."""
    if question.kind != "consent" and draw(st.integers(0, 4)) == 0:
        return {}
    codes = [option.code for option in question.options if not option.alone and not option.ends]
    texts = {code: draw(WORDS) for code in codes if draw(st.booleans())}
    said: dict[str, Any]
    if question.kind == "consent":
        said = {"choices": ["agree"]}
    elif kind_of(question).is_choice:
        most = len(codes) if question.kind == "multiple" else 1
        said = {"choices": draw(st.lists(st.sampled_from(codes), min_size=1, max_size=most)), "texts": texts}
    elif question.kind == "matrix":
        rows = {row.code: draw(st.sampled_from(["", *codes])) for row in question.rows}
        said = {"rows": rows, "texts": {row.code: draw(WORDS) for row in question.rows if row.text}}
    elif question.kind == "ranking":
        said = {"ranks": draw(st.lists(st.sampled_from(codes), unique=True))}
    elif question.kind == "number":
        said = {"number": draw(st.sampled_from(["0", "12.50", "+7", "1e1", "59.999", "007", "-0"]))}
    else:
        said = {"text": draw(WORDS)}
    return check(question, said)


@st.composite
def responses(draw: st.DrawFn) -> Response:
    """A response that came some way through the questionnaire."""
    version = draw(st.sampled_from([1, 2]))
    asked = VERSIONS[version]
    answers: dict[str, Answer] = {}
    sent = []
    for page in asked.pages[: draw(st.integers(1, len(asked.pages)))]:
        for question in page.questions:
            if is_shown(question, answers):
                answers[question.id] = given_answer(draw, question)
        sent.append(page.id)
    standing = ResponseStatus.FINISHED if len(sent) == len(asked.pages) else ResponseStatus.OPEN
    return Response(
        new_id(), NAME, version, standing, answers, language=draw(st.sampled_from(asked.languages)),
        stratum=draw(st.sampled_from(["", *asked.strata])), seconds=draw(st.integers(0, 9_999)) / 8, sent=tuple(sent),
        day="2024-02-03", seed=draw(st.integers(0, 2**31 - 1)),
    )  # fmt: skip


def rewritten(table: Path, path: Path, encoding: str, delimiter: str) -> Path:
    """A Parquet file as the text that a survey service would have written."""
    found = parquet.read_table(table)
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(found.column_names)
        columns = (column.to_pylist() for column in found.columns)
        writer.writerows(["" if cell is None else str(cell) for cell in row] for row in zip(*columns, strict=True))
    return path


@pytest.fixture(scope="module")
def coding(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surveys]:
    with fielded(tmp_path_factory.mktemp("round-trip")) as surveys:
        yield surveys


def filled(surveys: Surveys, path: Path, whole: list[Response]) -> Surveys:
    path.unlink(missing_ok=True)
    answers = AnswerFile(path)
    for text in (QUESTIONNAIRE, NEWER):
        answers.add_version(NAME, text, "2024-02-03")
    answers.add([(new_code(), response, ()) for response in whole])
    return Surveys(surveys.coding, answers)


def reasons(response: Response) -> dict[str, str]:
    asked = VERSIONS[response.version]
    return {question.id: str(missing_reason(asked, response, question) or "") for question in asked.questions()}


def said_of(response: Response) -> dict[str, Answer]:
    return {name: answer for name, answer in response.answers.items() if answer}


@given(st.lists(responses(), min_size=1, max_size=6))
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_answers_are_unchanged_after_export_and_import_in_every_format(
    coding: Surveys, tmp_path_factory: pytest.TempPathFactory, whole: list[Response]
) -> None:
    folder = tmp_path_factory.mktemp("trip")
    store = filled(coding, folder / "out.db", whole)
    for wide in (True, False):
        for name in ("a.csv", "a.xlsx", "a.parquet"):
            exported(store, folder / name, wide=wide, raw=True, everything=True)
        rewritten(folder / "a.parquet", folder / "marked.tsv", "utf-16", "\t")
        rewritten(folder / "a.parquet", folder / "plain.tsv", "utf-8", "\t")
        for name in ("a.csv", "a.xlsx", "marked.tsv", "plain.tsv"):
            back = filled(coding, folder / "in.db", [])
            done = import_answers(back, NAME, folder / name, None)
            assert (done.responses, done.unread, done.odd) == (len(whole), (), ()), name
            for response in whole:
                found = back.answers.response(response.id)
                assert found is not None
                assert said_of(found) == said_of(response), name
                assert reasons(found) == reasons(response), name
                told = (response.version, response.standing, response.stratum, response.seed)
                assert (found.version, found.standing, found.stratum, found.seed) == told
                if wide:
                    beside = (response.language, response.seconds, response.day)
                    assert (found.language, found.seconds, found.day) == beside
            back.answers.close()
    assert import_answers(store, NAME, folder / "a.csv", None).known == len(whole)
    store.answers.close()


@pytest.mark.parametrize("wide", [True, False])
@pytest.mark.parametrize("name", ["a.csv", "a.xlsx"])
def test_texts_are_unchanged_after_an_ordinary_export_and_import(
    coding: Surveys, tmp_path: Path, name: str, wide: bool
) -> None:
    texts = ["=1+1", "'=1+1", "+1", "@x", "'plain", "it's", "-", "a\ufffe\uffffb"]
    asked, pages = {question.id: question for question in ASKED.questions()}, tuple(page.id for page in ASKED.pages)
    whole = []
    for text in texts:
        answers = {
            "consent": {"choices": ["agree"]},
            "role": check(asked["role"], {"choices": ["other"], "texts": {"other": text}}),
            "hardest": check(asked["hardest"], {"text": text}),
        }
        whole.append(Response(new_id(), NAME, 1, ResponseStatus.FINISHED, answers, sent=pages))
    store, back = filled(coding, tmp_path / "out.db", whole), filled(coding, tmp_path / "in.db", [])
    exported(store, tmp_path / name, wide=wide)
    done = import_answers(back, NAME, tmp_path / name, None)
    assert (done.responses, done.unread) == (len(whole), ())
    assert sheets.GUARDED not in done.unmapped_columns
    for response in whole:
        found = back.answers.response(response.id)
        assert found is not None
        assert said_of(found) == said_of(response)
    assert [one.answers["hardest"]["text"] for one in whole] == [*texts[:-1], "ab"]
    store.answers.close()
    back.answers.close()


def test_an_empty_page_counts_as_skipped_and_later_pages_as_not_reached(coding: Surveys, tmp_path: Path) -> None:
    answers: dict[str, Answer] = {"consent": {"choices": ["agree"]}, "converted": {}, "role": {}, "years": {}}
    begun = Response(new_id(), NAME, 1, ResponseStatus.OPEN, answers, sent=("consent", "you"))
    store = filled(coding, tmp_path / "out.db", [begun])
    exported(store, tmp_path / "a.csv", wide=True, everything=True)
    back = filled(coding, tmp_path / "in.db", [])
    import_answers(back, NAME, tmp_path / "a.csv", None)
    found = back.answers.response(begun.id)
    assert found is not None
    assert reasons(found) == reasons(begun)
    assert (reasons(begun)["years"], reasons(begun)["hardest"]) == ("skipped", "not reached")
    store.answers.close()
    back.answers.close()


@pytest.mark.parametrize("wide", [True, False])
def test_importing_into_a_study_with_another_version_reports_unplaced_answers(tmp_path: Path, wide: bool) -> None:
    first = {**FORMS, "you": {"q.converted": ["yes"], "q.role": ["research"], "q.years": ["4"]}}
    with fielded(tmp_path / "study") as surveys:
        _, old = answered(surveys, forms=first)
        small_survey(tmp_path / "study", NEWER)
        open_survey(surveys, NAME, separate=True)
        tools = {**FORMS["tools"], "q.met.slowness": ["often"]}
        answered(surveys, forms={**FORMS, "tools": tools, "words": {"q.hardest": ["3"]}})
        exported(surveys, tmp_path / "answers.csv", wide=wide)
    with open_surveys(small_survey(tmp_path / "other", NEWER)) as surveys:
        done = import_answers(surveys, NAME, tmp_path / "answers.csv", None)
        found = surveys.answers.response(old.id)
    assert found is not None
    assert {"years", "hardest@1"} <= {unmapped_column.partition(":")[0] for unmapped_column in done.unmapped_columns}
    assert any(unmapped_column.startswith("met.wrong-results") for unmapped_column in done.unmapped_columns)
    assert (done.responses, done.strange_versions) == (2, ("2",))
    assert [(cell.question, cell.said) for cell in done.unread if cell.question == "role"] == [("role", "research")]
    asked = VERSIONS[2]
    why = {question.id: missing_reason(asked, found, question) for question in asked.questions()}
    assert (why["role"], why["months"], why["hardest"]) == ("not reached", "not reached", "not reached")
    assert ("months", "was not shown in the file, but counts as not reached here") in [
        (oddity.question, oddity.why) for oddity in done.odd
    ]


@pytest.mark.parametrize("wide", [True, False])
def test_responses_excluded_by_the_lead_stay_excluded_after_import(tmp_path: Path, wide: bool) -> None:
    with fielded(tmp_path / "study") as surveys:
        kept, dropped = (answered(surveys)[1] for _ in range(2))
        review_response(surveys, NAME, dropped.id, keep=False, why="twice the same")
        exported(surveys, tmp_path / "all.csv", wide=wide, everything=True)
    with open_surveys(small_survey(tmp_path / "other")) as surveys:
        assert import_answers(surveys, NAME, tmp_path / "all.csv", None, keep=False).dropped == 1
        done = import_answers(surveys, NAME, tmp_path / "all.csv", None)
        assert (done.responses, done.dropped) == (2, 1)
        decisions = surveys.fielding(NAME).decisions
        assert {name: one.keep for name, one in decisions.items()} == {dropped.id: False}
        exported(surveys, tmp_path / "again.csv", wide=True)
        assert import_answers(surveys, NAME, tmp_path / "all.csv", None).dropped == 0
    assert [line["response"] for line in read_csv(tmp_path / "again.csv")] == [kept.id]


def test_a_duplicate_row_of_an_export_is_imported_once_and_reported(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        exported(surveys, tmp_path / "answers.csv", wide=True)
    text = (tmp_path / "answers.csv").read_text("utf-8")
    head, row = text.split("\n", 1)
    (tmp_path / "answers.csv").write_text(f"{head}\n{row}{row}", "utf-8")
    with open_surveys(small_survey(tmp_path / "other")) as surveys:
        done = import_answers(surveys, NAME, tmp_path / "answers.csv", None)
    assert (done.rows, done.responses, len(done.repeated)) == (2, 1, 1)


def test_an_export_of_100_000_responses_has_all_rows_and_fields(tmp_path: Path) -> None:
    text = """
    [survey]
    title = "Large"
    [[pages]]
    page = "all"
    questions = [
        { id = "consent", kind = "consent", text = "May we?" },
        { id = "used", kind = "multiple", text = "Which?", options = ["A, b", "C", { label = "Other", text = true }] },
        { id = "words", kind = "text", text = "Why?", show_if = "used answered" },
    ]
    """
    study = small_survey(tmp_path / "study", text, "large")
    answers: list[dict[str, Answer]] = [
        {"used": {"choices": ["a-b", "other"], "texts": {"other": "=1"}}, "words": {"text": "x, y"}},
        {"used": {"choices": ["c"]}, "words": {}},
        {"used": {}},
    ]
    consent = "consent,,agree,I agree,1,,,"
    lines = [
        [consent, "used,a-b,a-b,A| b,1,,1,", "used,c,,C,2,,0,", "used,other,other,Other,3,=1,1,", "words,,,,,x| y,,"],
        [consent, "used,a-b,,A| b,1,,0,", "used,c,c,C,2,,1,", "used,other,,Other,3,,0,", "words,,,,,,,skipped"],
        [consent, "used,a-b,,A| b,1,,,skipped", "used,c,,C,2,,,skipped", "used,other,,Other,3,,,skipped",
         "words,,,,,,,not shown"],
    ]  # fmt: skip
    wanted = [[[cell.replace("|", ",") for cell in line.split(",")] for line in one] for one in lines]
    like = Response("", "large", 1, ResponseStatus.FINISHED, {}, sent=("all",))
    many, few = 100_000, 5_000
    with open_surveys(study) as surveys:
        open_survey(surveys, "large")
        for start in range(0, many, few):
            surveys.answers.add([
                (f"{start + place}", replace(like, id=f"{start + place:016x}", answers={
                    "consent": {"choices": ["agree"]}, **answers[place % 3],
                }), ())
                for place in range(few)
            ])  # fmt: skip
        done = export_answers(surveys, "large", tmp_path / "large.csv", raw=True)
        wide = export_answers(surveys, "large", tmp_path / "large.parquet", wide=True, raw=True)
    with (tmp_path / "large.csv").open(encoding="utf-8", newline="") as file:
        table_of = csv.reader(file)
        next(table_of)
        for place in range(many):
            found = [next(table_of) for _ in range(5)]
            assert {line[0] for line in found} == {f"{place:016x}"}
            assert [line[5:] for line in found] == wanted[place % few % 3]
        assert next(table_of, None) is None
    assert (done.responses, done.rows, done.columns) == (many, many * 5, 13)
    assert (wide.responses, wide.rows, wide.columns) == (many, many, 9 + 9)
    table = parquet.read_table(tmp_path / "large.parquet")
    assert (table.num_rows, table.num_columns) == (many, wide.columns)
    ticked = table["used.other"].to_pylist()
    assert [ticked.count(one) for one in (1, 0, None)] == [
        sum(place % few % 3 == kind for place in range(many)) for kind in range(3)
    ]
