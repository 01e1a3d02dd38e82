"""Files of a survey service become responses; unreadable cells are reported with their place and never guessed."""

from __future__ import annotations

import csv
import io
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
import xlsxwriter  # type: ignore[import-untyped]
from tests.support.paths import ROOT, SHARED
from tests.support.small_survey import NAME, fielded, small_survey

from quaestor.base.errors import InputError, StateError
from quaestor.study.folder import open_study
from quaestor.surveys.exchange.import_answers import AnswerImport, import_answers, mapping_file
from quaestor.surveys.lifecycle import Surveys, open_surveys
from quaestor.surveys.model.answer_cells import LONGEST_TEXT
from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.records import Response, ResponseStatus
from quaestor.surveys.results.compute import survey_results

MAPPING = """
nothing = ["AnswerDisplayOrder"]
stratum = "Account"
finished = "Finished"
seconds = "Duration (in seconds)"

[strata]
PRO = "pro"

[columns]
Q1 = "consent"
Q2 = "converted"
Q3 = "role"
Q3_3_TEXT = { question = "role", text = "other" }
Q4 = "years"
Q5 = "used"
Q5_3_TEXT = { question = "used", text = true }
Q6 = "why-none"
Q7_1 = { question = "met", row = "wrong-results" }
Q7_2 = { question = "met", row = "a-crash" }
Q7_4 = { question = "met", row = "other" }
Q7_4_TEXT = { question = "met", text = "other" }
Q8_1 = { question = "order", rank = "speed" }
Q8_2 = { question = "order", rank = "accuracy" }
Q8_3 = { question = "order", rank = "size" }
Q9 = "hardest"

[values.consent]
"Yes, I do" = "agree"
"No, I do not" = "decline"
"""
COLUMNS = [
    "StartDate", "Account", "Finished", "Duration (in seconds)", "Q1", "Q2", "Q3", "Q3_3_TEXT", "Q4", "Q5", "Q5_3_TEXT",
    "Q5_DO", "Q6", "Q7_1", "Q7_2", "Q7_4", "Q7_4_TEXT", "Q8_1", "Q8_2", "Q8_3", "Q9",
]  # fmt: skip
TEXTS = [f"What is asked in {name}?" for name in COLUMNS]
KEYS = [f'{{"ImportId":"QID{number}"}}' for number in range(len(COLUMNS))]
FULL = {
    "StartDate": "2024-01-01 10:00", "Account": "PRO", "Finished": "True", "Duration (in seconds)": "61.5",
    "Q1": "Yes, I do", "Q2": "Yes", "Q3": "Other", "Q3_3_TEXT": "Teaching", "Q4": "4",
    "Q5": "ONNX, the exchange format,TorchScript,Other", "Q5_3_TEXT": "one, of ours", "Q5_DO": "3|1|2",
    "Q7_1": "Never", "Q7_2": "Often", "Q7_4": "Rarely", "Q7_4_TEXT": "licences", "Q8_1": "2", "Q8_2": "1", "Q8_3": "3",
    "Q9": "It\nnever fit.",
}  # fmt: skip
ANSWERS = {
    "consent": {"choices": ["agree"]},
    "converted": {"choices": ["yes"]},
    "role": {"choices": ["other"], "texts": {"other": "Teaching"}},
    "years": {"number": "4"},
    "used": {"choices": ["onnx-the-exchange-format", "torchscript", "other"], "texts": {"other": "one, of ours"}},
    "met": {
        "rows": {"wrong-results": "never", "a-crash": "often", "other": "rarely"}, "texts": {"other": "licences"}
    },
    "order": {"ranks": ["accuracy", "speed", "size"]},
    "hardest": {"text": "It\nnever fit."},
}  # fmt: skip
REAL = SHARED / "data" / "onnx" / "survey-open.xlsx"
BUNDLED = ROOT / "studies" / "onnx-interoperability"


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    study = small_survey(tmp_path / "study")
    (study.root / "instruments" / f"{NAME}.mapping.toml").write_text(MAPPING, "utf-8")
    with open_surveys(study) as found:
        yield found


def cells(*rows: dict[str, str]) -> list[list[str]]:
    return [[row.get(name, "") for name in COLUMNS] for row in rows]


