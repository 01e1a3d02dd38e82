"""Results of a survey: every base right, every number the same as the list behind it, nothing lost between versions."""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
from python_calamine import CalamineWorkbook
from tests.support.paths import DOCS
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, Form, answered, fielded

from quaestor.base.errors import InputError
from quaestor.render.tables.files import to_csv, to_markdown
from quaestor.render.tables.workbook import to_xlsx
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.invitations import ResponseRate, ResponseRates
from quaestor.surveys.lifecycle import Surveys, open_survey, review_response
from quaestor.surveys.model.answer_columns import ANSWERED, REASONS
from quaestor.surveys.model.flow import missing_reason
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Missing, Response, ResponseStatus
from quaestor.surveys.pages.results import results_page
from quaestor.surveys.respond import read_questionnaire_for, withdraw
from quaestor.surveys.results.columns import ColumnReader
from quaestor.surveys.results.compute import SurveyResults, survey_results
from quaestor.surveys.results.counting import CountingCache, ResponseSelection, list_answers_behind, list_texts
from quaestor.surveys.results.export import demographic_questions, results_json, write_results
from quaestor.surveys.results.sentences import counted_in_words, which_in_words, write_notes
from quaestor.surveys.results.tables import build_table, build_tables, demographics, rates_table
from quaestor.surveys.store.responses import new_id

STEPS = ("never", "rarely", "sometimes", "often")


def some_forms(chance: random.Random) -> dict[str, Form]:
    """What somebody sends: now and then without consent, without having converted, or not to the end."""
    role = chance.choice(["research", "engineering", "other"])
    likely = 0.8 if role == "research" else 0.3
    used = [one for one in ("onnx-the-exchange-format", "torchscript", "other") if chance.random() < likely] or ["none"]
    ranks = chance.sample(["1", "2", "3"], 3)
    placed = ("speed", "size") if ranks[0] < ranks[1] else ("size", "speed")
    forms: dict[str, Form] = {
        "consent": {"q.consent": ["agree" if chance.random() < 0.9 else "decline"]},
        "you": {
            "q.converted": ["yes" if chance.random() < 0.9 else "no"],
            "q.role": [role],
            "q.role.other.text": ["Teaching"] if role == "other" else [],
            "q.years": [str(chance.randrange(40))] if chance.random() < 0.8 else [],
        },
        "tools": {
            "q.used": used,
            "q.used.other.text": ["a tool, of our own"] if "other" in used else [],
            "q.why-none": ["no need"] if "none" in used and chance.random() < 0.5 else [],
            "q.met.wrong-results": [chance.choice(STEPS)],
            "q.met.a-crash": [chance.choice(STEPS[1:])],
            "q.met.missing-operators": [chance.choice(STEPS)],
            "q.met.other": ["rarely"] if chance.random() < 0.3 else [],
            "q.met.other.text": ["licences"] if chance.random() < 0.3 else [],
        },
        "words": {f"q.order.{one}.rank": [str(place)] for place, one in enumerate(placed, start=1)},
    }
    return {page: form for page, form in forms.items() if page != "words" or chance.random() < 0.8}


@pytest.fixture(scope="module")
def surveys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surveys]:
    chance = random.Random(5)
    with fielded(tmp_path_factory.mktemp("results") / "study") as found:
        for _ in range(70):
            answered(found, forms=some_forms(chance), stratum=chance.choice(["pro", "normal"]))
        yield found


@pytest.fixture(scope="module")
def responses(surveys: Surveys) -> list[Response]:
    return list(surveys.answers.responses(NAME))


def finished(responses: list[Response]) -> list[Response]:
    return [response for response in responses if response.standing is ResponseStatus.FINISHED]


def test_reasons_for_missing_answers_match_the_flow_of_the_questionnaire(
    surveys: Surveys, responses: list[Response]
) -> None:
    columns = CountingCache().counted(surveys, NAME).columns
    assert columns.ids == tuple(response.id for response in responses)
    assert len({response.standing for response in responses}) == 4, "somebody of every standing is among them"
    seen = set()
    for question in surveys.questionnaire(NAME).questions():
        expected = [missing_reason(read_questionnaire_for(surveys, one), one, question) for one in responses]
        reasons = columns.questions[question.id].missing.tolist()
        assert [None if reason == ANSWERED else REASONS[reason] for reason in reasons] == expected, question.id
        seen |= set(expected)
    assert seen == {None, Missing.NOT_SHOWN, Missing.SKIPPED, Missing.NOT_REACHED}


