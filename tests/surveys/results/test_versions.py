"""Results of a survey whose questionnaire changed while people answered: each base counts those who were shown it."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.support.small_survey import Form, answered, fielded

from quaestor.base.errors import InputError, StateError
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.exchange.import_answers import import_answers
from quaestor.surveys.invitations import accept_invitation, invite, response_rates
from quaestor.surveys.lifecycle import (
    Surveys,
    describe_effects_of_version,
    find_effects_of_edit,
    open_survey,
    review_response,
)
from quaestor.surveys.merges import list_merges, merge_parts, undo_merge
from quaestor.surveys.model.question_results import QuestionResult
from quaestor.surveys.model.records import Missing
from quaestor.surveys.pages.responses import response_sheet
from quaestor.surveys.respond import require_response
from quaestor.surveys.results.compute import SurveyResults, survey_results
from quaestor.surveys.results.export import results_json
from quaestor.surveys.results.sentences import write_notes
from quaestor.surveys.results.tables import build_table, demographics

NAME = "work"


def questionnaire(
    *,
    steps: Sequence[str] = ('"Never"', '"Sometimes"', '"Often"'),
    rows: Sequence[str] = ('"Crashes"', '"Slowness"'),
    tools: Sequence[str] = ('"ONNX"', '"TVM"'),
    order: Sequence[str] = ('"Speed"', '"Size"'),
    how_often: Sequence[str] = ('"Never"', '"Sometimes"', '"Often"'),
    wait: str = 'unit = "hours"',
    survey: str = "",
) -> str:
    """A questionnaire with one question of each kind that has parts or a unit."""
    return f"""
[survey]
title = "Work"
languages = ["en", "de"]
{survey}

[[pages]]
page = "consent"
questions = [{{ id = "consent", kind = "consent", text = "May we?" }}]

[[pages]]
page = "all"

[[pages.questions]]
id = "met"
kind = "matrix"
text = "How often did you meet these?"
options = [{", ".join(steps)}]
rows = [{", ".join(rows)}]

[[pages.questions]]
id = "tools"
kind = "multiple"
text = "Which tools?"
options = [{", ".join(tools)}]

[[pages.questions]]
id = "order"
kind = "ranking"
text = "What matters most?"
options = [{", ".join(order)}]

[[pages.questions]]
id = "often"
kind = "single"
text = "How often do you convert?"
options = [{", ".join(how_often)}]

