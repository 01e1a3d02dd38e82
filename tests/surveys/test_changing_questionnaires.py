"""A live questionnaire that is edited and answered at random: every published count equals a naive recount.

The recount reads the stored versions, answers and acts, and shares no function with the code that publishes.
"""

from __future__ import annotations

import csv
import json
import random
import shutil
import sqlite3
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.sequences import PARTS, iterate_sequences
from tests.support.small_survey import STUDY, answered

from quaestor.base.errors import InputError, StateError
from quaestor.study.folder import open_study
from quaestor.surveys.exchange.export import export_answers
from quaestor.surveys.lifecycle import Surveys, open_survey, open_surveys, review_response
from quaestor.surveys.merges import merge_parts, undo_merge
from quaestor.surveys.results.compute import survey_results
from quaestor.surveys.results.export import results_json

NAME = "live"
LABELS = ("never", "seldom", "at-times", "often", "always", "daily")
ROWS = ("crash", "slow", "leak", "wrong")
UNITS = ("", "hours", "days")
Answers = Mapping[str, Mapping[str, Any]]


def write_questionnaire(chance: random.Random) -> str:
    """Writes a questionnaire with some of the labels in some order; a label may have another one's code."""

    def some(labels: tuple[str, ...], least: int) -> list[str]:
        return chance.sample(labels, chance.randint(least, len(labels)))

    def options(labels: list[str]) -> str:
        texts = [f'{{ code = "{label}", label = "{label}{chance.choice(["", "!"])}" }}' for label in labels]
        return f"[{', '.join(texts)}]"

    steps = sorted(some(LABELS, 2), key=LABELS.index)
    unit = chance.choice(UNITS)
    convert = 'convert = { hours = "1/24" }' if unit == "days" and chance.random() < 0.5 else ""
    questions = {
        "one": f'kind = "single"\noptions = {options(some(LABELS, 2))}',
        "many": f'kind = "multiple"\noptions = {options(some(LABELS, 2))}',
        "met": f'kind = "matrix"\noptions = {options(steps)}\nrows = {options(some(ROWS, 1))}',
        "order": f'kind = "ranking"\noptions = {options(some(LABELS, 2))}',
        "wait": f'kind = "number"\nunit = "{unit}"\n{convert}',
    }
    shown = [name for name in questions if chance.random() < 0.9]
    chance.shuffle(shown)
    listed = "".join(f'[[pages.questions]]\nid = "{name}"\ntext = "{name}?"\n{questions[name]}\n' for name in shown)
    return (
        '[survey]\ntitle = "Live"\nlanguages = ["en", "de"]\n\n[[pages]]\npage = "consent"\n'
        'questions = [{ id = "consent", kind = "consent", text = "May we?" }]\n\n'
        f'[[pages]]\npage = "all"\ntitle = "All {chance.random()}"\ntext = "Here."\n\n{listed}'
    )


def write_form(chance: random.Random, text: str) -> dict[str, list[str]]:
    """Answers some of the questions of the open version."""
    form: dict[str, list[str]] = {}
    for question in tomllib.loads(text)["pages"][1].get("questions", ()):
        name, codes = question["id"], [option["code"] for option in question.get("options", ())]
        if chance.random() < 0.2:
            continue
        if question["kind"] == "number":
            form[f"q.{name}"] = [str(chance.randrange(100))]
        elif question["kind"] == "ranking":
            ranked = chance.sample(codes, chance.randint(1, len(codes)))
            form |= {f"q.{name}.{code}.rank": [str(place)] for place, code in enumerate(ranked, 1)}
        elif question["kind"] == "matrix":
            rows = [row["code"] for row in question["rows"] if chance.random() < 0.8]
            form |= {f"q.{name}.{row}": [chance.choice(codes)] for row in rows}
        else:
            many = question["kind"] == "multiple"
            form[f"q.{name}"] = chance.sample(codes, chance.randint(1, len(codes)) if many else 1)
    return form