def test_counts_and_bases_match_the_answers(surveys: Surveys, responses: list[Response]) -> None:
    results = survey_results(surveys, NAME)
    done = finished(responses)
    assert results.base == len(done) > 30
    for found in results.questions:
        question = found.question
        said = [one.answers[question.id] for one in done if one.answers.get(question.id)]
        assert found.base == len(said)
        assert found.base + sum(found.missing.values()) == results.base
        if kind_of(question).is_choice:
            counts = Counter(code for one in said for code in one["choices"])
            assert {line.key: line.share.count for line in found.rows[0].lines if line.share.count} == counts
            assert {line.share.of for line in found.rows[0].lines} == {len(said)}
        if question.kind == "matrix":
            for row in found.rows:
                steps = Counter(one["rows"][row.key] for one in said if row.key in one.get("rows", {}))
                assert row.base == steps.total()
                assert {line.key: line.share.count for line in row.lines if line.share.count} == steps
                assert row.base + sum(row.missing.values()) == results.base
    years = [float(one.answers["years"]["number"]) for one in done if one.answers.get("years")]
    numbers = results.question("years")
    assert numbers is not None
    assert numbers.numbers is not None
    assert numbers.numbers.mean.value == pytest.approx(sum(years) / len(years))
    assert (numbers.numbers.least, numbers.numbers.most) == (min(years), max(years))
    order = results.question("order")
    assert order is not None
    ranks = [one.answers["order"]["ranks"] for one in done if one.answers.get("order")]
    assert [line.places[0] for line in order.ranked] == [
        sum(rank[0] == line.key for rank in ranks) for line in order.ranked
    ]
    assert [line.ranked.placed for line in order.ranked] == [len(ranks), 0, len(ranks)]


def every_number(results: SurveyResults) -> Iterator[tuple[ResponseSelection, int]]:
    by = results.groups
    for question in results.questions:
        name = question.question.id
        yield ResponseSelection(name), question.base
        for reason, count in question.missing.items():
            yield ResponseSelection(name, missing=reason.value), count
        for row in question.rows:
            yield ResponseSelection(name, row=row.key), row.base
            for reason, count in row.missing.items():
                yield ResponseSelection(name, row=row.key, missing=reason.value), count
            for line in row.lines:
                yield ResponseSelection(name, line.key, row.key), line.share.count
                if by is not None:
                    for key, share in zip(by.keys, line.by, strict=True):
                        yield ResponseSelection(name, line.key, row.key, by=by.name, group=key), share.count
        for ranked in question.ranked:
            yield ResponseSelection(name, ranked.key), ranked.ranked.placed
            for place, count in enumerate(ranked.places, start=1):
                yield ResponseSelection(name, ranked.key, place=place), count


@pytest.mark.parametrize("by", ["", "role", "used", "met.a-crash", "stratum"])
@pytest.mark.parametrize("unfinished", [False, True])
def test_every_number_equals_the_length_of_its_list(surveys: Surveys, by: str, unfinished: bool) -> None:
    results = survey_results(surveys, NAME, by=by, unfinished=unfinished)
    numbers = list(every_number(results))
    assert len(numbers) > 50
    for which, count in numbers:
        assert int(which.mask(results.counted).sum()) == count, which
        assert which_in_words(results.counted, which)


def test_a_list_of_answers_contains_the_matching_responses_with_their_text(surveys: Surveys) -> None:
    counted = CountingCache().counted(surveys, NAME)
    behind = list_answers_behind(surveys, counted, ResponseSelection("role", "other"))
    assert behind.total == len(behind.said) > 0
    assert {answer.answer for answer in behind.said} == {"Other: Teaching"}
    assert set(list_texts(surveys, counted, "role", "other")) == {"Teaching"}
    assert set(list_texts(surveys, counted, "met", "other")) == {"licences"}
    reasons = list_answers_behind(surveys, counted, ResponseSelection("why-none"))
    assert {one.answer for one in reasons.said} == {"no need"}
    with pytest.raises(InputError, match="unknown option: 'non', available: none"):
        list_answers_behind(surveys, counted, ResponseSelection("used", "non"))


def test_responses_excluded_by_the_lead_are_not_counted_and_reported(
    surveys: Surveys, responses: list[Response]
) -> None:
    before, one = survey_results(surveys, NAME), finished(responses)[0]
    review_response(surveys, NAME, one.id, keep=False, why="sent in three seconds")
    after = survey_results(surveys, NAME)
    assert after.base == before.base - 1
    assert "1 excluded by the lead" in " ".join(counted_in_words(after))
    review_response(surveys, NAME, one.id, keep=True, why="a mistake")
    assert survey_results(surveys, NAME).base == before.base


