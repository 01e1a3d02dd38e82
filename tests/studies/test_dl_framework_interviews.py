"""The interview study: the whole guide, eight sections in thirty minutes, its codebook and its rounds."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

import pytest
from tests.support.paths import SHARED, STUDIES
from tests.support.small_interviews import with_interview, with_transcript

from quaestor.coding.codebook import import_codebook
from quaestor.coding.round_acts import open_by_name
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import make_items
from quaestor.interviews.model.guide_checks import check_guide
from quaestor.interviews.model.records import Asks, Guide
from quaestor.interviews.repository import list_guide_files, open_interviews
from quaestor.study.features import study_status
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study, template_names

STUDY = STUDIES / "dl-framework-interviews"
SEED = SHARED / "seeds" / "000_ce6302a4734f5b6c.txt"
QUESTIONS = {
    "introduction": ["before-we-begin"],
    "respondent": ["position", "background", "frameworks", "years", "responsibilities"],
    "practice": ["stages", "script-operations", "common-steps", "factors"],
    "legitimacy": ["features", "perspectives", "indicators", "ambiguous", "legitimacy-case"],
    "defects": ["problems", "improvements", "defect-case", "importance", "submitted-types", "measures"],
    "open-questions": ["experience", "improvements-again", "expectations", "functions", "summary", "advice"],
    "other": ["anything-else"],
    "conclusion": ["follow-up"],
}
BRIEF = ["background", *QUESTIONS["open-questions"]]
"""What the source marks to be answered briefly."""
CODES = {
    "factors": "dataset complexity resources training-time accuracy other-factor",
    "stages": "data-preparation model-design training evaluation deployment",
    "operations": "change-layers tune-settings debug-script convert-model",
    "legitimacy": "shape-mismatch non-finite-values no-convergence unsupported-operator",
    "indicators": "indicator",
    "ambiguity": "ambiguous-model",
    "defects": "crash wrong-result slow memory documentation compatibility",
    "measures": "workaround report-upstream pin-version patch-locally",
    "expectations": "easier-debugging faster-compilation better-messages stable-interfaces",
    "advice": "read-the-source start-small check-data",
}


@lru_cache
def guide() -> Guide:
    return check_guide(STUDY / "instruments" / "guide.md").guide


def test_the_guide_has_eight_sections_of_thirty_minutes_and_every_question() -> None:
    assert guide().minutes == sum(section.minutes for section in guide().sections) == 30
    assert {section.id: [question.id for question in section.questions] for section in guide().sections} == QUESTIONS
    assert (guide().sections[0].part, guide().sections[-1].part) == ("opening", "closing")
    assert all(guide().question(name).asks is Asks.BRIEF for name in BRIEF)  # type: ignore[union-attr]


def test_the_five_factors_can_be_ticked_and_others_added() -> None:
    factors = guide().question("factors")
    assert factors is not None
    assert [item.code for item in factors.items] == CODES["factors"].split()[:-1]
    assert factors.other


def test_the_only_warning_is_about_the_deliberately_repeated_question() -> None:
    checked = check_guide(STUDY / "instruments" / "guide.md")
    assert checked.grave == ()
    assert [problem.where for problem in checked.problems] == ["question improvements-again"]
    first, again = guide().question("improvements"), guide().question("improvements-again")
    assert first is not None
    assert again is not None
    assert first.text == again.text


def test_opening_and_consent_form_explain_purpose_procedure_and_confidentiality() -> None:
    for words in ("two things", "online", "half an hour", "four steps", "confidentiality", "pseudonym"):
        assert words in guide().opening
    agreement = (STUDY / "instruments" / "agreement.md").read_text("utf-8")
    for words in ("recorded", "pseudonym", "withdraw", "erased", "voluntary", "deleted", "30 minutes"):
        assert words in agreement


def test_every_code_says_when_to_use_it_and_when_not() -> None:
    book = tomllib.loads((STUDY / "codebook.toml").read_text("utf-8"))
    codes = {one["id"]: one for one in book["code"]}
    below = {name: [code for code in codes if codes[code].get("parent") == name] for name in CODES}
    assert below == {name: words.split() for name, words in CODES.items()}
    assert set(codes) == {*CODES, *(word for words in CODES.values() for word in words.split())}
    for one in codes.values():
        wanted = ("definition", "use", "not", "examples") if "parent" in one else ("definition", "colour")
        assert all(one.get(key) for key in wanted), one["id"]


def test_fields_belong_to_existing_codes() -> None:
    fields = open_study(STUDY).settings.facets["themes"].fields
    assert set(fields) <= {word for words in CODES.values() for word in words.split()}
    assert fields["indicator"] == ("what", "threshold")
    assert fields["ambiguous-model"] == ("model", "handling")
    assert all(fields[word] == ("importance", "case", "measure") for word in CODES["defects"].split())


@pytest.mark.skipif(not SEED.exists(), reason="the seeds are not on this machine")
@pytest.mark.parametrize("path", sorted(one for one in STUDY.rglob("*") if one.is_file()), ids=lambda path: path.name)
def test_no_sentence_of_the_source_is_copied(path: Path) -> None:
    """Five consecutive words count as a copy."""
    assert _runs(path.read_text("utf-8")) & _runs(SEED.read_text("utf-8")) == set()


def _runs(text: str, length: int = 5) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z]+", text.lower())
    return {tuple(words[place : place + length]) for place in range(len(words) - length + 1)}


def test_a_study_from_this_template_goes_from_the_first_participant_to_open_rounds(tmp_path: Path) -> None:
    assert "dl-framework-interviews" in template_names()
    study = open_study(new_study(tmp_path / "mine", "dl-framework-interviews"))
    assert list(list_guide_files(study)) == ["guide"]
    assert study_status(study).next == "quaestor interview participant add"
    with open_interviews(study) as room:
        with_transcript(room, with_interview(room).id)
        items = make_items(room)
        assert not items.added, "the source is in study.toml already"
    ingest_source(study, "turns")
    run_funnel(study)
    import_codebook(study)
    opened = open_by_name(study, "pilot", None)
    assert study_status(study).next.startswith("quaestor ratings next pilot")
    assert opened is not None


def test_interview_files_are_ignored_by_git(tmp_path: Path) -> None:
    made = new_study(tmp_path / "mine", "dl-framework-interviews")
    ignored = set((made / ".gitignore").read_text("utf-8").split())
    assert {"interviews.db", "interviews.key", "identities.db", "identities.key"} <= ignored