def act_at_random(surveys: Surveys, chance: random.Random) -> None:
    file = surveys.study.root / "instruments" / f"{NAME}.toml"
    match chance.choice(["answer", "answer", "answer", "edit", "drop", "merge", "undo"]):
        case "answer":
            forms = {"consent": {"q.consent": ["agree"]}, "all": write_form(chance, file.read_text("utf-8"))}
            for _ in range(chance.randint(1, 3)):
                answered(surveys, NAME, forms, language=chance.choice(["en", "de"]))
        case "edit":
            before = file.read_text("utf-8")
            file.write_text(write_questionnaire(chance), "utf-8")
            try:
                open_survey(surveys, NAME, separate=True)
            except StateError as refusal:
                assert "which are counted as one" in str(refusal)
                file.write_text(before, "utf-8")
        case "drop":
            responses = list(surveys.answers.responses(NAME))
            if responses:
                review_response(surveys, NAME, chance.choice(responses).id, chance.random() < 0.3, "at random")
        case "merge":
            question = chance.choice(["one", "many", "met", "order"])
            codes = ROWS if question == "met" and chance.random() < 0.5 else LABELS
            try:
                merge_parts(surveys, NAME, question, *chance.sample(codes, 2))
            except (InputError, StateError) as refusal:
                assert str(refusal)
        case "undo":
            merges = list(surveys.fielding(NAME).merges)
            if merges:
                question, part, code = chance.choice(merges)
                undo_merge(surveys, NAME, question, code, part)


@dataclass(frozen=True)
class Stored:
    """What the files hold, read with nothing but SQL, JSON and TOML."""

    versions: Mapping[int, Mapping[str, Mapping[str, Any]]]
    """By version and question id: the question as in its file, with merged codes."""
    responses: list[tuple[str, int, str, Answers]]
    """Id, version, language, answers of every counted response, with merged codes."""


def read_acts(root: Path) -> tuple[set[str], dict[tuple[str, str, str], str]]:
    """Returns the responses that the lead excluded, and the merges in effect, from the journal."""
    with sqlite3.connect(f"file:{root / 'study.db'}?mode=ro", uri=True) as journal:
        acts = list(journal.execute("SELECT kind, payload FROM acts ORDER BY number"))
    dropped: set[str] = set()
    merges: dict[tuple[str, str, str], str] = {}
    for kind, text in acts:
        payload = json.loads(text)
        key = (payload.get("question", ""), payload.get("part", ""), payload.get("code", ""))
        if kind == "survey.decide":
            (dropped.discard if payload["keep"] else dropped.add)(payload["response"])
        elif kind == "survey.merge":
            merges[key] = payload["into"]
        elif kind == "survey.unmerge":
            del merges[key]
    return dropped, merges


def read_stored(root: Path) -> Stored:
    dropped, merges = read_acts(root)

    def final(question: str, part: str, code: str) -> str:
        while (question, part, code) in merges:
            code = merges[question, part, code]
        return code

    def merged(name: str, answer: Mapping[str, Any]) -> dict[str, Any]:
        codes = {
            key: [final(name, "option", code) for code in answer[key]] for key in ("choices", "ranks") if key in answer
        }
        rows = {final(name, "row", row): final(name, "option", step) for row, step in answer.get("rows", {}).items()}
        return {**answer, **codes, **({"rows": rows} if rows else {})}

    with sqlite3.connect(f"file:{root / 'answers.db'}?mode=ro", uri=True) as file:
        texts = dict(file.execute("SELECT version, text FROM versions"))
        stored = list(file.execute("SELECT id, version, language, answers FROM responses WHERE standing = 'finished'"))
    versions: dict[int, dict[str, dict[str, Any]]] = {}
    for version, text in texts.items():
        versions[version] = {}
        for question in tomllib.loads(text)["pages"][1].get("questions", ()):
            name = question["id"]
            codes = [final(name, "option", option["code"]) for option in question.get("options", ())]
            of_rows = [final(name, "row", row["code"]) for row in question.get("rows", ())]
            versions[version][name] = {**question, "options": codes, "rows": of_rows}
    responses = []
    for response, version, language, answers in stored:
        if response not in dropped:
            given = {name: merged(name, answer) for name, answer in json.loads(answers).items() if answer}
            responses.append((response, version, language, given))
    return Stored(versions, responses)