def test_exclusive_groups_are_compared_with_a_test(surveys: Surveys) -> None:
    by_role = survey_results(surveys, NAME, by="role")
    assert by_role.question("role") is None
    used = by_role.question("used")
    assert used is not None
    lines = used.rows[0].lines
    assert all(line.crossed is not None for line in lines)
    assert sum(used.bases) == used.base
    assert any("Cramér's V" in note for note in write_notes(used))
    years = by_role.question("years")
    assert years is not None
    assert years.numbers is not None
    assert years.numbers.test is not None
    assert sum(one.n for one in years.numbers.by) == years.base
    notes = write_notes(years)
    assert any(re.fullmatch(r"Kruskal–Wallis H = .*; ε² = 0\.\d\d, (negligible|small|medium) \(n = \d+\)\.", note)
               for note in notes), notes  # fmt: skip
    pairs = [note.partition(":")[0] for note in notes if "Dunn's z = " in note]
    assert pairs == ["Research and Engineering", "Research and Other", "Engineering and Other"]
    overlapping = survey_results(surveys, NAME, by="used").question("role")
    assert overlapping is not None
    assert overlapping.rows[0].crossed is None
    for wrong in ("years", "met", "met.unknown", "nothing"):
        with pytest.raises(InputError):
            survey_results(surveys, NAME, by=wrong)


def test_a_test_with_a_small_group_has_a_warning(tmp_path: Path) -> None:
    def notes(*roles: tuple[str, int]) -> tuple[str, ...]:
        with fielded(tmp_path / "-".join(f"{role}{count}" for role, count in roles)) as surveys:
            for role, count in roles:
                for years in range(count):
                    you: Form = {"q.converted": ["yes"], "q.role": [role], "q.years": [str(years)]}
                    answered(surveys, forms={**FORMS, "you": you})
            years_asked = survey_results(surveys, NAME, by="role").question("years")
        assert years_asked is not None
        return write_notes(years_asked)

    few = "Interpret with caution: the smallest group has 9 answers, too few for reliable conclusions."
    assert few in notes(("research", 10), ("engineering", 9))
    assert not [note for note in notes(("research", 10), ("engineering", 10)) if "leaned" in note]


