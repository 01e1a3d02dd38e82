"""A facet kind that only this test knows goes through a whole study: one class and one line of registration suffice."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.support.small_study import ITEMS, small_study

from quaestor.base.errors import InputError, SettingsError
from quaestor.base.table_files import format_csv
from quaestor.coding.agreement_access import compute_rounds_agreement
from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import list_disagreement_rows, settle_agreed
from quaestor.coding.model.decisions import find_decisions
from quaestor.coding.model.facet_kinds import FACET_KINDS
from quaestor.coding.model.facet_kinds.base import AnswerChoice, FacetKind, Label, ReplaceText
from quaestor.coding.model.free_text_fields import WALKS
from quaestor.coding.model.records import Codebook, Facet
from quaestor.coding.pages.disagreements import DisagreementFilter, build_case, record_disagreements_view, settle_case
from quaestor.coding.pages.disputed_answers import SubmittedAnswer
from quaestor.coding.pages.rating_sheet import Desk
from quaestor.coding.rating import build_next_item
from quaestor.coding.rating_files import export_decisions, export_ratings, import_decisions, import_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study

LEAD = Viewer("lead", Role.LEAD)


class Stars(FacetKind):
    """One to three stars, with a remark that agreement leaves out: `2: a typo`."""

    name = "stars"

    def read(self, facet: Facet, book: Codebook, answer: Any) -> dict[str, Any]:
        if isinstance(answer, Mapping):
            return dict(answer)
        stars, _, remark = str(answer).partition(":")
        if stars.strip() not in ("1", "2", "3"):
            raise InputError(f"{facet.id} is {answer!r}; choose from: 1, 2 or 3")
        return {"stars": int(stars), "remark": remark.strip()}

    def label(self, facet: Facet, answer: Any) -> Label | None:
        return "★" * answer["stars"]

    def write(self, answer: Any) -> str:
        return f"{answer['stars']}: {answer['remark']}" if answer["remark"] else str(answer["stars"])

    def choices(self, facet: Facet, book: Codebook) -> tuple[AnswerChoice, ...]:
        return tuple(AnswerChoice(str(number), "★" * number) for number in (1, 2, 3))

    def hint(self, facet: Facet, book: Codebook) -> str:
        return "1, 2 or 3"

    def replace_free_text(self, facet: Facet, answer: Any, replace: ReplaceText) -> Any:
        return {**answer, "remark": replace(answer["remark"], False)}


def study_with_stars(folder: Path, round_: str = "stars") -> Study:
    study = small_study(folder)
    text = (
        study.file.read_text("utf-8")
        + f"""
[facets.quality]
kind = "stars"

[[rounds]]
round = "{round_}"
items = {{ after = "how-to" }}
facets = ["quality"]
raters = ["rater-1", "rater-2"]
"""
    )
    study.file.write_text(text, "utf-8")
    import_codebook(open_study(folder))
    return open_study(folder)


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A closed round in which the raters differ on the first item alone."""
    monkeypatch.setitem(FACET_KINDS, "stars", Stars())
    study = study_with_stars(tmp_path / "study")
    open_by_name(study, "stars", None)
    with open_coding(study) as coding:
        for number, item in enumerate(ITEMS):
            rate(coding, "stars", "rater-1", item, {"quality": "1" if number % 2 else "3"})
            rate(
                coding, "stars", "rater-2", item, {"quality": "2: a typo" if not number else "1" if number % 2 else "3"}
            )
    close_by_name(study, "stars", None)
    return study


def test_an_unregistered_facet_kind_is_refused_with_the_allowed_ones(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"facets.quality.kind is 'stars'; choose from: .*stretches"):
        study_with_stars(tmp_path / "study")