def delimited(path: Path, rows: Sequence[Sequence[str]], encoding: str = "utf-8", delimiter: str = ",") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter).writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def workbook(path: Path, rows: Sequence[Sequence[str]]) -> Path:
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for line, row in enumerate(rows):
            for column, cell in enumerate(row):
                sheet.write_string(line, column, cell)
    return path


def imported(surveys: Surveys, path: Path, mapping: str = MAPPING, keep: bool = True) -> AnswerImport:
    file = path.with_name("given.mapping.toml")
    file.write_text(mapping, "utf-8")
    return import_answers(surveys, NAME, path, file, keep=keep)


def only(surveys: Surveys) -> Response:
    (found,) = surveys.answers.responses(NAME)
    return found


def test_all_file_formats_give_the_same_answers(surveys: Surveys, tmp_path: Path) -> None:
    short, long = [COLUMNS, TEXTS], [COLUMNS, TEXTS, KEYS]
    files = [
        delimited(tmp_path / "two.csv", [*short, *cells(FULL)]),
        delimited(tmp_path / "three.csv", [*long, *cells(FULL)], "utf-8-sig"),
        delimited(tmp_path / "half.csv", [*long, *cells(FULL)], delimiter=";"),
        delimited(tmp_path / "wide.tsv", [*long, *cells(FULL)], "utf-16", "\t"),
        workbook(tmp_path / "book.xlsx", [*long, *cells(FULL)]),
    ]
    for file in files:
        done = imported(surveys, file)
        assert (done.rows, done.responses, done.unread, done.odd) == (1, 1, (), ()), file.name
        assert done.display_columns == ("Q5_DO",)
        assert done.unmapped_columns == ("StartDate",)
        assert done.unasked == ("careful",)
    found = list(surveys.answers.responses(NAME))
    assert [response.answers for response in found] == [{**ANSWERS}] * len(files)
    assert {response.source for response in found} == {file.name for file in files}
    assert {(one.stratum, one.seconds, one.standing) for one in found} == {("pro", 61.5, ResponseStatus.FINISHED)}


def test_importing_a_file_twice_adds_its_responses_once(surveys: Surveys, tmp_path: Path) -> None:
    file = delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(FULL, FULL)])
    assert (imported(surveys, file).responses, imported(surveys, file).known) == (2, 2)
    renamed = file.rename(tmp_path / "again.csv")
    assert (imported(surveys, renamed).responses, imported(surveys, renamed).known) == (0, 2)
    assert surveys.answers.counts(NAME)[ResponseStatus.FINISHED] == 2


def test_rows_that_are_not_responses_are_reported(surveys: Surveys, tmp_path: Path) -> None:
    declined, silent = {**FULL, "Q1": "No, I do not"}, {**FULL, "Q1": ""}
    marked = {"Q5": "AnswerDisplayOrder"}
    rows = [COLUMNS, TEXTS, *cells(FULL, declined, silent, {}, marked), COLUMNS, TEXTS, *cells(FULL)]
    done = imported(surveys, delimited(tmp_path / "answers.csv", rows))
    assert (done.rows, done.responses) == (8, 2)
    assert done.no_consent == (4, 5)
    assert done.empty == (6, 7)
    assert done.headers == (8, 9)
    assert [(marker.row, marker.column) for marker in done.markers] == [(7, "Q5")]


def test_a_display_order_marker_after_an_answer_is_removed(surveys: Surveys, tmp_path: Path) -> None:
    row = {**FULL, "Q5": "TorchScript,AnswerDisplayOrder", "Q5_3_TEXT": "", "Q9": "AnswerDisplayOrder"}
    done = imported(surveys, delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(row)]))
    assert [(marker.column, marker.why) for marker in done.markers] == [
        ("Q5", "goes with a marker"), ("Q9", "means no answer"),
    ]  # fmt: skip
    assert only(surveys).answers["used"] == {"choices": ["torchscript"]}
    assert only(surveys).answers["hardest"] == {}