def test_a_group_heading_states_its_base_for_the_question(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        answered(surveys, forms={**FORMS, "tools": {**FORMS["tools"], "q.careful": []}})
        results = survey_results(surveys, NAME, by="role")
    careful = results.question("careful")
    assert careful is not None
    table = build_table(results, careful)
    heads = {column.key: column.title for column in table.columns}
    cell = table.cell("second", "group-other")
    assert cell is not None
    assert (results.sizes[2], heads["group-other"], cell.parts) == (2, "Other (n = 1)", ("1", "100.0%"))


def test_a_permuted_chi_square_is_labelled_as_such(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME, by="role")
    notes = [note for question in results.questions for note in write_notes(question)]
    assert any(re.search(r"Wrong results: χ² = \d+\.\d\d \(permuted\), p ", note) for note in notes), notes
    by_stratum = survey_results(surveys, NAME, by="stratum").question("role")
    assert by_stratum is not None
    assert any(re.match(r"χ² = \d+\.\d\d, df = 2, p ", note) for note in write_notes(by_stratum)), write_notes(
        by_stratum
    )
    assert not any("chi-square" in note.lower() for note in notes)


def test_long_questions_to_compare_by_have_distinct_labels(tmp_path: Path) -> None:
    long = "How often did you meet each of these while you converted a model from one tool to another?"
    text = QUESTIONNAIRE.replace("How often did you meet these?", long)
    text = text.replace(
        "What describes you best?", "What, of all that one can be in a team that makes models, are you?"
    )
    text = text.replace(
        "Have you converted a model?", "What, of all that one can be in a team that makes models, is it?"
    )
    with fielded(tmp_path / "study", text) as surveys:
        answered(surveys)
        found = results_page(surveys, NAME, by="", unfinished=False, room=CountingCache()).comparable
    told = dict(found)
    assert len(set(told.values())) == len(told) == 7
    assert told["met.a-crash"] == "How often did you meet each of these while you… A crash"
    assert told["met.missing-operators"] == "How often did you meet each of these… Missing operators"
    assert told["role"] == "What, of all that one can be in a team that makes models, are you?"


def test_one_question_gives_the_same_results_alone_and_among_all(surveys: Surveys) -> None:
    among = survey_results(surveys, NAME, by="role")
    alone = survey_results(surveys, NAME, by="role", only="met")
    assert alone.questions == (among.question("met"),)


def test_a_new_or_withdrawn_response_changes_results_at_once(tmp_path: Path) -> None:
    room = CountingCache()
    with fielded(tmp_path / "study") as surveys:
        assert survey_results(surveys, NAME, room=room).base == 0
        code, _ = answered(surveys)
        assert survey_results(surveys, NAME, room=room).base == 1
        assert room.counted(surveys, NAME).columns is room.counted(surveys, NAME).columns, "read once"
        withdraw(surveys, code)
        gone = survey_results(surveys, NAME, room=room)
        assert (gone.base, gone.counted.erased) == (0, 1)
        assert "1 withdrawn and erased" in " ".join(counted_in_words(gone))
        assert len(build_tables(gone)) == len(gone.questions) - 1, ", and every table stands"


def test_unchanged_parts_of_many_responses_are_not_read_again(surveys: Surveys) -> None:
    whole, parts = list(surveys.answers.held(NAME)), list(surveys.answers.held(NAME, many=0))
    assert (len(whole), len(parts)) == (1, 16)
    assert [one for part in parts for one in part] == whole[0]
    one, several = (ColumnReader({1: surveys.questionnaire(NAME)}) for _ in range(2))
    expected, found = one.columns(whole), several.columns(parts)
    assert found.ids == expected.ids
    for name, column in expected.questions.items():
        for part in ("missing", "chosen", "places", "numbers", "with_text"):
            assert np.array_equal(
                getattr(found.questions[name], part), getattr(column, part), equal_nan=part == "numbers"
            )
    fewer = [part[1:] if number == 3 else part for number, part in enumerate(parts)]
    assert len(several.columns(fewer)) == len(expected) - 1
    assert several.columns(parts).ids == expected.ids


def test_versions_are_counted_together_and_differences_are_kept(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        newer = QUESTIONNAIRE.replace('["Speed", "Accuracy", "Size"]', '["Accuracy", "Price"]')
        newer = newer.replace('id = "years"\nkind = "number"', 'id = "years"\nkind = "text"').replace(
            'unit = "years"\nlow = 0\nhigh = 60\n', ""
        )
        newer = newer.replace('id = "role"\nkind = "single"', 'id = "role"\nkind = "multiple"')
        (surveys.study.root / "instruments" / f"{NAME}.toml").write_text(newer, "utf-8")
        open_survey(surveys, NAME, separate=True)
        words = {"q.order.accuracy.rank": ["2"], "q.order.price.rank": ["1"]}
        answered(surveys, forms={**FORMS, "words": words})
        results = survey_results(surveys, NAME)
        order = results.question("order")
        assert order is not None
        assert [(line.key, line.places) for line in order.ranked] == [
            ("speed", (0, 1, 0, 0)), ("accuracy", (1, 1, 0, 0)), ("size", (0, 0, 1, 0)), ("price", (1, 0, 0, 0))
        ]  # fmt: skip
        years, once = results.question("years"), results.question("years@1")
        assert years is not None
        assert once is not None
        assert (years.base, years.missing) == (1, {Missing.NOT_SHOWN: 1})
        assert (once.base, once.question.kind) == (1, "number")
        for name in ("role", "role@1"):
            role = results.question(name)
            assert role is not None
            assert [(line.key, line.share.count) for line in role.rows[0].lines if line.share.count] == [("other", 1)]
            assert role.rows[0].with_text == 1
        behind = list_answers_behind(surveys, results.counted, ResponseSelection("years@1"))
        assert [answer.answer for answer in behind.said] == ["4"]


def test_versions_with_the_same_question_kind_are_joined_under_the_export_name(tmp_path: Path) -> None:
    single = QUESTIONNAIRE.replace('"Research", "Engineering"', '"Research", "Engineering", "Sales"')
    newest = QUESTIONNAIRE.replace('id = "role"\nkind = "single"', 'id = "role"\nkind = "multiple"')
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        for text in (single, newest):
            (surveys.study.root / "instruments" / f"{NAME}.toml").write_text(text, "utf-8")
            open_survey(surveys, NAME)
            answered(surveys)
        results = survey_results(surveys, NAME)
        export_answers(surveys, NAME, tmp_path / "answers.csv")
    names = [question.question.id for question in results.questions if question.question.id.startswith("role")]
    assert names == ["role", "role@2"]
    assert [question.base for question in results.questions if question.question.id in names] == [1, 2]
    with (tmp_path / "answers.csv").open(encoding="utf-8", newline="") as file:
        assert {row["question"] for row in csv.DictReader(file) if row["question"].startswith("role")} == set(names)


def test_the_share_of_an_option_is_based_on_versions_that_offer_it(tmp_path: Path) -> None:
    newer = QUESTIONNAIRE.replace('    "TorchScript",\n', '    "TorchScript",\n    "A compiler",\n')
    newer = newer.replace('"Missing operators",', '"Missing operators", "Slowness",')
    newer = newer.replace('"Speed", "Accuracy", "Size"', '"Speed", "Accuracy", "Size", "Price"')
    later = {**FORMS["tools"], "q.used": ["a-compiler"], "q.used.other.text": [""], "q.met.slowness": ["often"]}
    with fielded(tmp_path / "study") as surveys:
        for _ in range(3):
            answered(surveys)
        (surveys.study.root / "instruments" / f"{NAME}.toml").write_text(newer, "utf-8")
        open_survey(surveys, NAME)
        answered(surveys, forms={**FORMS, "tools": later})
        results = survey_results(surveys, NAME, by="role")
        unmet = ResponseSelection("met", row="slowness", missing="not shown").mask(results.counted)
    used, met, order = (results.question(name) for name in ("used", "met", "order"))
    assert used is not None
    assert met is not None
    assert order is not None
    shares = {line.key: (line.share.count, line.share.of) for line in used.rows[0].lines}
    assert (shares["a-compiler"], shares["torchscript"]) == ((1, 1), (0, 4))
    assert [(one.count, one.of) for one in used.rows[0].lines[2].by] == [(0, 0), (0, 0), (1, 1)]
    versions = "Versions differ, so not everybody was"
    assert f"{versions} offered each option; shares are of those who were: A compiler (1)." in write_notes(used)
    slowness = next(row for row in met.rows if row.key == "slowness")
    assert (slowness.base, slowness.missing) == (1, {Missing.NOT_SHOWN: 3})
    assert unmet.sum() == 3
    assert f"{versions} shown each row: Slowness (1)." in write_notes(met)
    assert f"{versions} offered each option: Price (1)." in write_notes(order)


@pytest.mark.parametrize("typed", ["1e308", "-1e300", "1e-320", "nonsense"])
def test_an_uncountable_number_does_not_affect_other_results(tmp_path: Path, typed: str) -> None:
    """No page takes such a number any more; a file of before may hold it."""
    with fielded(tmp_path / "study") as surveys:
        answered(surveys)
        for number in (typed, "8"):
            odd = Response(new_id(), NAME, 1, ResponseStatus.FINISHED, {"years": {"number": number}}, sent=("you",))
            surveys.answers.add([(number, odd, ())])
        results = survey_results(surveys, NAME, by="role")
        years = results.question("years")
        assert years is not None
        assert years.numbers is not None
        assert (years.base, years.numbers.summary.n, years.numbers.mean.value) == (3, 2, 6)
        assert "1 answer is not counted here: the number is implausibly large or small." in write_notes(years)
        assert len(build_tables(results)) == len(results.questions) - 1, "all but consent"
        json.dumps(results_json(results), allow_nan=False)


def test_a_lone_surrogate_does_not_break_results(tmp_path: Path) -> None:
    with fielded(tmp_path / "study") as surveys:
        answers: Mapping[str, Mapping[str, object]] = {"hardest": {"text": "broken \ud83d here"}}
        odd = Response(new_id(), NAME, 1, ResponseStatus.FINISHED, answers, sent=("words",))
        surveys.answers.add([("code", odd, ())])
        answered(surveys)
        results = survey_results(surveys, NAME)
        hardest = results.question("hardest")
        assert hardest is not None
        assert (results.base, hardest.base) == (2, 2)


def test_result_files_are_reproducible_and_contain_the_numbers(tmp_path: Path) -> None:
    """A survey of two questions: what takes long is drawing."""
    text = QUESTIONNAIRE[: QUESTIONNAIRE.index('[[pages]]\npage = "you"')]
    text += QUESTIONNAIRE[
        QUESTIONNAIRE.index('[[pages]]\npage = "words"') : QUESTIONNAIRE.index('[[pages.questions]]\nid = "hardest"')
    ]
    with fielded(tmp_path / "study", text) as surveys:
        answered(surveys)
        written = write_results(surveys, survey_results(surveys, NAME), tmp_path / "one")
        again = write_results(surveys, survey_results(surveys, NAME), tmp_path / "two")
    names = [path.relative_to(tmp_path / "one").as_posix() for path in written]
    assert [path.relative_to(tmp_path / "two").as_posix() for path in again] == names
    assert {"tables/table-order.tex", "figures/order.svg", "figures/order.pdf", "results.json"} <= set(names)
    for one, other in zip(written, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    assert "| Accuracy | 1.00 |" in (tmp_path / "one" / "tables" / "table-order.md").read_text("utf-8")


def test_every_json_key_is_documented(surveys: Surveys) -> None:
    page = (DOCS / "reference" / "survey-results.md").read_text("utf-8")

    def keys(value: object) -> set[str]:
        if isinstance(value, dict):
            free = {"missing", "left_out"}
            inner = (keys(one) for key, one in value.items() if key not in free)
            return {str(key) for key in value}.union(*inner)
        return set().union(*map(keys, value)) if isinstance(value, list) else set()

    found = keys(results_json(survey_results(surveys, NAME, by="role")))
    assert {key for key in found if f"`{key}`" not in page} == set()


def test_demographics_and_response_rates_are_tables(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME)
    assert demographic_questions(results) == ["converted", "role"]
    table = demographics(results, ["role"])
    role = results.question("role")
    assert role is not None
    assert [group.title for group in table.groups] == [f"What describes you best? (n = {role.base})"]
    research = role.rows[0].lines[0].share
    cell = table.cell("role.research", "n")
    assert cell is not None
    assert cell.values == (research.count,)
    with pytest.raises(InputError, match="'years' is not a choice question"):
        demographics(results, ["years"])
    printed = ResponseRates(ResponseRate("fielded", 2_213, 120, 92), (ResponseRate("PRO accounts", 1_000, 50),))
    rates = rates_table(printed)
    names = ("share", "finished", "finished-share", "finished-interval")
    cells = [rates.cell("fielded", name) for name in names]
    assert [one.parts for one in cells if one] == [("5.4%",), ("92",), ("4.2%",), ("3.4% to 5.1%",)]
    unknown = [rates.cell("PRO accounts", name) for name in names[1:]]
    assert [one.parts for one in unknown if one] == [("–",), ("–",), ("–",)]


def test_csv_and_workbook_contain_both_bounds_of_every_interval(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME, by="stratum")
    years, order = results.question("years"), results.question("order")
    assert years is not None
    assert years.numbers is not None
    assert order is not None
    mean, middle = years.numbers.mean, years.numbers.summary
    told = {
        "mean": mean.value, "mean: low": mean.low, "mean: high": mean.high, "median": middle.median,
        "median: low": middle.low, "median: high": middle.high, "quartiles: lower": middle.q1,
        "quartiles: upper": middle.q3, "range: least": years.numbers.least, "range: most": years.numbers.most,
    }  # fmt: skip
    for found in (years, order, *(question for question in results.questions if kind_of(question.question).is_choice)):
        table = build_table(results, found)
        rows = list(csv.DictReader(io.StringIO(to_csv(table))))
        if found is years:
            assert {name: float(rows[0][name]) for name in told} == told
            assert rows[1]["mean: low"] == ""
        else:
            ranks = [rank.mean for line in found.ranked for rank in (line.ranked, *line.by)]
            lines = ranks or [line.share for line in found.rows[0].lines]
            assert [(row["interval: low"], row["interval: high"]) for row in rows] == [
                tuple("" if bound is None else repr(bound) for bound in (line.low, line.high)) for line in lines
            ]
        numbers = [[float(cell) for cell in row.values() if _is_number(cell)] for row in rows]
        sheet = CalamineWorkbook.from_filelike(io.BytesIO(to_xlsx([table]))).get_sheet_by_index(0).to_python()
        written = [[cell for cell in row if isinstance(cell, float)] for row in sheet]
        assert [row for row in written if row] == [pytest.approx(row, rel=1e-14) for row in numbers]
        shown = to_markdown(table)
        for line in table.rows():
            assert all(part.strip("[]") in shown for cell in line.cells for part in cell.parts)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_a_table_of_multiple_choices_notes_that_shares_exceed_100_percent(surveys: Surveys) -> None:
    results = survey_results(surveys, NAME)
    used = results.question("used")
    assert used is not None
    assert any("more than 100%" in note for note in build_table(results, used).notes)
    assert sum(line.share.value or 0 for line in used.rows[0].lines) > 1