def test_a_new_facet_kind_can_be_rated_and_an_invalid_answer_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FACET_KINDS, "stars", Stars())
    study = study_with_stars(tmp_path / "study")
    open_by_name(study, "stars", None)
    assert build_next_item(study, "stars", "rater-1")["facets"][0]["allowed"] == "1, 2 or 3   or: cannot judge"
    desk = Desk(study)
    try:
        sheet = desk.build_sheet("stars", "rater-1")
        assert sheet is not None
        assert [(choice.value, choice.label, choice.key) for choice in sheet.facets[0].choices] == [
            ("1", "★", "1"), ("2", "★★", "2"), ("3", "★★★", "3"),
        ]  # fmt: skip
        with pytest.raises(InputError, match="quality is '4'; choose from: 1, 2 or 3"):
            rate(desk.coding, "stars", "rater-1", ITEMS[0], {"quality": "4"})
        rate(desk.coding, "stars", "rater-1", ITEMS[0], {"quality": "2: a typo"})
        assert desk.list_own_ratings("stars", "rater-1").ratings[0].answers == {"quality": "2: a typo"}
    finally:
        desk.close()


def test_agreement_uses_the_labels_of_a_new_facet_kind(study: Study) -> None:
    (measured,) = compute_rounds_agreement(study, "stars", [])
    assert measured.agreement.percent.value == 11 / 12
    assert sorted(code.code for code in measured.agreement.codes) == ["★", "★★", "★★★"]


def test_a_disagreement_in_a_new_facet_kind_is_shown_decided_and_exported(study: Study) -> None:
    record_disagreements_view(study, "stars", LEAD)
    question = build_case(study, "stars", LEAD, ITEMS[0], "quality", DisagreementFilter()).question
    assert [opinion.label for opinion in question.opinions] == ["3", "2: a typo"]
    assert [choice.value for choice in question.others] == ["1", "2"]
    settle_case(
        study, "stars", LEAD, ITEMS[0], "quality", SubmittedAnswer(others=("2",)), "one-person", "x", seen=0, key=""
    )
    assert list_disagreement_rows(study, "stars", None, open_only=False, item=None, answer=None)[0]["decision"] == "2"
    with open_coding(study) as coding:
        assert find_decisions(coding.state, "stars", "quality")[ITEMS[0]].answer == {"stars": 2, "remark": ""}
        assert {row["answer"] for row in export_decisions(coding.state, "stars")} == {"1", "2", "3"}


def test_exported_ratings_and_decisions_of_a_new_facet_kind_are_read_back(study: Study, tmp_path: Path) -> None:
    settle_agreed(study, "stars", None)
    with open_coding(study) as coding:
        ratings, decisions = export_ratings(coding, "stars", "lead"), export_decisions(coding.state, "stars")
    other = study_with_stars(tmp_path / "other")
    open_by_name(other, "stars", None)
    with open_coding(other) as coding:
        ratings_file, decisions_file = tmp_path / "ratings.csv", tmp_path / "decisions.csv"
        for path, rows in ((ratings_file, ratings), (decisions_file, decisions)):
            path.write_text(format_csv([list(rows[0]), *(list(row.values()) for row in rows)]), "utf-8")
        import_ratings(coding, "stars", ratings_file)
        import_decisions(coding, "published", decisions_file, "lead", "a paper")
        round_state = coding.state.round("stars")
        rating = round_state.current("rater-2", ITEMS[0])
        assert rating is not None
        assert rating.answers == {"quality": {"stars": 2, "remark": "a typo"}}
        assert find_decisions(coding.state, "published", "quality")[ITEMS[1]].answer == "1"


def test_free_text_of_a_new_facet_kind_is_found(study: Study) -> None:
    with open_coding(study) as coding:
        rating = coding.state.round("stars").current("rater-2", ITEMS[0])
        assert rating is not None
        payload = {"round": "stars", "item": ITEMS[0], "answers": dict(rating.answers)}
        masked = WALKS["rating"](coding.state, payload, lambda items, text, is_label: f"<{text}>")
    assert masked["answers"] == {"quality": {"stars": 2, "remark": "<a typo>"}}