def test_unreadable_cells_are_reported_and_other_answers_are_kept(surveys: Surveys, tmp_path: Path) -> None:
    row = {
        **FULL, "Q3": "Pilot", "Q3_3_TEXT": "", "Q4": "many", "Q5": "TorchScript,Caffe, old", "Q5_3_TEXT": "",
        "Q7_2": "Always", "Q8_2": "2", "Q9": "x" * (LONGEST_TEXT + 1), "Account": "gold",
        "Duration (in seconds)": "long",
    }  # fmt: skip
    done = imported(surveys, delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(row)]))
    told = {one.column: f"{one.said} {one.why}" for one in done.unread}
    assert all(one.row == 3 for one in done.unread)
    assert told["Q3"] == "Pilot is not an option"
    assert told["Q4"].startswith("many cannot be taken: 'many' is not a number")
    assert told["Q5"] == "Caffe, old is not an option"
    assert told["Q7_2"] == "Always is not a step of the scale"
    assert told["Q8_2"] == "2 is not a unique place in the ranking"
    assert "shorten it" in told["Q9"]
    assert len(told["Q9"]) < 300
    assert told["Account"] == "gold is not a stratum"
    assert told["Duration (in seconds)"] == "long is not a number of seconds"
    answers = only(surveys).answers
    assert answers["used"] == {"choices": ["torchscript"]}
    assert answers["met"]["rows"] == {"wrong-results": "never", "other": "rarely"}
    unread = {"order", "role", "years", "hardest"}
    assert not unread & answers.keys()  # nobody left these out
    asked = surveys.questionnaire(NAME)
    told_why = {one.id: missing_reason(asked, only(surveys), one) for one in asked.questions() if one.id in unread}
    assert set(told_why.values()) == {"not reached"}
    results = survey_results(surveys, NAME)
    found = [results.question(name) for name in sorted(unread)]
    assert [one.missing for one in found if one] == [{"not reached": 1}] * len(unread)


@pytest.mark.parametrize(
    ("places", "why"),
    [
        ({"Q8_1": "1", "Q8_2": "", "Q8_3": "3"}, "leaves out place 2 of the ranking"),
        ({"Q8_1": "1", "Q8_2": "1", "Q8_3": "2"}, "is not a unique place in the ranking"),
    ],
)
def test_a_ranking_with_a_gap_or_tie_is_reported_and_not_repaired(
    surveys: Surveys, tmp_path: Path, places: dict[str, str], why: str
) -> None:
    done = imported(surveys, delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells({**FULL, **places})]))
    assert [cell.why for cell in done.unread] == [why]
    assert "order" not in only(surveys).answers


def test_text_for_an_unticked_other_option_is_kept(surveys: Surveys, tmp_path: Path) -> None:
    row = {**FULL, "Q3": "Research", "Q3_3_TEXT": "and more", "Q5": "TorchScript", "Q5_3_TEXT": "mine"}
    done = imported(surveys, delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(row)]))
    assert only(surveys).answers["used"] == {"choices": ["torchscript", "other"], "texts": {"other": "mine"}}
    assert only(surveys).answers["role"] == {"choices": ["research"]}
    assert [(cell.column, cell.said) for cell in done.unread] == [("Q3_3_TEXT", "and more")]


def test_answers_that_break_the_questionnaire_rules_are_kept_and_reported(surveys: Surveys, tmp_path: Path) -> None:
    row = {**FULL, "Q5": "TorchScript,None of these", "Q5_3_TEXT": "", "Q6": "No need"}
    done = imported(surveys, delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(row)]))
    assert only(surveys).answers["used"] == {"choices": ["torchscript", "none"]}
    assert only(surveys).answers["why-none"] == {"text": "No need"}
    assert [(oddity.question, oddity.why) for oddity in done.odd] == [
        ("used", "has 'None of these' with others, which goes alone"),
        ("why-none", "is answered, but should not be shown"),
    ]