def versions_of(stored: Stored, name: str) -> list[int]:
    """Returns the versions that are counted together under a name."""
    question, _, newest = name.partition("@")
    having = sorted((version for version in stored.versions if question in stored.versions[version]), reverse=True)
    groups: list[list[int]] = []
    for version in having:
        here = stored.versions[version][question]
        for group in groups:
            others = [stored.versions[other][question] for other in group]
            scales = [set(other["options"]) for other in others]
            same_scale = here["kind"] != "matrix" or all(
                set(here["options"]) <= scale or scale <= set(here["options"]) for scale in scales
            )
            known_units = {others[0].get("unit", ""), *others[0].get("convert", {})}
            if same_scale and here.get("unit", "") in known_units:
                group.append(version)
                break
        else:
            groups.append([version])
    return next((group for group in groups if newest and group[0] == int(newest)), groups[0])


def check_question(stored: Stored, document: Mapping[str, Any], counted: list[tuple[str, int, str, Answers]]) -> None:
    name = document["question"]
    versions, question = versions_of(stored, name), name.partition("@")[0]
    if "@" in name:
        assert versions[0] == int(name.partition("@")[2])
    asked = [(version, answers.get(question, {})) for _, version, _, answers in counted if version in versions]
    replies = [(version, answer) for version, answer in asked if answer]
    assert document["base"] == len(replies), name
    missing = {"not shown": len(counted) - len(asked), "skipped": len(asked) - len(replies)}
    assert document["missing"] == {reason: count for reason, count in missing.items() if count}, name

    def offering(part: str, code: str) -> set[int]:
        return {version for version in versions if code in stored.versions[version][question][part]}

    for option in document.get("options", ()):
        could = [answer["choices"] for version, answer in replies if version in offering("options", option["option"])]
        chose = sum(option["option"] in choices for choices in could)
        assert (option["count"], option["of"]) == (chose, len(could)), (name, option["option"])
    for row in document.get("rows", ()):
        shown = offering("rows", row["row"])
        steps = [
            (version, answer["rows"][row["row"]]) for version, answer in replies if row["row"] in answer.get("rows", {})
        ]
        assert row["base"] == len(steps)
        skipped = sum(version in shown for version, _ in asked) - len(steps)
        expected = {"not shown": len(counted) - len(steps) - skipped, "skipped": skipped}
        assert row["missing"] == {reason: count for reason, count in expected.items() if count}, (name, row["row"])
        for step in row["steps"]:
            could_step = [chosen for version, chosen in steps if version in offering("options", step["option"])]
            assert (step["count"], step["of"]) == (could_step.count(step["option"]), len(could_step)), (
                name,
                step["option"],
            )
    for option in document.get("ranking", ()):
        code = option["option"]
        rankings = [answer["ranks"] for version, answer in replies if version in offering("options", code)]
        assert option["placed"] == sum(code in ranks for ranks in rankings)
        assert (option["first"]["count"], option["first"]["of"]) == (
            sum(ranks[0] == code for ranks in rankings),
            len(rankings),
        )
    if "numbers" in document:
        newest = stored.versions[versions[0]][question]
        factor = {newest["unit"]: 1.0, "hours": 1 / 24 if newest["unit"] == "days" else 1.0}
        numbers = [
            float(answer["number"]) * factor[stored.versions[version][question]["unit"]] for version, answer in replies
        ]
        mean = sum(numbers) / len(numbers) if numbers else None
        assert document["numbers"]["mean"]["value"] == pytest.approx(mean)