[[pages.questions]]
id = "wait"
kind = "number"
text = "How long do you wait?"
{wait}
"""


def send(surveys: Surveys, count: int = 1, language: str = "", **fields: Sequence[str] | str) -> None:
    """People who answer these fields, `__` for a point, and nothing else."""
    form: Form = {
        f"q.{name.replace('__', '.').replace('_', '-')}": [value] if isinstance(value, str) else list(value)
        for name, value in fields.items()
    }
    forms: Mapping[str, Form] = {"consent": {"q.consent": ["agree"]}, "all": form}
    for _ in range(count):
        answered(surveys, NAME, forms, language=language)


def edit(surveys: Surveys, text: str) -> None:
    (surveys.study.root / "instruments" / f"{NAME}.toml").write_text(text, "utf-8")
    open_survey(surveys, NAME, separate=True)


@contextmanager
def work(folder: Path, **parts: Sequence[str] | str) -> Iterator[Surveys]:
    with fielded(folder / "study", questionnaire(**parts), NAME) as surveys:  # type: ignore[arg-type]
        yield surveys


def result(results: SurveyResults, name: str) -> QuestionResult:
    question_result = results.question(name)
    assert question_result is not None, name
    return question_result


def shares(question_result: QuestionResult, row: str = "") -> dict[str, tuple[int, int]]:
    """By option or step: how many chose it, of how many."""
    lines = next(part for part in question_result.rows if part.key == row).lines
    return {line.key: (line.share.count, line.share.of) for line in lines}


def exported(surveys: Surveys, path: Path, *, wide: bool = True, raw: bool = False) -> list[dict[str, str]]:
    export_answers(surveys, NAME, path, wide=wide, raw=raw)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Rewording and removing


def test_a_removed_option_or_step_keeps_its_place(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 8, often="sometimes", met__crashes="sometimes")
        edit(surveys, questionnaire(steps=('"Never"', '"Often"'), how_often=('"Never"', '"Often"')))
        send(surveys, 2, often="often", met__crashes="often")
        results = survey_results(surveys, NAME)
    assert list(shares(result(results, "often"))) == ["never", "sometimes", "often"]
    assert list(shares(result(results, "met"), "crashes")) == ["never", "sometimes", "often"]
    assert shares(result(results, "often")) == {"never": (0, 10), "sometimes": (8, 8), "often": (2, 10)}
    columns = build_table(results, result(results, "met")).columns
    assert [column.title for column in columns] == ["answered", "Never", "Sometimes", "Often"]


def test_a_reworded_option_that_is_not_the_same_keeps_its_place_too(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 8, often="sometimes")
        edit(surveys, questionnaire(how_often=('"Never"', '"Now and then"', '"Often"')))
        send(surveys, 2, often="now-and-then")
        often = result(survey_results(surveys, NAME), "often")
    assert list(shares(often).items()) == [
        ("never", (0, 10)), ("sometimes", (8, 8)), ("now-and-then", (2, 2)), ("often", (0, 10))
    ]  # fmt: skip


def test_a_scale_with_another_step_in_the_place_of_one_is_shown_separately(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 8, met__crashes="sometimes")
        edit(surveys, questionnaire(steps=('"Never"', '"Now and then"', '"Often"')))
        send(surveys, 2, met__crashes="now-and-then")
        results = survey_results(surveys, NAME)
        rows = exported(surveys, tmp_path / "answers.csv")
        notes = describe_effects_of_version(surveys, NAME, 2)
    assert notes == ("met: steps were replaced, so it is another scale; earlier answers stay in a separate table.",)
    assert shares(result(results, "met"), "crashes") == {"never": (0, 2), "now-and-then": (2, 2), "often": (0, 2)}
    assert shares(result(results, "met@1"), "crashes") == {"never": (0, 8), "sometimes": (8, 8), "often": (0, 8)}
    assert result(results, "met").missing == {Missing.NOT_SHOWN: 8}
    assert sorted(row["met:missing"] for row in rows) == [""] * 2 + ["not shown"] * 8
    assert sorted(row["met@1:missing"] for row in rows) == [""] * 8 + ["not shown"] * 2


def test_a_reworded_label_is_shown_with_both_wordings(tmp_path: Path) -> None:
    steps = ('"Never"', '{ code = "sometimes", label = "Now and then" }', '"Often"')
    with work(tmp_path) as surveys:
        send(surveys, 8, often="sometimes", met__crashes="sometimes")
        edit(surveys, questionnaire(steps=steps, how_often=steps))
        send(surveys, 2, often="sometimes", met__crashes="sometimes")
        results = survey_results(surveys, NAME)
        export_answers(surveys, NAME, tmp_path / "answers.csv")
    for name, row in (("often", ""), ("met", "crashes")):
        assert shares(result(results, name), row)["sometimes"] == (10, 10)
        assert "In version 1, “Now and then” read “Sometimes”." in write_notes(result(results, name))
    (question,) = [each for each in results_json(results)["questions"] if each["question"] == "often"]
    (earlier,) = question["earlier"]
    assert (earlier["code"], earlier["label"], earlier["earlier"]) == ("sometimes", "Now and then", "Sometimes")
    with (tmp_path / "answers.codebook.csv").open(encoding="utf-8", newline="") as file:
        lines = {line["code"]: line for line in csv.DictReader(file) if line["question"] == "often"}
    assert lines["sometimes"]["earlier labels"] == "Sometimes"
    assert lines["sometimes"]["versions"] == "1; 2"


# Added parts


def test_an_added_step_and_row_have_those_who_were_shown_them_as_base(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 45, met__crashes="often")
        newer = questionnaire(
            steps=('"Never"', '"Sometimes"', '"Often"', '"Always"'), rows=('"Crashes"', '"Slowness"', '"Leaks"')
        )
        edit(surveys, newer)
        send(surveys, 9, met__crashes="often", met__leaks="never")
        results = survey_results(surveys, NAME, by="version")
    met = result(results, "met")
    assert shares(met, "crashes")["always"] == (0, 9)
    assert shares(met, "crashes")["often"] == (54, 54)
    assert shares(met, "leaks")["never"] == (9, 9)
    always = met.rows[0].lines[3]
    assert [(share.count, share.of) for share in always.by] == [(0, 0), (0, 9)]
    leaks = met.rows[2]
    assert (leaks.base, leaks.missing) == (9, {Missing.NOT_SHOWN: 45})
    assert any("was offered each step; shares are of those who were: Always (9)." in note for note in write_notes(met))


def test_a_test_of_options_that_not_everybody_was_offered_carries_a_caution(tmp_path: Path) -> None:
    doubt = "not every respondent was offered all of these answers, because versions differ"
    with work(tmp_path) as surveys:
        send(surveys, 12, often="never", met__crashes="never", met__slowness="often", language="de")
        send(surveys, 12, often="often", met__crashes="often", met__slowness="never")
        same = survey_results(surveys, NAME, by="language")
        steps = ('"Never"', '"Sometimes"', '"Often"', '"Always"')
        edit(surveys, questionnaire(steps=steps, how_often=steps))
        send(surveys, 12, often="always", met__crashes="always")
        results = survey_results(surveys, NAME, by="language")
        table = demographics(results, ["often"])
    for before, after in ((result(same, name), result(results, name)) for name in ("often", "met")):
        assert not any(doubt in row.crossed.doubts for row in before.rows if row.crossed)
        crossed = after.rows[0].crossed
        assert crossed is not None
        assert doubt in crossed.doubts
        assert any(doubt in note for note in write_notes(after))
    slowness = result(results, "met").rows[1].crossed
    assert slowness is not None
    assert doubt not in slowness.doubts, "all who answered this row were offered the same steps"
    assert any("shares are of those who were: Always (12)." in note for note in table.notes)


def test_the_codebook_names_a_missing_reason_only_where_it_can_occur(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 1, often="never")
        edit(surveys, questionnaire(tools=('"ONNX"', '"TVM"', '"MLIR"'), wait='unit = "days"'))
        export_answers(surveys, NAME, tmp_path / "answers.csv")
    with (tmp_path / "answers.codebook.csv").open(encoding="utf-8", newline="") as file:
        reasons = {(line["question"], line["part"]): line["missing"] for line in csv.DictReader(file)}
    assert reasons["often", ""] == reasons["tools", "tvm"] == "skipped; not reached"
    assert reasons["tools", "mlir"] == reasons["wait", ""] == reasons["wait@1", ""] == "skipped; not reached; not shown"


def test_first_places_of_an_added_option_are_of_those_who_could_rank_it(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 50, order__speed__rank="1", order__size__rank="2")
        edit(surveys, questionnaire(order=('"Speed"', '"Size"', '"Price"')))
        send(surveys, 2, order__price__rank="1", order__speed__rank="2", order__size__rank="3")
        send(surveys, 8, order__price__rank="2", order__speed__rank="1", order__size__rank="3")
        order = result(survey_results(surveys, NAME), "order")
    first = {line.key: (line.ranked.first.count, line.ranked.first.of) for line in order.ranked}
    assert first == {"speed": (58, 60), "size": (0, 60), "price": (2, 10)}


# Exports


@pytest.mark.parametrize("raw", [False, True])
def test_an_export_has_the_missing_reasons_of_the_results(tmp_path: Path, raw: bool) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 3, tools=["onnx"], met__crashes="often", order__speed__rank="1", language="de")
        newer = questionnaire(
            tools=('"ONNX"', '"TVM"', '"MLIR"'),
            rows=('"Crashes"', '"Slowness"', '"Leaks"'),
            order=('"Speed"', '"Size"', '"Price"'),
        )
        edit(surveys, newer)
        send(surveys, 2, tools=["tvm"], met__crashes="often", order__speed__rank="1")
        tidy = exported(surveys, tmp_path / "tidy.csv", wide=False, raw=raw)
        wide = exported(surveys, tmp_path / "wide.csv", raw=raw)

    def lines(question: str, part: str) -> set[tuple[str, str, str, str]]:
        of_part = [line for line in tidy if (line["question"], line["part"]) == (question, part)]
        return {
            (line["version"], line["language"], line["number"] or line["code"], line["missing"]) for line in of_part
        }

    assert lines("tools", "mlir") == {("1", "de", "", "not shown"), ("2", "en", "0", "")}
    assert lines("tools", "tvm") == {("1", "de", "0", ""), ("2", "en", "1", "")}
    assert lines("met", "leaks") == {("1", "de", "", "not shown"), ("2", "en", "", "skipped")}
    assert lines("met", "slowness") == {("1", "de", "", "skipped"), ("2", "en", "", "skipped")}
    assert lines("order", "price") == {("1", "de", "", "not shown"), ("2", "en", "", "skipped")}

    def cells(*columns: str) -> set[tuple[str, ...]]:
        return {tuple(row[column] for column in ("version", "language", *columns)) for row in wide}

    assert cells("tools.mlir", "tools.mlir:missing") == {("1", "de", "", "not shown"), ("2", "en", "0", "")}
    assert cells("met.leaks", "met.leaks:missing") == {("1", "de", "", "not shown"), ("2", "en", "", "skipped")}
    assert cells("order.price", "order.price:missing") == {("1", "de", "", "not shown"), ("2", "en", "", "skipped")}
    assert "met.slowness:missing" not in wide[0], "every version has this row"


@pytest.mark.parametrize("wide", [False, True])
def test_an_export_of_two_versions_can_be_imported_again(tmp_path: Path, wide: bool) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 3, tools=["onnx"], met__crashes="often")
        edit(surveys, questionnaire(tools=('"ONNX"', '"MLIR"'), rows=('"Crashes"', '"Leaks"')))
        send(surveys, 2, tools=["mlir"], met__leaks="often")
        first = exported(surveys, tmp_path / "answers.csv", wide=wide)
        with work(tmp_path / "again") as again:
            edit(again, questionnaire(tools=('"ONNX"', '"MLIR"'), rows=('"Crashes"', '"Leaks"')))
            done = import_answers(again, NAME, tmp_path / "answers.csv", None)
            second = exported(again, tmp_path / "again.csv", wide=wide)
    assert (done.responses, done.unread, done.unmapped_columns) == (5, (), ())
    assert [{**row, "source": ""} for row in second] == [{**row, "source": ""} for row in first]


# Units


def test_a_changed_unit_is_another_variable(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 4, wait="48")
        edit(surveys, questionnaire(wait='unit = "days"'))
        send(surveys, 2, wait="2")
        results = survey_results(surveys, NAME)
        rows = exported(surveys, tmp_path / "answers.csv")
    assert [(wait.question.id, wait.question.unit, wait.base, wait.numbers.mean.value) for wait in results.questions
            if wait.numbers] == [("wait", "days", 2, 2.0), ("wait@1", "hours", 4, 48.0)]  # fmt: skip
    assert sorted((row["wait"], row["wait@1"]) for row in rows) == [("", "48")] * 4 + [("2", "")] * 2


def test_a_changed_unit_with_a_conversion_is_the_same_variable(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 4, wait="36")
        edit(surveys, questionnaire(wait='unit = "days"\nconvert = { hours = "1/24" }'))
        send(surveys, 2, wait="3")
        wait = result(survey_results(surveys, NAME), "wait")
        rows = exported(surveys, tmp_path / "answers.csv")
        tidy = exported(surveys, tmp_path / "tidy.csv", wide=False)
        stored = exported(surveys, tmp_path / "raw.csv", raw=True)
        with pytest.raises(InputError, match="import an export made with --raw"):
            import_answers(surveys, NAME, tmp_path / "answers.csv", None)
    assert wait.numbers is not None
    assert (wait.base, wait.numbers.mean.value) == (6, 2.0)
    assert "4 answers were given in hours and multiplied by 0.0416667." in write_notes(wait)
    assert sorted(row["wait"] for row in rows) == ["1.5"] * 4 + ["3"] * 2
    assert sorted(row["wait"] for row in stored) == ["3"] * 2 + ["36"] * 4
    assert {(line["text"], line["number"]) for line in tidy if line["question"] == "wait"} == {
        ("36", "1.5"),
        ("3", "3"),
    }


def test_a_factor_to_an_earlier_unit_is_not_used_for_another_unit(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 4, wait="336")
        edit(surveys, questionnaire(wait='unit = "days"\nconvert = { hours = "1/24" }'))
        outdated = questionnaire(wait='unit = "weeks"\nconvert = { hours = "1/24", days = "1/7" }')
        words = "wait: the factor 0.0416667 converts hours to days, but the unit is now weeks"
        (surveys.study.root / "instruments" / f"{NAME}.toml").write_text(outdated, "utf-8")
        assert any(note.startswith(words) for note in find_effects_of_edit(surveys, NAME).notes)
        with pytest.raises(StateError, match=words):
            open_survey(surveys, NAME, separate=True)
        edit(surveys, questionnaire(wait='unit = "weeks"\nconvert = { hours = "1/168", days = "1/7" }'))
        wait = result(survey_results(surveys, NAME), "wait")
    assert wait.numbers is not None
    assert wait.numbers.mean.value == pytest.approx(2)


# Merging


def test_options_of_two_versions_can_be_merged_and_separated_again(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 8, often="sometimes", met__crashes="sometimes", met__slowness="never")
        steps = ('"Never"', '"Now and then"', '"Often"')
        edit(surveys, questionnaire(steps=steps, how_often=steps, rows=('"Crashes"', '"Delays"')))
        send(surveys, 2, often="now-and-then", met__crashes="now-and-then", met__delays="never")
        before = results_json(survey_results(surveys, NAME))
        for question, code, into in (
            ("often", "sometimes", "now-and-then"), ("met", "sometimes", "now-and-then"), ("met", "slowness", "delays")
        ):  # fmt: skip
            merge_parts(surveys, NAME, question, code, into)
        results = survey_results(surveys, NAME)
        assert shares(result(results, "often")) == {"never": (0, 10), "now-and-then": (10, 10), "often": (0, 10)}
        assert shares(result(results, "met"), "crashes") == {
            "never": (0, 10),
            "now-and-then": (10, 10),
            "often": (0, 10),
        }
        assert shares(result(results, "met"), "delays")["never"] == (10, 10)
        assert results.question("met@1") is None
        assert "In version 1, “Now and then” read “Sometimes”." in write_notes(result(results, "often"))
        rows = exported(surveys, tmp_path / "answers.csv")
        assert {(row["often"], row["met.crashes"], row["met.delays"]) for row in rows} == {
            ("now-and-then",) * 2 + ("never",)
        }
        stored = exported(surveys, tmp_path / "raw.csv", raw=True)
        assert {row["often"] for row in stored} == {"sometimes", "now-and-then"}
        assert [merged.code for merged in list_merges(surveys, NAME)] == ["sometimes", "slowness", "sometimes"]
        with pytest.raises(StateError, match="already counted as 'now-and-then'"):
            merge_parts(surveys, NAME, "often", "sometimes", "never")
        for question, code in (("often", "sometimes"), ("met", "sometimes"), ("met", "slowness")):
            undo_merge(surveys, NAME, question, code)
        assert results_json(survey_results(surveys, NAME)) == before
        with pytest.raises(InputError, match="is not merged with another option"):
            undo_merge(surveys, NAME, "often", "sometimes")


def test_a_step_and_a_row_with_the_same_code_are_merged_apart(tmp_path: Path) -> None:
    with work(tmp_path, steps=('"Never"', '"Slow"'), rows=('"Crashes"', '"Slow"')) as surveys:
        send(surveys, 3, met__slow="slow")
        edit(surveys, questionnaire(steps=('"Never"', '"Slowly"'), rows=('"Crashes"', '"Slowness"')))
        assert merge_parts(surveys, NAME, "met", "slow", "slowly").part == "option"
        assert merge_parts(surveys, NAME, "met", "slow", "slowness", "row").part == "row"
        met = result(survey_results(surveys, NAME), "met")
        assert shares(met, "slowness") == {"never": (0, 3), "slowly": (3, 3)}
        assert undo_merge(surveys, NAME, "met", "slow", "row").into == "slowness"
        assert [merged.part for merged in list_merges(surveys, NAME)] == ["option"]


def test_only_options_of_different_versions_can_be_merged(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 1, often="never")
        with pytest.raises(StateError, match="version 1 of 'work' offers 'never' and 'often' next to each other"):
            merge_parts(surveys, NAME, "often", "never", "often")
        with pytest.raises(InputError, match="no version of 'often' has the option 'nevr', available: never"):
            merge_parts(surveys, NAME, "often", "nevr", "often")
        with pytest.raises(InputError, match="has no question 'oftn', available: often"):
            merge_parts(surveys, NAME, "oftn", "never", "often")


# Groups and filters


def test_results_are_compared_by_version_and_language_and_filtered(tmp_path: Path) -> None:
    with work(tmp_path) as surveys:
        send(surveys, 3, often="never", order__speed__rank="1", order__size__rank="2", language="de")
        edit(surveys, questionnaire(tools=('"ONNX"', '"TVM"', '"MLIR"')))
        send(surveys, 2, often="often", order__speed__rank="2", order__size__rank="1")
        by_version = survey_results(surveys, NAME, by="version")
        by_language = survey_results(surveys, NAME, by="language")
        second = survey_results(surveys, NAME, where=["version=2"])
        german = survey_results(surveys, NAME, where=["language=de", "often=never"])
        nobody = survey_results(surveys, NAME, where=["language=de", "often=often"])
        with pytest.raises(InputError, match="unknown answer to 'version': '7', available: 1"):
            survey_results(surveys, NAME, where=["version=7"])
        with pytest.raises(InputError, match="'version' is not a filter: write QUESTION=OPTION"):
            survey_results(surveys, NAME, where=["version"])
    assert by_version.groups is not None
    assert (by_version.groups.labels, by_version.sizes) == (("version 1", "version 2"), (3, 2))
    assert by_language.groups is not None
    assert (by_language.groups.keys, by_language.sizes) == (("de", "en"), (3, 2))
    assert (second.base, shares(result(second, "often"))["often"]) == (2, (2, 2))
    assert second.counted.left_out == {"not selected": 3}
    assert (german.base, nobody.base) == (3, 0)
    order = result(by_version, "order")
    first = {line.key: [(rank.first.count, rank.first.of) for rank in line.by] for line in order.ranked}
    assert first == {"speed": [(3, 3), (0, 2)], "size": [(0, 3), (2, 2)]}
    titles = [[row.title for row in group.rows] for group in build_table(by_version, order).groups]
    assert titles == [["all", "version 1", "version 2"]] * 2


# Small groups


def test_nobody_in_a_small_stratum_is_found_by_subtraction(tmp_path: Path) -> None:
    survey = 'strata = ["pro", "normal", "press"]\nby_invitation = true'
    with work(tmp_path, survey=survey) as surveys:
        for stratum, count, choice in (("pro", 7, "never"), ("normal", 6, "sometimes"), ("press", 1, "often")):
            for link in invite(surveys, NAME, "first", stratum, count):
                _, code = accept_invitation(surveys, link.token, key="k" * 40)
                forms: Mapping[str, Form] = {"consent": {"q.consent": ["agree"]}, "all": {"q.often": [choice]}}
                _answer(surveys, code, forms)
        results = survey_results(surveys, NAME, by="stratum")
        rows = exported(surveys, tmp_path / "answers.csv")
    assert results.groups is not None
    assert dict(zip(results.groups.labels, results.sizes, strict=True)) == {"pro": 7, "smaller strata": 7}
    often = result(results, "often")
    for line in often.rows[0].lines:
        rest = line.share.count - sum(share.count for share in line.by)
        assert rest == 0
    assert sum(often.bases) == often.base == 14
    assert sorted(row["stratum"] for row in rows) == [""] * 7 + ["pro"] * 7


def invite_and_answer(surveys: Surveys, stratum: str, count: int, choice: str) -> list[str]:
    """Invites people of a stratum, who all answer; returns their responses."""
    responses = []
    for link in invite(surveys, NAME, "first", stratum, count):
        _, code = accept_invitation(surveys, link.token, key="k" * 40)
        _answer(surveys, code, {"consent": {"q.consent": ["agree"]}, "all": {"q.often": [choice]}})
        responses.append(require_response(surveys, code).id)
    return responses


def strata_of(surveys: Surveys, *, everything: bool, path: Path) -> dict[str, str]:
    export_answers(surveys, NAME, path, wide=True, everything=everything)
    with path.open(encoding="utf-8", newline="") as file:
        return {row["response"]: row["stratum"] for row in csv.DictReader(file)}


def test_excluding_a_response_does_not_reveal_its_stratum(tmp_path: Path) -> None:
    survey = 'strata = ["pro", "normal", "press"]\nby_invitation = true'
    with work(tmp_path, survey=survey) as surveys:
        invite_and_answer(surveys, "pro", 7, "never")
        normal = invite_and_answer(surveys, "normal", 6, "sometimes")
        (press,) = invite_and_answer(surveys, "press", 1, "often")
        for excluded in (press, normal[0]):
            review_response(surveys, NAME, excluded, keep=False, why="at random")
            results = survey_results(surveys, NAME, by="stratum")
            assert results.groups is not None
            assert results.groups.labels == ("pro", "smaller strata")
            shown = strata_of(surveys, everything=False, path=tmp_path / "counted.csv")
            assert set(shown.values()) == {"pro", ""}
            assert strata_of(surveys, everything=True, path=tmp_path / "all.csv")[normal[1]] == ""


def test_the_page_of_a_response_does_not_show_a_stratum_that_results_hide(tmp_path: Path) -> None:
    survey = 'strata = ["pro", "normal", "press"]\nby_invitation = true'
    with work(tmp_path, survey=survey) as surveys:
        pro = invite_and_answer(surveys, "pro", 7, "never")
        normal = invite_and_answer(surveys, "normal", 6, "sometimes")
        press = invite_and_answer(surveys, "press", 1, "often")
        shown = [response_sheet(surveys, NAME, response, {}).stratum for response in (pro[0], normal[0], press[0])]
    assert shown == ["pro", "smaller strata", "smaller strata"]


def test_results_join_the_strata_that_response_rates_join(tmp_path: Path) -> None:
    survey = 'strata = ["pro", "normal", "press"]\nby_invitation = true'
    with work(tmp_path, survey=survey) as surveys:
        invite_and_answer(surveys, "normal", 6, "sometimes")
        invite_and_answer(surveys, "pro", 5, "never")
        invite(surveys, NAME, "second", "pro", 9)
        invite_and_answer(surveys, "press", 1, "often")
        results = survey_results(surveys, NAME, by="stratum")
        rates = response_rates(surveys, NAME)
    assert results.groups is not None
    came = {rate.name: (rate.used, rate.finished) for rate in rates.by_stratum}
    assert dict(zip(results.groups.labels, results.sizes, strict=True)) == {"pro": 5, "smaller strata": 7}
    assert came == {"pro": (5, 5), "smaller strata": (7, None)}
    assert rates.whole.finished == 12


def test_a_response_rate_does_not_count_excluded_responses_as_finished(tmp_path: Path) -> None:
    survey = 'strata = ["pro", "normal"]\nby_invitation = true'
    with work(tmp_path, survey=survey) as surveys:
        invite_and_answer(surveys, "pro", 7, "never")
        excluded = invite_and_answer(surveys, "normal", 6, "sometimes")[0]
        review_response(surveys, NAME, excluded, keep=False, why="a bot")
        rates = response_rates(surveys, NAME)
    assert {rate.name: rate.finished for rate in rates.by_stratum} == {"pro": 7, "normal": 5}
    assert (rates.whole.used, rates.whole.finished) == (13, 12)


@pytest.mark.parametrize("seed", range(12))
def test_no_difference_of_shown_groups_is_about_fewer_than_five_invited_people(tmp_path: Path, seed: int) -> None:
    """Whatever is excluded or filtered: each shown group, and what remains of the total, is of five or more."""
    chance = random.Random(seed)
    names = ("pro", "normal", "press", "board")
    survey = f"strata = {json.dumps(names)}\nby_invitation = true"
    invited = dict.fromkeys(names, 0)
    with work(tmp_path, survey=survey) as surveys:
        for stratum in chance.choices(names, k=6):
            count = chance.choice([1, 2, 5, 6])
            invited[stratum] += count
            for link in invite(surveys, NAME, "first", stratum, count):
                if chance.random() < 0.7:
                    _, code = accept_invitation(surveys, link.token, key="k" * 40)
                    answers: dict[str, Form] = {"consent": {"q.consent": ["agree"]}}
                    if chance.random() < 0.8:
                        answers["all"] = {"q.often": [chance.choice(["never", "often"])]}
                    _answer(surveys, code, answers)
        for response in list(surveys.answers.responses(NAME)):
            if chance.random() < 0.2:
                review_response(surveys, NAME, response.id, keep=False, why="at random")
        shown: set[frozenset[str]] = set()
        for unfinished in (False, True):
            for where in ((), ("often=never",)):
                try:
                    groups = survey_results(surveys, NAME, by="stratum", unfinished=unfinished, where=where).groups
                except InputError:
                    continue  # nobody has a stratum
                assert groups is not None
                shown.add(frozenset(groups.labels))
        exports = [strata_of(surveys, everything=all_of_them, path=tmp_path / "a.csv") for all_of_them in (True, False)]
    assert len(shown) <= 1, "the same strata are joined in every view"
    separate = {label for labels in shown for label in labels} - {"smaller strata"}
    assert {stratum for export in exports for stratum in export.values()} <= {*separate, ""}
    assert all(invited[stratum] >= 5 for stratum in separate)
    together = sum(count for stratum, count in invited.items() if stratum not in separate)
    assert together == 0 or together >= 5 or not separate


def test_people_who_came_without_an_invitation_are_not_called_a_small_stratum(tmp_path: Path) -> None:
    with work(tmp_path, survey='strata = ["pro", "normal"]') as surveys:
        invite_and_answer(surveys, "pro", 7, "never")
        send(surveys, 6, often="often")
        results = survey_results(surveys, NAME, by="stratum")
    assert results.groups is not None
    assert results.groups.labels == ("pro", "smaller strata or none")


def _answer(surveys: Surveys, code: str, forms: Mapping[str, Form]) -> None:
    from tests.support.small_survey import send as send_page

    for page, form in forms.items():
        send_page(surveys, code, page, form)


# Time


def test_an_unknown_time_is_empty_in_an_export(tmp_path: Path) -> None:
    from statistics import median

    from quaestor.surveys.pages.overview import survey_overview

    with work(tmp_path) as surveys:
        for seconds in (10.0, 30.0, 0.0, 500.0):
            _, response = answered(surveys, NAME, {"consent": {"q.consent": ["agree"]}, "all": {}}, seconds=seconds / 2)
        review_response(surveys, NAME, response.id, keep=False, why="too slow")
        rows = exported(surveys, tmp_path / "answers.csv")
        shown = survey_overview(surveys.study, surveys, NAME).median_seconds
    known = [float(row["seconds"]) for row in rows if row["seconds"]]
    assert sorted(known) == [10, 30]
    assert shown == median(known) == 20
