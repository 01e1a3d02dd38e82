"""From a dump and the raters' decisions to columns: dates, answers, authors, tags, and what the filter hides."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest

from quaestor.base.errors import QuaestorError, StateError
from quaestor.coding.codebook import change_codebook, import_codebook
from quaestor.coding.model.closing import build_close_acts
from quaestor.coding.model.decisions import build_agreed_act
from quaestor.coding.model.ratings import build_rating_act
from quaestor.coding.model.settlement import build_settling_acts
from quaestor.coding.round_acts import open_round
from quaestor.coding.session import CodingSession, open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.publication.items_behind_cell import items_behind
from quaestor.publication.publication import compute_publication, open_computed
from quaestor.publication.results.citations import label_codes
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.tables import make_table
from quaestor.study.folder import Study, open_study

STUDY = """
[study]
name = "dated"

[sources.so]
kind = "stackexchange"
path = "dump"
site = "stackoverflow"

[families]
first = ["*flow*"]
second = ["*torch*"]

[[funnel.steps]]
step = "tagged"
tags = ["first", "second"]

[[funnel.steps]]
step = "answered"
accepted_answer = true

[facets.issue]
kind = "single"
codes = "issue"

[facets.phrase]
kind = "phrase"

[facets.check]
kind = "confirm"

[[rounds]]
round = "codes"
items = { after = "answered" }
facets = ["issue", "phrase", "check"]
raters = ["rater-1", "rater-2"]

[results]
code = "codes.issue"
phrase = "codes.phrase"
confirm = "codes.check"

[attributes.framework]
first_of = ["first", "second"]

[measures]
days_decimals = 2

[[tables]]
table = "1"
title = "Codes"
rows = ["phase", "object"]
columns = "framework"
unplaced = true

[[tables]]
table = "2"
kind = "filter"
title = "The filter"
measures = ["viewcount", "first_answer_days"]
"""

CODEBOOK = """
[[facet]]
id = "issue"
levels = ["phase", "object"]

[[code]]
id = "training"
facet = "issue"
name = "training"
key = "t"

[[code]]
id = "training/loss"
facet = "issue"
parent = "training"
name = "loss"

[[code]]
id = "training/custom-loss"
facet = "issue"
parent = "training"
name = "custom loss"

