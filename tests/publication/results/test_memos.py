"""The appendix of memos: opt-in, without names of raters or known people, and nothing about withdrawn participants."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.coded_interviews import copy_of
from tests.support.mixed_study import FACETS, RATERS, answer_of, mixed_study

from quaestor.base.errors import SettingsError
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.participants.consent import DECLINED, record_consent
from quaestor.interviews.repository import open_interviews
from quaestor.interviews.withdrawal import withdraw
from quaestor.publication.report.make import build_report
from quaestor.publication.results.memos import build_memos_part
from quaestor.render.table_model import Table
from quaestor.study.folder import Study, open_study


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A decided study with three strands, in which rater-1 writes a memo on every item and on every passage."""
    study = mixed_study(tmp_path_factory.mktemp("noted"))
    for name, facet in FACETS.items():
        with open_coding(study) as coding:
            for item in coding.state.round(name).plan.items:
                for rater in RATERS:
                    answer, memo = answer_of(name, item), f"Told of\n {name}, by Brimmlow" if rater == "rater-1" else ""
                    if memo and name == "interviews":
                        answer = [{**passage, "memo": "why <b>here</b>?"} for passage in answer]
                    rate(coding, name, rater, item, {facet: answer}, memo=memo)
        close_by_name(study, name, None)
    return study


@pytest.fixture
def study(noted: Study, tmp_path: Path) -> Study:
    return copy_of(noted, tmp_path)


def ask_for(study: Study, memos: str) -> Study:
    study.file.write_text(f"{study.file.read_text('utf-8')}\n[report]\nmemos = {memos}\n", "utf-8")
    return open_study(study.root)


def build_table(study: Study, notify: list[str] | None = None) -> Table | None:
    with open_coding(study) as coding:
        part = build_memos_part(coding, {"memos"}, (notify if notify is not None else []).append)
    return part.sections[0].folded[0] if part else None


def read_rows(table: Table | None) -> list[tuple[str, ...]]:
    return [(row.title, *(cell.parts[0] for cell in row.cells)) for row in table.rows()] if table else []


def test_memos_are_reported_only_if_the_study_asks_for_them(study: Study) -> None:
    assert build_table(study) is None
    assert build_table(ask_for(study, '["answers"]')) is not None


def test_memos_name_neither_raters_nor_known_people_nor_responses(study: Study) -> None:
    with open_interviews(study) as interviews:
        add_name(interviews, "organisation", ["Brimmlow"], "[a company]")
    table = build_table(ask_for(study, "true"))
    assert table is not None
    assert table.id == "report-memos", "another table has the name"
    rows = read_rows(table)
    assert rows[0] == ("forum/p1", "custom layers", "rater 1", "Told of posts, by [a company]")
    assert ("an answer to hardest", "custom layers", "rater 1", "Told of answers, by [a company]") in rows
    assert ("P1, turn 1", "custom layers", "rater 1", "why <b>here</b>?") in rows
    assert [group.title for group in table.groups] == ["Round posts", "Round answers", "Round interviews"]
    assert not any("Brimmlow" in text or "rater-1" in text for row in rows for text in row)


def test_nothing_about_withdrawn_or_declined_participants_is_reported(study: Study) -> None:
    study = ask_for(study, '["interviews"]')
    assert {row[0].partition(",")[0] for row in read_rows(build_table(study))} == {"P1", "P2"}
    with open_interviews(study) as interviews:
        withdraw(interviews, "P1")
    assert {row[0].partition(",")[0] for row in read_rows(build_table(study))} == {"P2"}
    with open_interviews(study) as interviews:
        record_consent(interviews, "P2", DECLINED, "by e-mail")
    assert build_table(study) is None


def test_a_round_that_does_not_exist_is_named(study: Study) -> None:
    with pytest.raises(SettingsError, match=r"report\.memos names the round 'main'; choose from: "):
        build_table(ask_for(study, '["main"]'))


def test_memos_of_a_round_that_can_be_reopened_as_blind_are_left_out(tmp_path: Path) -> None:
    study = ask_for(mixed_study(tmp_path), "true")
    with open_coding(study) as coding:
        for item in coding.state.round("posts").plan.items:
            rate(coding, "posts", "rater-1", item, {"topic": "layers"}, memo="early")
            rate(coding, "posts", "rater-2", item, {"topic": "speed"})
    close_by_name(study, "posts", None)
    notified: list[str] = []
    assert build_table(study, notified) is None
    assert notified == ["left out: the memos of posts, because it can still be reopened as blind"]


def test_the_report_has_an_escaped_appendix_of_memos(study: Study) -> None:
    outcome = build_report(ask_for(study, "true"), lambda words: None, with_audit=False)
    page = (outcome.folder / "index.html").read_text("utf-8")
    assert "<h2" in page.partition("Memos of raters")[0]
    assert "why &lt;b&gt;here&lt;/b&gt;?" in page
    assert "rater-1" not in page
    assert (outcome.folder / "tables" / "table-memos.csv").exists()
