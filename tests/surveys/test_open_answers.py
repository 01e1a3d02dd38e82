"""Open answers from the survey to themes: items, two raters, decisions, counts by participants."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.support.command_line import quaestor
from tests.support.settling import settle_with_assents
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, Form, answered, fielded

from quaestor.base.clock import now
from quaestor.base.errors import InputError, StateError, TemporarilyUnavailable
from quaestor.base.table_files import format_csv
from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import open_coding
from quaestor.evidence.dataset import read_manifest
from quaestor.evidence.erasure import list_copies
from quaestor.evidence.funnel import compute_fingerprint, last_result, read_passed, run_funnel
from quaestor.evidence.ingest import ingest_source, run_plan
from quaestor.evidence.item_text_cache import ItemTexts, cache_folder
from quaestor.evidence.item_texts import read_item_texts
from quaestor.evidence.sources.protocol import SourceRequest
from quaestor.evidence.sources.tables.settings import TableSettings
from quaestor.evidence.sources.tables.source import TableSource
from quaestor.evidence.step_items import mask_result
from quaestor.evidence.text_index import build_index
from quaestor.publication.results.decided_codes import read_coded_items
from quaestor.study.contributions import NoNames
from quaestor.study.features import study_status
from quaestor.study.folder import Study, open_journal, open_study
from quaestor.surveys.lifecycle import Surveys, open_surveys, review_response
from quaestor.surveys.open_answers import OpenAnswerSource, list_open_answers, make_items, parse_response
from quaestor.surveys.respond import withdraw
from quaestor.surveys.themes import SurveyThemes, count_themes, themes_table

ONE_ROW = '{ code = "other", label = "Other", text = true }]\n\n[[pages.questions]]\nid = "careful"'
TWO_ROWS = ONE_ROW.replace("]\n", ', { code = "also", label = "Also", text = true }]\n', 1)
SOURCE = f"{NAME}-hardest"
FACET = '\n[facets.theme]\nkind = "multiple"\ncodes = "theme"\n\n[facets.relevance]\nkind = "keep"\n'
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

[[code]]
id = "nothing"
facet = "theme"
name = "says nothing"
"""
ROUND = {
    "round": "considerations",
    "items": {"after": "open answers"},
    "facets": ["theme"],
    "raters": ["rater-1", "rater-2"],
}


def forms(words: str) -> Mapping[str, Form]:
    """What somebody sends who finds something hard, and says so in each of the rows that ask for words."""
    rows = {f"q.met.{row}": ["often"] for row in ("other", "also")}
    texts = {f"{row}.text": [words] for row in rows}
    return {**FORMS, "words": {"q.hardest": [words]}, "tools": {**FORMS["tools"], **rows, **texts}}


def rated_study(
    folder: Path, question: str = "hardest", facets: tuple[str, ...] = ("theme",), declared: str = FACET
) -> tuple[Study, dict[str, str]]:
    """Open answers to a question as the items of an open round; what was said by item."""
    with fielded(folder, QUESTIONNAIRE.replace(ONE_ROW, TWO_ROWS)) as surveys:
        for words in ("layers <b>and</b> speed", "layers", "speed", "no idea"):
            answered(surveys, forms=forms(words))
        make_items(surveys, NAME, question)
        said = {answer.item: answer.text for answer in list_open_answers(surveys, NAME, question)}
    (folder / "codebook.toml").write_text(CODEBOOK, "utf-8")
    file = folder / "study.toml"
    file.write_text(file.read_text("utf-8") + declared, "utf-8")
    study = open_study(folder)
    ingest_source(study, f"{NAME}-{question}")
    run_funnel(study)
    add_round(study, {**ROUND, "facets": list(facets)})
    study = open_study(folder)
    import_codebook(study)
    open_by_name(study, "considerations", None)
    return study, said


def codes(words: str) -> str:
    named = [code for code in ("layers", "speed") if code in words]
    return "; ".join(named) if named else "cannot judge"


def counted(study: Study) -> SurveyThemes:
    with open_coding(study) as coding:
        return count_themes(coding, "considerations")


def rated(study: Study, said: Mapping[str, str]) -> None:
    with open_coding(study) as coding:
        for item, words in said.items():
            rate(coding, "considerations", "rater-1", item, {"theme": codes(words)})
            second = "speed" if words == "layers" else codes(words)
            rate(coding, "considerations", "rater-2", item, {"theme": second})
    close_by_name(study, "considerations", None)