def test_missing_answers_get_the_right_reason(surveys: Surveys, tmp_path: Path) -> None:
    asked = surveys.questionnaire(NAME)
    finished = {"Q1": "Yes, I do", "Finished": "1", "Q5": "None of these"}
    begun = {"Q1": "Yes, I do", "Finished": "0", "Q4": "3"}
    out = {"Q1": "Yes, I do", "Finished": "1", "Q2": "No"}
    imported(surveys, delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(finished, begun, out)]))
    found = {response.standing: response for response in surveys.answers.responses(NAME)}
    reasons = {
        standing: {question.id: missing_reason(asked, one, question) for question in asked.questions()}
        for standing, one in found.items()
    }
    assert set(found) == {ResponseStatus.FINISHED, ResponseStatus.OPEN, ResponseStatus.SCREENED_OUT}
    assert reasons[ResponseStatus.FINISHED]["why-none"] == "skipped"
    assert reasons[ResponseStatus.FINISHED]["careful"] == "not reached"  # the file has no column for it
    assert reasons[ResponseStatus.OPEN]["role"] == "skipped"
    assert reasons[ResponseStatus.OPEN]["hardest"] == "not reached"
    assert reasons[ResponseStatus.OPEN]["why-none"] == "not reached"  # nor was the question that it hangs on
    assert reasons[ResponseStatus.SCREENED_OUT]["hardest"] == "not reached"


def test_options_can_have_a_column_each(surveys: Surveys, tmp_path: Path) -> None:
    mapping = """
    header_rows = 1
    [columns]
    agreed = "consent"
    onnx = { question = "used", option = "onnx-the-exchange-format" }
    script = { question = "used", option = "torchscript" }
    own = { question = "used", text = "other" }
    """
    rows = [["agreed", "onnx", "script", "own"], ["I agree", "1", "0", "mine"]]
    imported(surveys, delimited(tmp_path / "answers.csv", rows), mapping)
    assert only(surveys).answers["used"] == {
        "choices": ["onnx-the-exchange-format", "other"], "texts": {"other": "mine"}
    }  # fmt: skip


def test_an_option_labelled_no_is_chosen_if_its_column_says_no(surveys: Surveys, tmp_path: Path) -> None:
    mapping = """
    header_rows = 1
    [columns]
    agreed = "consent"
    none = { question = "used", option = "none" }
    script = { question = "used", option = "torchscript" }
    [values.used]
    no = "none"
    """
    rows = [["agreed", "none", "script"], ["I agree", "No", "no"]]
    imported(surveys, delimited(tmp_path / "answers.csv", rows), mapping)
    assert only(surveys).answers["used"] == {"choices": ["none"]}


def test_an_import_is_recorded_and_does_not_open_the_survey(surveys: Surveys, tmp_path: Path) -> None:
    file = delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(FULL, {**FULL, "Q1": ""})])
    done = imported(surveys, file)
    (act,) = surveys.coding.state.unhandled_acts
    assert act.kind == "survey.import"
    assert act.payload["sha256"] == done.sha256
    assert (act.payload["file"], act.payload["responses"], act.payload["no_consent"]) == ("answers.csv", 1, 1)
    assert (surveys.fielding(NAME).status, surveys.is_open(NAME)) == ("draft", False)
    assert (only(surveys).version, surveys.answers.version(NAME).number) == (1, 1)  # type: ignore[union-attr]
    with pytest.raises(StateError, match="only 'lead' can import answers"):
        import_answers(surveys, NAME, file, None, "rater-1")


def test_a_dry_run_imports_nothing(surveys: Surveys, tmp_path: Path) -> None:
    file = delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(FULL)])
    assert imported(surveys, file, keep=False).responses == 1
    assert surveys.answers.version(NAME) is None
    assert not surveys.coding.state.unhandled_acts
    assert imported(surveys, file).responses == 1
    assert (imported(surveys, file, keep=False).responses, imported(surveys, file, keep=False).known) == (
        0,
        1,
    )


def test_an_import_into_an_open_survey_uses_its_open_version(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        file = delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(FULL)])
        assert imported(surveys, file).version == 1
        assert surveys.is_open(NAME)


def test_the_mapping_file_is_found_by_the_name_of_the_survey(surveys: Surveys, tmp_path: Path) -> None:
    file = delimited(tmp_path / "answers.csv", [COLUMNS, TEXTS, *cells(FULL)])
    found = mapping_file(surveys, NAME, file)
    assert found == surveys.study.root / "instruments" / f"{NAME}.mapping.toml"
    assert surveys.names() == [NAME]  # a mapping is no questionnaire
    found.unlink()
    with pytest.raises(InputError, match="needs a mapping of columns to questions"):
        mapping_file(surveys, NAME, file)