[[code]]
id = "setting"
facet = "issue"
name = "setting"
key = "S"
"""


def _row(**attributes: str) -> str:
    return f"<row {' '.join(f'{name}={quoteattr(value)}' for name, value in attributes.items())} />"


POSTS = [
    {"Id": "1", "PostTypeId": "1", "AcceptedAnswerId": "12", "CreationDate": "2019-01-01T00:00:00.000", "Score": "3",
     "ViewCount": "100", "Title": "How to &amp; why", "Tags": "<torchvision><tensorflow>", "OwnerUserId": "7",
     "ContentLicense": "CC BY-SA 4.0"},
    {"Id": "2", "PostTypeId": "1", "AcceptedAnswerId": "21", "CreationDate": "2020-01-01T00:00:00.000", "Score": "0",
     "ViewCount": "50", "Title": "How to two", "Tags": "<pytorch>", "OwnerDisplayName": "someone gone"},
    {"Id": "3", "PostTypeId": "1", "CreationDate": "2020-06-01T00:00:00.000", "Score": "9", "ViewCount": "900",
     "Title": "How to three", "Tags": "<pytorch>", "OwnerUserId": "7"},
    {"Id": "4", "PostTypeId": "1", "CreationDate": "2020-06-01T00:00:00.000", "Score": "9", "ViewCount": "700",
     "Title": "How to four", "Tags": "<tensorflow>"},
    *({"Id": number, "PostTypeId": "2", "ParentId": parent, "CreationDate": f"{when}.000", "Score": "1"}
      for number, parent, when in (("11", "1", "2019-01-01T12:00:00"), ("12", "1", "2019-01-03T00:00:00"),
                                   ("21", "2", "2020-01-01T00:10:00"), ("31", "3", "2020-06-11T00:00:00"))),
]  # fmt: skip
USERS = """<?xml version="1.0" encoding="utf-8"?>
<users><row Id="7" Reputation="1" CreationDate="2019-01-01T00:00:00.000" DisplayName="user seven" /></users>
"""
ONE, TWO = "stackoverflow/question/1", "stackoverflow/question/2"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    (tmp_path / "dump").mkdir()
    rows = "\n".join(_row(**post) for post in POSTS)
    posts = f'<?xml version="1.0" encoding="utf-8"?>\n<posts>\n{rows}\n</posts>\n'
    (tmp_path / "dump" / "Posts.xml").write_text(posts, "utf-8")
    (tmp_path / "dump" / "Users.xml").write_text(USERS, "utf-8")
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    (tmp_path / "codebook.toml").write_text(CODEBOOK, "utf-8")
    study = open_study(tmp_path)
    ingest_source(study, "so")
    run_funnel(study)
    import_codebook(study)
    return study


def rated(study: Study, answers: dict[str, dict[str, object]], *, close: bool = True) -> None:
    with open_coding(study) as coding:
        open_round(coding, "codes", coding.lead)
        for rater in ("rater-1", "rater-2"):
            for item, given in answers.items():
                _rate(coding, rater, item, given)
        if close:
            coding.act(lambda state: build_close_acts(state, "codes", coding.lead))
            coding.act(lambda state: build_agreed_act(state, "codes", coding.lead))


def _rate(coding: CodingSession, rater: str, item: str, given: dict[str, object]) -> None:
    coding.act(lambda state: build_rating_act(state, "codes", rater, item, given, now=coding.now()))


LOSS = {"issue": "training", "phrase": {"verb": "clip", "object": "my custom loss"}, "check": "yes"}
OTHER = {"issue": "setting", "phrase": {"verb": "save", "object": "thing"}, "check": "yes"}


def results(study: Study) -> StudyResults:
    with open_computed(study) as computed:
        assert computed.results is not None
        return computed.results


def test_evidence_and_decisions_are_combined_in_one_table(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    found = results(study)
    assert found.decided.items == (ONE, TWO)
    assert found.decided.get_numbers("response_days").tolist() == [2.0, 0.01]
    assert found.decided.get_numbers("first_answer_days").tolist() == [0.5, 0.01]
    assert found.decided.get_numbers("viewcount").tolist() == [100.0, 50.0]
    values = {name: [one.keys[code] if code >= 0 else None for code in one.codes]
              for name, one in found.decided.attributes.items()}  # fmt: skip
    assert values["phase"] == ["T", "S"]
    assert values["object"] == ["T2", None]  # the longest name that the words end with
    assert values["framework"] == ["first", "second"]  # the first family a post carries, whatever its tags' order
    assert values["year"] == ["2019", "2020"]
    one, two = found.known[ONE], found.known[TWO]
    assert (one.author, one.licence) == ("user seven", "CC BY-SA 4.0")
    assert one.link == "https://stackoverflow.com/q/1"
    assert one.title == "How to &amp; why"
    assert two.author == "someone gone"


def test_a_rejected_triplet_gets_the_code_named_instead(study: Study) -> None:
    named = {**LOSS, "check": "no: training › loss"}
    unnamed = {**OTHER, "check": "no"}
    rated(study, {ONE: named, TWO: unnamed})
    found = results(study)
    assert found.coded.items[ONE].code == "training/loss"
    assert found.coded.items[TWO].code == "setting"
    assert found.coded.rejected == 1


def test_items_behind_a_cell_match_its_conditions(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    items, words = items_behind(study, "1:T2:first")
    assert [item.item for item in items] == [ONE]
    assert words == "phase training, object custom loss, framework first"
    assert [one.item for one in items_behind(study, "1:S:total")[0]] == [TWO]


def test_the_filter_table_compares_dropped_and_kept_items(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    with open_computed(study) as computed:
        table = compute_publication(computed, lambda words: None).tables["2"]
    values = {(row.key, column.key): cell.values for row in table.rows()
              for column, cell in zip(table.columns, row.cells, strict=True)}  # fmt: skip
    assert values["viewcount", "without_n"] == (4,)
    assert values["viewcount", "without_value"] == (400.0,)
    assert values["viewcount", "with_value"] == (75.0,)
    assert values["viewcount", "delta"] == (1.0,)  # every dropped question has more views than every kept one
    assert values["first_answer_days", "without_n"] == (3,)
    assert values["never_accepted", "without_value"] == (0.5,)
    assert values["never_answered", "without_value"] == (0.25,)
    assert values["never_accepted", "with_value"] == (0.0,)


def test_an_undecided_item_is_left_out_and_counted(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER}, close=False)
    with open_coding(study) as coding:
        _rate(coding, "rater-2", TWO, {**OTHER, "issue": "training"})
        coding.act(lambda state: build_close_acts(state, "codes", coding.lead))
    assert results(study).decided.items == (ONE,)
    with open_coding(study) as coding:
        coding.act(
            lambda state: build_settling_acts(
                state, "codes", "rater-1", TWO, "issue", "training", "one-person", "read again"
            )
        )
    assert results(study).decided.items == (ONE, TWO)


def test_an_open_round_gives_no_results(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER}, close=False)
    with pytest.raises(StateError, match="still open"):
        results(study)


def test_a_study_without_decisions_names_the_missing_round(study: Study) -> None:
    with pytest.raises(StateError, match="has not been opened"):
        results(study)


def test_a_closed_but_unsettled_round_is_named(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER}, close=False)
    with open_coding(study) as coding:
        for item in (ONE, TWO):
            _rate(coding, "rater-2", item, {**OTHER, "issue": "training/custom-loss"})
        coding.act(lambda state: build_close_acts(state, "codes", coding.lead))
    with pytest.raises(StateError, match="'codes' has no decision on 'issue' yet: settle its disagreements"):
        results(study)


def test_a_split_code_is_counted_in_its_parts_by_item_and_rule(study: Study) -> None:
    rated(study, {ONE: {**LOSS, "issue": "setting"}, TWO: OTHER})
    parts = [{"id": "setting/one", "name": "one"}, {"id": "setting/two", "name": "two"}]
    parts = [{**part, "facet": "issue"} for part in parts]
    change_codebook(study, "codebook.split", {"code": "setting", "parts": parts, "items": {ONE: "setting/one"},
                                              "rules": [], "otherwise": "setting/two"})  # fmt: skip
    found = results(study)
    assert {item: one.code for item, one in found.coded.items.items()} == {ONE: "setting/one", TWO: "setting/two"}


def test_a_retired_code_keeps_its_items(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    change_codebook(study, "codebook.retire", {"code": "setting"})
    found = results(study)
    phase = found.decided.get_attribute("phase")
    assert phase.titles[phase.codes[1]] == "setting (retired)"
    assert [one.item for one in items_behind(study, "1:S:total")[0]] == [TWO]


def test_codes_with_the_same_key_get_distinct_row_keys(study: Study, tmp_path: Path) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    book = results(study).coded.book
    codes = {**book.codes, "setting": replace(book.codes["setting"], key="T")}
    assert label_codes(study, [replace(book, codes=codes)])["setting"] == "setting"


def test_the_number_of_items_with_a_measure_opens_them(study: Study) -> None:
    text = (study.root / "study.toml").read_text("utf-8")
    summaries = (
        '\n[[tables]]\ntable = "3"\nkind = "summaries"\ntitle = "x"\nrows = ["phase"]\nmeasures = ["viewcount"]\n'
    )
    (study.root / "study.toml").write_text(text + summaries, "utf-8")
    rated(study, {ONE: LOSS, TWO: OTHER})
    opened = open_study(study.root)
    with open_computed(opened) as computed:
        found = computed.results
        assert found is not None
        lacking = replace(found.decided, numbers={**found.decided.numbers, "viewcount": np.array([np.nan, 5.0])})
        table = make_table(opened, replace(found, decided=lacking), opened.settings.tables[-1])
    for row in table.rows():
        cell = row.cells[0]
        assert cell.selection is not None
        assert len(lacking.list_matching(cell.selection.conditions)) == cell.values[0]


def test_items_without_a_value_are_mentioned_below_the_table(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    found = results(study)
    framework = found.decided.get_attribute("framework")
    nobody = replace(framework, codes=np.array([-1, 1]))
    decided = replace(found.decided, attributes={**found.decided.attributes, "framework": nobody})
    table = make_table(study, replace(found, decided=decided), study.settings.tables[0])
    assert "Without framework, counted in the totals only: 1." in table.notes


def test_a_tie_breaker_cannot_open_items_before_ties_are_settled(study: Study) -> None:
    text = (study.root / "study.toml").read_text("utf-8")
    text = text.replace('raters = ["rater-1", "rater-2"]', 'raters = ["rater-1", "rater-2"]\ntie_breaker = "lead"')
    (study.root / "study.toml").write_text(text, "utf-8")
    opened = open_study(study.root)
    rated(opened, {ONE: LOSS, TWO: OTHER}, close=False)
    with open_coding(opened) as coding:
        _rate(coding, "rater-2", TWO, {**OTHER, "issue": "training"})
        coding.act(lambda state: build_close_acts(state, "codes", coding.lead))
        coding.act(lambda state: build_agreed_act(state, "codes", coding.lead))
    with pytest.raises(StateError, match="is the tie-breaker"):
        items_behind(opened, "1:T:total")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("[attributes.framework]", "[attributes.phase]"), "attributes.phase has the same name as a level"),
        (("[attributes.framework]", "[attributes.year]"), "attributes.year has the same name as a level or the year"),
        (('code = "codes.issue"', 'code = "codes.check"'), "results.code gives no item a code"),
        (('rows = ["phase", "object"]', 'rows = ["framework", "phase"]'), "is neither below nor across"),
        (('measures = ["viewcount", "first_answer_days"]', 'measures = ["views"]'), "there is no measure 'views'"),
    ],
)
def test_impossible_settings_are_refused_in_one_sentence(study: Study, change: tuple[str, str], words: str) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    text = (study.root / "study.toml").read_text("utf-8")
    (study.root / "study.toml").write_text(text.replace(*change), "utf-8")
    opened = open_study(study.root)
    with pytest.raises(QuaestorError, match=words), open_computed(opened) as computed:
        compute_publication(computed, lambda told: None)


def test_an_audit_without_evidence_is_refused(study: Study) -> None:
    rated(study, {ONE: LOSS, TWO: OTHER})
    shutil.rmtree(study.evidence)
    with pytest.raises(StateError, match="no evidence yet"), open_computed(study, needs_results=False):
        pass