def test_open_answers_become_items_that_are_rated_and_counted_by_participant(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    texts = read_item_texts(study, list(said))
    assert {text.item for text in texts.values()} == set(said)
    both = next(item for item, words in said.items() if "and" in words)
    assert texts[both].title == "What was hardest?"
    assert texts[both].body == "<p>layers &lt;b&gt;and&lt;/b&gt; speed</p>"
    rated(study, said)
    settle_agreed(study, "considerations", None)
    for words, answer, unsettled in (
        ("layers", "layers", "2 disagreements are not settled"),
        ("no idea", "nothing", "1 disagreement is not settled"),
    ):
        with pytest.raises(StateError, match=unsettled):
            counted(study)
        item = next(item for item, text in said.items() if text == words)
        settle_with_assents(study, "considerations", "lead", item, "theme", answer, "discussion", "read again")
    found = counted(study)
    assert [(theme.name, theme.participants, theme.items) for theme in found.themes] == [
        ("custom layers", 2, 2),
        ("inference speed", 2, 2),
        ("says nothing", 1, 1),
    ]
    assert (found.participants, found.uncoded) == (4, 0)
    table = themes_table(found)
    assert [cell.parts for cell in next(table.rows()).cells] == [("2",), ("50.0%",), ("15.0% to 85.0%",), ("2",)]
    assert table.notes[0].startswith("Of 4 participants")


def test_themes_leave_out_excluded_answers_and_name_what_is_undecided(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path, facets=("relevance", "theme"))
    items = {words: item for item, words in said.items()}
    with open_coding(study) as coding:
        for words in ("layers <b>and</b> speed", "layers", "speed"):
            keep = "exclude" if words == "layers" else "keep"
            rate(coding, "considerations", "rater-1", items[words], {"relevance": keep, "theme": codes(words)})
            if words != "speed":
                rate(coding, "considerations", "rater-2", items[words], {"relevance": keep, "theme": codes(words)})
    close_by_name(study, "considerations", None, "time is up", final=True)
    with pytest.raises(StateError, match="1 answered by fewer raters than planned"):
        counted(study)
    settle_agreed(study, "considerations", None, "rater-2 left")
    found = counted(study)
    assert [(theme.code, theme.participants) for theme in found.themes] == [("speed", 2), ("layers", 1)]
    assert (found.participants, found.unrated) == (2, 1)
    assert "1 answer was not rated and is not counted." in themes_table(found).notes


def test_themes_wait_for_the_decision_that_says_whether_they_are_asked(tmp_path: Path) -> None:
    declared = FACET.replace('codes = "theme"', 'codes = "theme"\nask_if = { relevance = "keep" }')
    study, said = rated_study(tmp_path, facets=("relevance", "theme"), declared=declared)
    items = list(said)
    with open_coding(study) as coding:
        for item in items:
            for rater in ("rater-1", "rater-2"):
                kept = item != items[0] or rater == "rater-1"
                answers = {"relevance": "keep", "theme": "speed"} if kept else {"relevance": "exclude"}
                rate(coding, "considerations", rater, item, answers)
    close_by_name(study, "considerations", None)
    with pytest.raises(StateError, match="1 waiting for another decision in the round"):
        counted(study)
    settle_with_assents(study, "considerations", "rater-1", items[0], "relevance", "keep")
    with pytest.raises(StateError, match="1 answered by fewer raters than planned"):
        counted(study)
    settle_with_assents(study, "considerations", "rater-1", items[0], "theme", "layers")
    found = counted(study)
    assert (found.participants, [(theme.code, theme.items) for theme in found.themes]) == (
        4,
        [("speed", 3), ("layers", 1)],
    )


def test_withdrawn_participants_are_excluded_from_counts_and_mentioned(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        gone, _ = last_to_withdraw(surveys)
        run_funnel(study)
        said = {answer.item: answer.text for answer in list_open_answers(surveys, NAME, "hardest")}
    add_round(study, {**ROUND, "round": "again"})
    open_by_name(open_study(tmp_path), "again", None)
    with open_coding(study) as coding:
        for item in said:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "again", rater, item, {"theme": "layers"})
    close_by_name(study, "again", None)
    settle_agreed(study, "again", None)
    with open_coding(study) as coding:
        assert (count_themes(coding, "again").participants, count_themes(coding, "again").withdrawn) == (5, 0)
    with open_surveys(study) as surveys:
        withdraw(surveys, gone)
    with open_coding(study) as coding:
        themes = count_themes(coding, "again")
    assert (themes.participants, themes.withdrawn) == (4, 1)
    assert [(theme.participants, theme.items) for theme in themes.themes] == [(4, 4)]
    assert "1 participant has withdrawn since and is not counted." in themes_table(themes).notes


def test_a_response_that_the_lead_excludes_is_in_no_theme_until_it_is_kept_again(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    rated(study, said)
    settle_agreed(study, "considerations", None)
    for words, answer in (("layers", "layers"), ("no idea", "nothing")):
        item = next(item for item, text in said.items() if text == words)
        settle_with_assents(study, "considerations", "lead", item, "theme", answer, "discussion", "read again")
    before = counted(study)
    response = next(parse_response(item) for item, words in said.items() if words == "speed")
    with open_surveys(study) as surveys:
        review_response(surveys, NAME, response, keep=False, why="a duplicate")
    after = counted(study)
    assert (before.participants, after.participants, after.dropped) == (4, 3, 1)
    speed = [next(theme for theme in themes.themes if theme.code == "speed") for themes in (before, after)]
    assert speed[0].responses - speed[1].responses == {response}
    assert "1 participant was excluded by the lead and is not counted." in themes_table(after).notes
    with open_surveys(study) as surveys:
        review_response(surveys, NAME, response, keep=True, why="two people")
    assert counted(study).themes == before.themes


def test_a_report_does_not_count_the_answers_of_an_excluded_response(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    file = study.file
    single = file.read_text("utf-8").replace('kind = "multiple"\ncodes = "theme"', 'kind = "single"\ncodes = "theme"')
    results = f'\n[results]\nsource = "{SOURCE}"\ntree = "theme"\ncode = "again.theme"\n'
    file.write_text(single + results, "utf-8")
    add_round(open_study(tmp_path), {**ROUND, "round": "again"})
    study = open_study(tmp_path)
    open_by_name(study, "again", None)
    with open_coding(study) as coding:
        for item in said:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "again", rater, item, {"theme": "layers"})
    close_by_name(study, "again", None)
    response = parse_response(min(said))
    with open_surveys(study) as surveys:
        review_response(surveys, NAME, response, keep=False, why="a duplicate")
    with open_coding(study) as coding:
        counted_items = read_coded_items(study, coding.state)
    everybody = {parse_response(item) for item in said}
    assert {parse_response(item) for item in counted_items.items} == everybody - {response}
    assert counted_items.left_out == {"the lead excluded the survey response": 1}


def test_a_participant_counts_once_per_theme(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path, "met")
    assert len(said) == 8
    assert {item.rpartition("/")[2] for item in said} == {"met.other", "met.also"}
    with open_coding(study) as coding:
        for item in said:
            for rater in ("rater-1", "rater-2"):
                rate(coding, "considerations", rater, item, {"theme": "layers"})
    close_by_name(study, "considerations", None)
    settle_agreed(study, "considerations", None)
    assert [(theme.code, theme.participants, theme.items) for theme in counted(study).themes] == [("layers", 4, 8)]


def test_themes_are_hidden_while_their_round_is_open(tmp_path: Path) -> None:
    study, _ = rated_study(tmp_path)
    with pytest.raises(StateError, match="still open"):
        counted(study)


def test_items_contain_the_random_response_id_and_no_other_identifier(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        code, response = answered(surveys, stratum="pro")
        make_items(surveys, NAME, "hardest")
    (row,) = OpenAnswerSource().read_rows(open_study(tmp_path), SOURCE)
    assert row[:5] == (f"{NAME}/{response.id}/hardest", response.id, "hardest", "", "What was hardest?")
    assert row[5] == "<p>Custom layers.<br>They never fit.</p>"
    for telling in (code, "pro", response.day, "Teaching"):
        assert telling not in str(row)


def test_only_finished_and_kept_responses_enter_the_funnel(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        _, kept = answered(surveys)
        _, dropped = answered(surveys)
        answered(surveys, forms={name: FORMS[name] for name in ("consent", "you")})
        make_items(surveys, NAME, "hardest")
        study = open_study(tmp_path)
        run_funnel(study)
        assert set(read_passed(study, -1)) == {f"{NAME}/{response.id}/hardest" for response in (kept, dropped)}
        review_response(surveys, NAME, dropped.id, False, "the same words twice")
        for session in (None, surveys.coding):
            result, is_current = last_result(study, session) or (None, True)
            assert result is not None
            assert not is_current, "an excluded response leaves the funnel with its next run"
        run_funnel(study)
        assert list(read_passed(study, -1)) == [f"{NAME}/{kept.id}/hardest"]


def test_open_answers_of_several_questions_are_items_of_one_strand(tmp_path: Path) -> None:
    with fielded(tmp_path, QUESTIONNAIRE.replace(ONE_ROW, TWO_ROWS)) as surveys:
        _, response = answered(surveys, forms=forms("speed"))
        added = make_items(surveys, NAME, "hardest", "met")
        assert (added.source, added.items, added.participants) == ("tools-hardest-met", 3, 1)
        study = open_study(tmp_path)
        run_funnel(study)
        places = {"hardest", "met.other", "met.also"}
        assert set(read_passed(study, -1)) == {f"{NAME}/{response.id}/{place}" for place in places}
        assert places < {item.rpartition("/")[2] for item in all_items(surveys)}


def test_other_questions_with_a_long_name_become_another_strand(tmp_path: Path) -> None:
    longer = QUESTIONNAIRE.replace(ONE_ROW, TWO_ROWS).replace('"hardest"', f'"{"hard" * 9}"')
    with fielded(tmp_path, longer) as surveys:
        answered(surveys, forms={**forms("speed"), "words": {f"q.{'hard' * 9}": ["speed"]}})
        first, second = (make_items(surveys, NAME, "hard" * 9, other) for other in ("met", "used"))
        assert first.added
        assert second.added
        assert first.source != second.source
        assert max(len(first.source), len(second.strand)) <= 40
    assert len(open_study(tmp_path).in_each_strand()) == 2


def all_items(surveys: Surveys) -> list[str]:
    """The items of a source without questions: all answers with text."""
    added = make_items(surveys, NAME)
    rows = OpenAnswerSource().read_rows(open_study(surveys.study.root), added.source)
    return [row[0] for row in rows]


def test_new_answers_enter_with_the_next_run_of_the_funnel(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        _, response = answered(surveys, forms=forms("late"))
    result, is_current = last_result(study) or (None, True)
    assert result is not None
    assert not is_current
    run_funnel(study)
    item = f"{NAME}/{response.id}/hardest"
    assert set(read_passed(study, -1)) == {*said, item}
    assert read_item_texts(study, [item])[item].body == "<p>late</p>"


def test_words_of_open_answers_are_on_disk_only_in_the_answers_file(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        code, response = last_to_withdraw(surveys)
        use_everywhere(study, list(said))
        assert {path.name for path in holding(tmp_path, "forgotten")} <= {"answers.db", "answers.db-wal"}
        item = f"{NAME}/{response}/hardest"
        assert read_item_texts(study, [item])[item].body == "<p>something to be forgotten</p>"
        shown = mask_result(study, NoNames(), (last_result(study) or (None, True))[0])
        assert "forgotten" in str(shown.steps[0].kept_examples)
        with build_index(study, lambda *told: None).reading() as index:
            found = index.execute("SELECT count(*) FROM texts WHERE texts MATCH 'forgotten'").fetchone()
        assert found == (1,)
        drops = tmp_path / "evidence/funnel/fell.parquet"
        assert stat.S_IMODE(drops.stat().st_mode) == 0o600
        assert stat.S_IMODE(drops.parent.stat().st_mode) == 0o700
        assert withdraw(surveys, code)
        assert not withdraw(surveys, code)
        assert response not in str(pq.read_table(drops).to_pylist())
        with build_index(study, lambda *told: None).reading() as index:
            found = index.execute("SELECT count(*) FROM texts WHERE texts MATCH 'forgotten'").fetchone()
        assert found == (0,)
    assert holding(tmp_path, "forgotten") == []
    assert read_item_texts(study, [item]) == {}
    assert len(read_item_texts(study, list(said))) == len(said), "what the others said is still there"
    result, is_current = last_result(study) or (None, False)
    assert result is not None
    assert (result.steps[-1].kept, is_current) == (len(said), True)


def use_everywhere(study: Study, items: list[str]) -> None:
    """Runs everything that shows words of items or searches in them."""
    run_funnel(study)
    build_index(study, lambda *told: None)
    with closing(ItemTexts(study)) as texts:
        texts.prepare("considerations", items)
        texts.get(items)


def holding(folder: Path, word: str) -> list[Path]:
    """Every file of a study in which a word can be read."""

    def reads(path: Path) -> bool:
        if path.suffix == ".parquet":
            return word in str(pq.read_table(path).to_pylist())
        return word.encode() in path.read_bytes()

    return sorted(path for path in folder.rglob("*") if path.is_file() and reads(path))


def copy_as_earlier_versions(study: Study) -> Study:
    """Copies open answers to a table and to all that earlier versions made of it."""
    rows = OpenAnswerSource().read_rows(study, SOURCE)
    folder = study.root / "evidence/open-answers"
    folder.mkdir()
    columns = OpenAnswerSource.columns
    (folder / f"{SOURCE}.csv").write_text(format_csv([columns, *rows]), "utf-8")
    live = f'kind = "open-answers"\nsurvey = "{NAME}"\nquestions = ["hardest"]\n'
    mapped = "".join(f"columns.{column} = {{}}\n" for column in columns)
    table = f'kind = "table"\npath = "evidence/open-answers/{SOURCE}.csv"\nitem = "{{id}}"\n{mapped}'
    text = study.file.read_text("utf-8")
    assert live in text
    study.file.write_text(text.replace(live, table), "utf-8")
    older = open_study(study.root)
    settings = older.source(SOURCE)
    assert isinstance(settings, TableSettings)
    request = SourceRequest(SOURCE, settings, older.path_of(SOURCE), {})
    run_plan(TableSource().plan(request), older.evidence_of(SOURCE), now)
    manifest = read_manifest(older.evidence_of(SOURCE))
    assert manifest is not None
    result = older.funnel_folder / "funnel.json"
    document = json.loads(result.read_text("utf-8"))
    document["fingerprint"] = compute_fingerprint(older, [manifest])
    document["result"]["steps"][0]["kept_examples"][0]["body"] = "words to be forgotten"
    result.write_text(json.dumps(document), "utf-8")
    pq.write_table(pa.table({"body": ["something to be forgotten"]}), older.funnel_folder / "candidates.parquet")
    cache_folder(older).mkdir(exist_ok=True)
    (cache_folder(older) / "some-texts.db").write_bytes(b"something to be forgotten")
    return older


def test_an_older_study_with_copied_answers_opens_and_one_command_removes_the_copies(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        last_to_withdraw(surveys)
    run_funnel(study)
    older = copy_as_earlier_versions(study)
    assert len(holding(tmp_path, "forgotten")) >= 5
    result, is_current = last_result(older) or (None, False)
    assert result is not None
    assert is_current, "the copies have the same items"
    assert [line.detail for line in study_status(older).stages if line.name == "copies"] != []
    done = quaestor("remove-copies", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Removed evidence/open-answers" in done.stderr
    assert {path.name for path in holding(tmp_path, "forgotten")} <= {"answers.db", "answers.db-wal"}
    with open_journal(older) as journal:
        (act,) = journal.read_acts_of_kinds(["evidence.copies"])
    assert f"evidence/sources/{SOURCE}" in act.payload["removed"]
    assert [line for line in study_status(older).stages if line.name == "copies"] == []
    result, is_current = last_result(older) or (None, False)
    assert result is not None
    assert (result.steps[-1].kept, is_current) == (len(said) + 1, True)
    assert "nothing to remove" in quaestor("remove-copies", cwd=tmp_path).stderr


def test_a_withdrawal_removes_the_copies_of_an_earlier_version(tmp_path: Path) -> None:
    study, _ = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        code, _ = last_to_withdraw(surveys)
        run_funnel(study)
        older = copy_as_earlier_versions(study)
        assert withdraw(surveys, code)
        assert holding(tmp_path, "forgotten") == []
    assert list_copies(older) == []


def test_a_copy_that_cannot_be_removed_stops_a_withdrawal_before_it_erases_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, _ = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        code, response = last_to_withdraw(surveys)
        run_funnel(study)
        copy_as_earlier_versions(study)

        def refuse(path: Path) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("quaestor.evidence.erasure.remove", refuse)
        with pytest.raises(TemporarilyUnavailable, match="cannot be removed"):
            withdraw(surveys, code)
        assert surveys.answers.response(response) is not None, "the code still leads to it"
        monkeypatch.undo()
        assert withdraw(surveys, code)
        assert holding(tmp_path, "forgotten") == []


def test_the_last_respondent_with_items_can_withdraw(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        code, _ = last_to_withdraw(surveys)
        make_items(surveys, NAME, "hardest")
        study = open_study(tmp_path)
        run_funnel(study)
        assert withdraw(surveys, code)
        assert list(read_passed(study, -1)) == []
        assert holding(tmp_path, "forgotten") == []


def test_a_withdrawal_of_a_respondent_without_texts_rebuilds_nothing(tmp_path: Path) -> None:
    study, said = rated_study(tmp_path)
    with open_surveys(study) as surveys:
        silent, _ = answered(surveys, forms={name: FORMS[name] for name in ("consent", "you")})
        use_everywhere(study, list(said))
        before = {path: path.stat().st_mtime_ns for path in (tmp_path / "evidence").rglob("*") if path.suffix}
        assert withdraw(surveys, silent)
        assert {path: path.stat().st_mtime_ns for path in before} == before


def test_raters_no_longer_see_withdrawn_texts(tmp_path: Path) -> None:
    study, _ = rated_study(tmp_path)
    with open_surveys(study) as surveys, closing(ItemTexts(study)) as room:
        code, response = last_to_withdraw(surveys)
        item = f"{NAME}/{response}/hardest"
        assert "forgotten" in room.get([item])[item].body
        assert withdraw(surveys, code)
        assert room.get([item])[item].body == ""


def last_to_withdraw(surveys: Surveys) -> tuple[str, str]:
    code, response = answered(surveys, forms=forms("something to be forgotten"))
    return code, response.id


def test_answers_to_a_second_question_become_a_strand_of_their_own(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        answered(surveys)
        make_items(surveys, NAME, "hardest")
        before = (tmp_path / "study.toml").read_text("utf-8")
        items = make_items(surveys, NAME, "used")
        assert (items.added, items.strand) == (True, "tools-used")
        assert "[funnel]" not in items.block
        assert (tmp_path / "study.toml").read_text("utf-8").startswith(before)
    study = open_study(tmp_path)
    assert study.strands == ("", "tools-used")
    for strand in study.in_each_strand():
        ingest_source(study, strand.funnel_source())
        run_funnel(strand)
    (item,) = read_passed(study.in_strand("tools-used"), -1)
    assert item.startswith(f"tools-used:{NAME}/")


def test_making_items_keeps_other_content_of_the_study_file(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        file = tmp_path / "study.toml"
        file.write_text(f"# Mine.\r\n{file.read_text('utf-8')}".replace("\n", "\r\n").replace("\r\r", "\r"), "utf-8")
        before = file.read_bytes()
        answered(surveys)
        assert make_items(surveys, NAME, "hardest").added
    after = file.read_bytes()
    assert after.startswith(before.rstrip())
    assert after.count(b"\n") == after.count(b"\r\n")
    assert open_study(tmp_path).funnel_source() == SOURCE


def test_an_impossible_request_for_items_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with fielded(tmp_path) as surveys:
        with pytest.raises(InputError, match=r"'years' has no text field in 'tools', .* hardest"):
            make_items(surveys, NAME, "years")
        with pytest.raises(InputError, match=r"'hardness' is not a question in 'tools', .* hardest"):
            make_items(surveys, NAME, "hardness")
        with pytest.raises(StateError, match="'hardest' of 'tools' has no open answers yet"):
            make_items(surveys, NAME, "hardest")
        with pytest.raises(StateError, match="rater-1"):
            make_items(surveys, NAME, "hardest", actor="rater-1")
    with pytest.raises(InputError, match="is not an open answer"):
        parse_response("forum/question")