def check_order(stored: Stored, document: Mapping[str, Any]) -> None:
    """Options of the newest version keep their order, and a removed step keeps its place in the scale."""
    question = document["question"].partition("@")[0]
    newest = versions_of(stored, document["question"])[0]
    for part, listed in (("options", document.get("options", ())), ("rows", document.get("rows", ()))):
        codes = [line["option" if part == "options" else "row"] for line in listed]
        assert [code for code in codes if code in stored.versions[newest][question][part]] == (
            stored.versions[newest][question][part] if codes else []
        )
    scales = [stored.versions[version][question]["options"] for version in versions_of(stored, document["question"])]
    for row in document.get("rows", ()) if all(scale == sorted(scale, key=LABELS.index) for scale in scales) else ():
        # Each scale has all steps of the next smaller one, so the largest has them all.
        assert [step["option"] for step in row["steps"]] == max(scales, key=len)


def check_export(stored: Stored, documents: list[Mapping[str, Any]], path: Path) -> None:
    """The cells of a tidy export add up to the results, with the same reasons for missing answers."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["response"] for line in lines} == {response for response, *_ in stored.responses}
    meta = {response: (str(version), language) for response, version, language, _ in stored.responses}
    assert all((line["version"], line["language"]) == meta[line["response"]] for line in lines)
    for document in documents:
        of_question = [line for line in lines if line["question"] == document["question"]]
        for option in document.get("options", ()) if document["kind"] == "multiple" else ():
            cells = [line["number"] for line in of_question if line["part"] == option["option"]]
            assert (cells.count("1"), cells.count("1") + cells.count("0")) == (option["count"], option["of"])
        for option in document.get("options", ()) if document["kind"] == "single" else ():
            assert sum(line["code"] == option["option"] for line in of_question) == option["count"]
        for row in document.get("rows", ()):
            of_row = [line for line in of_question if line["part"] == row["row"]]
            assert sum(not line["missing"] for line in of_row) == row["base"]
            for reason in ("not shown", "skipped"):
                assert sum(line["missing"] == reason for line in of_row) == row["missing"].get(reason, 0)
        for option in document.get("ranking", ()):
            places = [line["number"] for line in of_question if line["part"] == option["option"]]
            assert sum(map(bool, places)) == option["placed"]
            assert places.count("1") == option["first"]["count"]


def run_sequence(surveys: Surveys, chance: random.Random, folder: Path) -> None:
    root = surveys.study.root
    for _ in range(chance.randint(3, 10)):
        act_at_random(surveys, chance)
    stored = read_stored(root)
    results = results_json(survey_results(surveys, NAME))
    assert results["responses"] == len(stored.responses)
    for document in results["questions"]:
        check_question(stored, document, stored.responses)
        check_order(stored, document)
    asked = {name for version in stored.versions.values() for name in version}
    assert {document["question"].partition("@")[0] for document in results["questions"]} == asked
    for version in {version for _, version, _, _ in stored.responses}:
        some = [response for response in stored.responses if response[1] == version]
        filtered = results_json(survey_results(surveys, NAME, where=[f"version={version}"]))
        for document in filtered["questions"]:
            check_question(stored, document, some)
    export_answers(surveys, NAME, folder / "answers.csv")
    check_export(stored, results["questions"], folder / "answers.csv")


@pytest.mark.parametrize("part", range(PARTS))
def test_every_count_of_a_changing_questionnaire_is_the_naive_one(tmp_path: Path, part: int) -> None:
    for number in iterate_sequences("surveys", part):
        chance = random.Random(number)
        root = tmp_path / str(number)
        (root / "instruments").mkdir(parents=True)
        (root / "study.toml").write_text(STUDY, "utf-8")
        (root / "instruments" / f"{NAME}.toml").write_text(write_questionnaire(chance), "utf-8")
        with open_surveys(open_study(root)) as surveys:
            open_survey(surveys, NAME)
            try:
                run_sequence(surveys, chance, tmp_path)
            except AssertionError as error:
                raise AssertionError(f"sequence {number}: {error}") from error
        shutil.rmtree(root)