HEAD = f"{','.join(COLUMNS)}\n{','.join(COLUMNS)}\n".replace("Duration (in seconds)", '"Duration (in seconds)"')


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("answers.csv", b"", "is empty"),
        ("answers.csv", f"{HEAD}a,b\n".encode(), "has 2 cells in row 3, but 21 column names"),
        ("answers.csv", f"{HEAD}\xe9\n".encode("cp1252"), ", row 3 cannot be read: not utf-8: found bytes e9"),
        ("answers.csv", HEAD.replace("Q2,", "Q22,").encode(), "has no column 'Q2', which given.mapping.toml maps"),
        ("answers.csv", HEAD.replace("StartDate", "Q2").encode(), "has the column 'Q2' twice"),
        ("answers.csv", f'{HEAD}"open'.encode(), "a quote is opened and never closed"),
        ("answers.tsv", "\ufeff".join(["", HEAD.replace(",", "\t")]).encode("utf-16-le")[2:], "is binary"),
        ("answers.csv", b"PK\x03\x04 and so on", "is a zip archive or a workbook"),
        ("answers.xlsx", HEAD.encode(), "is not a valid XLSX workbook"),
        ("answers.sav", HEAD.encode(), "is not a .csv, .tsv, .txt or .xlsx file"),
    ],
)
def test_a_malformed_file_is_refused_completely(
    surveys: Surveys, tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError) as refusal:
        imported(surveys, tmp_path / name)
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert surveys.answers.version(NAME) is None  # nothing was begun


def test_a_workbook_with_xml_entities_is_refused(surveys: Surveys, tmp_path: Path) -> None:
    sound = workbook(tmp_path / "sound.xlsx", [COLUMNS, TEXTS, *cells(FULL)])
    bomb = tmp_path / "bomb.xlsx"
    entity = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    with zipfile.ZipFile(sound) as old, zipfile.ZipFile(bomb, "w") as new:
        for part in old.infolist():
            content = old.read(part)
            if part.filename.endswith("sharedStrings.xml"):
                content = content.replace(b"?>", f"?>{entity}".encode(), 1)
            new.writestr(part, content)
    with pytest.raises(InputError, match="declares a document type"):
        imported(surveys, bomb)


def test_formulas_are_imported_as_their_values_and_failed_ones_are_reported(surveys: Surveys, tmp_path: Path) -> None:
    path = tmp_path / "answers.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for line, row in enumerate([COLUMNS, TEXTS, *cells({**FULL, "Q9": "=HYPERLINK(1)"})]):
            for column, cell in enumerate(row):
                sheet.write_string(line, column, cell)
        sheet.write_formula(2, COLUMNS.index("Q4"), "=2+2", value=4)
        sheet.write_formula(2, COLUMNS.index("Q3"), "=NA()", value="#N/A")
    done = imported(surveys, path)
    assert only(surveys).answers["years"] == {"number": "4"}
    assert only(surveys).answers["hardest"] == {"text": "=HYPERLINK(1)"}
    assert [(one.column, one.said, one.why) for one in done.unread] == [
        ("Q3", "#N/A", "contains a formula that failed")
    ]


def test_an_import_without_consent_information_is_refused(surveys: Surveys, tmp_path: Path) -> None:
    file = delimited(tmp_path / "answers.csv", [["Q2"], ["text"], ["Yes"]])
    with pytest.raises(InputError, match="maps no column to 'consent'"):
        imported(surveys, file, '[columns]\nQ2 = "converted"')
    assert imported(surveys, file, 'consented = true\n[columns]\nQ2 = "converted"').responses == 1
    assert "consent" not in only(surveys).answers


def test_an_unknown_consent_label_is_reported(surveys: Surveys, tmp_path: Path) -> None:
    done = imported(surveys, delimited(tmp_path / "a.csv", [["Q1"], ["text"], ["Sure"]]), '[columns]\nQ1 = "consent"')
    assert done.no_consent == (3,)
    assert [(one.said, one.why) for one in done.unread] == [("Sure", "is not an option")]


def test_the_mapping_can_set_the_encoding(surveys: Surveys, tmp_path: Path) -> None:
    file = delimited(tmp_path / "a.csv", [COLUMNS, TEXTS, *cells({**FULL, "Q9": "Café"})], "cp1252")
    assert imported(surveys, file, f'encoding = "cp1252"\n{MAPPING}').responses == 1
    assert only(surveys).answers["hardest"] == {"text": "Café"}


def raw_cells(path: Path) -> list[dict[str, str]]:
    """The rows of a workbook by nothing but its XML."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        shared = []
        if "xl/sharedStrings.xml" in names:
            tree = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            shared = ["".join(part.text or "" for part in one.iter(f"{space}t")) for one in tree.iter(f"{space}si")]
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = []
    for row in sheet.iter(f"{space}row"):
        found = {}
        for cell in row.iter(f"{space}c"):
            value = cell.find(f"{space}v")
            text = "".join(part.text or "" for part in cell.iter(f"{space}t"))
            if value is not None and value.text:
                text = shared[int(value.text)] if cell.get("t") == "s" else value.text
            found[cell.get("r", "").rstrip("0123456789")] = text
        rows.append(found)
    names_of = rows[0]
    return [{names_of[place]: text for place, text in row.items() if text} for row in rows[2:]]


@pytest.mark.skipif(not REAL.exists(), reason="the real answers ../shared/data/onnx/survey-open.xlsx are not here")
def test_the_public_answers_of_the_onnx_survey_are_imported(tmp_path: Path) -> None:
    rows = raw_cells(REAL)
    consented = [row for row in rows if row.get("Q52") == "Yes, I consent"]
    folder = tmp_path / "onnx"
    (folder / "instruments").mkdir(parents=True)
    (folder / "study.toml").write_text('[study]\nname = "onnx"\n', "utf-8")
    for name in ("fielded.toml", "fielded.mapping.toml"):
        text = (BUNDLED / "instruments" / name).read_text("utf-8")
        (folder / "instruments" / name).write_text(text, "utf-8")
    with open_surveys(open_study(folder)) as surveys:
        mapping = mapping_file(surveys, "fielded", REAL)
        done = import_answers(surveys, "fielded", REAL, mapping)
        found = list(surveys.answers.responses("fielded"))
        asked = surveys.questionnaire("fielded")
    assert (len(rows), len(consented)) == (46, 45)
    assert (done.rows, done.responses, done.no_consent, done.empty, done.unread, done.odd) == (46, 45, (3,), (), (), ())
    assert [(marker.row, marker.column, marker.why) for marker in done.markers] == [
        (3, "Q65", "means no answer"), (12, "Q65", "goes with a marker"),
    ]  # fmt: skip
    assert len(done.unmapped_columns) == 12
    for column, name in {
        "Q1": "ml-years", "Q2": "se-years", "Q5": "size", "Q67": "deployment", "Q60": "frameworks", "Q61": "uses-onnx",
        "Q62": "other-tools", "Q63": "purposes", "Q78": "conversion-case", "Q64": "direct-deployment",
        "Q65": "problems", "Q66": "remedies",
    }.items():  # fmt: skip
        question = asked.question(name)
        assert question is not None
        said = [row[column] for row in consented if row.get(column, "").strip() not in ("", "AnswerDisplayOrder")]
        assert sum(bool(one.answers[name]) for one in found) == len(said), name
        chosen = Counter(code for one in found for code in one.answers[name].get("choices", ()))
        # No label of a question lies within another of the same question, so that looking for each is a count.
        assert chosen == Counter({
            option.code: count for option in question.options if (count := sum(option.label in one for one in said))
        }), name  # fmt: skip
    for column, name in {"Q67_6_TEXT": "deployment", "Q62_3_TEXT": "other-tools", "Q65_3_TEXT": "problems"}.items():
        words = Counter(row[column].strip() for row in consented if row.get(column))
        assert Counter(
            one.answers[name]["texts"]["other"] for one in found if "texts" in one.answers[name]
        ) == words  # fmt: skip
