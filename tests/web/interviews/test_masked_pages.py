"""A name that is known, and in evidence that is older than that: no page shows it to anybody but the lead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from tests.support.coded_interviews import ROUND, code_all, coded_study, interviews_of, on_record, stretch
from tests.support.desk import QUICK, browser, closing_app, invited, join, post

from quaestor.coding.disagreements import comment_on_item, settle_agreed, settle_item
from quaestor.coding.pages.disagreements import look_at_disagreements
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name
from quaestor.coding.session import open_coding
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.evidence.text_index import build_index
from quaestor.interviews.items import SOURCE, make_items
from quaestor.interviews.names.confirmations import answer_all
from quaestor.interviews.names.known_names import add_name
from quaestor.interviews.names.rewording import replace_written
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

NAME, SHOWN, ITEM = "threshold", "[a word]", "P1/00003"
CASE = f"/rounds/{ROUND}/disagreements?item={ITEM}"
FILES = tuple(f"/rounds/{ROUND}/{what}.csv" for what in ("ratings", "decisions"))
CONFUSED = f"/rounds/{ROUND}/confused?facet=themes&first=shapes&second=indicator"
FUNNEL = ("/funnel", "/steps/1/kept")
PAGES = {
    Role.RATER: (f"/rounds/{ROUND}/code/P1", CASE, f"/rounds/{ROUND}/disagreements", CONFUSED, *FILES),
    Role.VIEWER: (f"/evidence/item?item={ITEM}", "/evidence", "/evidence.csv", "/evidence?words=shapes", *FUNNEL),
    Role.REVIEWER: (f"/evidence/item?item={ITEM}", "/evidence", *FUNNEL),
    Role.INTERVIEWER: ("/interviews/P1/transcript",),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A round over a transcript is closed, looked at, discussed and settled; then a name in it becomes known."""
    study = coded_study(tmp_path_factory.mktemp("made"))
    first = [stretch(0, 24, "shapes")]
    second = [stretch(29, 86, "indicator", memo=f"the {NAME}", fields={"what": NAME}), stretch(77, 86)]
    code_all(study, {"rater-1": {ITEM: first}, "rater-2": {ITEM: second}})
    with open_coding(study) as coding:
        rate(coding, ROUND, "rater-2", ITEM, {"themes": second}, memo=f"A {NAME}, no shape.")
    close_by_name(study, ROUND, None)
    settle_agreed(study, ROUND, None)
    for rater in ("rater-1", "rater-2"):
        look_at_disagreements(study, ROUND, Viewer(rater, Role.RATER))
    comment_on_item(study, ROUND, "rater-2", ITEM, None, f"I go by the {NAME}.")
    for reason in (f"It is the {NAME}.", f"It still is the {NAME}."):
        settle_item(study, ROUND, "rater-2", ITEM, "themes", second, "discussion", reason)
    build_index(study, lambda *_: None)
    return study


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def pages(app: Starlette, folder: Path, role: Role) -> Iterator[tuple[str, int, str]]:
    opened = browser(app)
    join(opened, invited(folder, role, "rater-1" if role is Role.RATER else ""))
    for path in PAGES[role]:
        found = opened.get(path)
        yield path, found.status_code, found.text


@pytest.mark.slow
def test_from_the_moment_a_name_is_known_it_is_the_leads_alone(app: Starlette, study: Study) -> None:
    shown = [path for role in PAGES for path, _, text in pages(app, study.root, role) if NAME in text]
    unlisted = {"/evidence", "/evidence.csv", f"/rounds/{ROUND}/disagreements"}
    assert {path for paths in PAGES.values() for path in paths} - set(shown) <= unlisted, "it is there before"
    with interviews_of(study) as interviews:
        add_name(interviews, "other", [NAME], SHOWN)
    _nobody_sees_it(app, study)
    with interviews_of(study) as interviews:
        answer_all(interviews, confirmed=True)
    _nobody_sees_it(app, study)
    lead = browser(app)
    join(lead, invited(study.root, Role.LEAD))
    assert NAME in lead.get("/evidence?words=shapes").text
    assert all(NAME in lead.get(path).text for path in FILES), "what the lead takes along can be brought in again"
    with interviews_of(study) as interviews:
        replace_written(interviews)  # the guide asks for it too
        make_items(interviews)
    ingest_source(open_study(study.root), SOURCE)
    run_funnel(open_study(study.root))
    build_index(open_study(study.root), lambda *_: None)
    after = {path: (status, text) for path, status, text in pages(app, study.root, Role.VIEWER)}
    assert after["/evidence.csv"][0] == 200
    assert SHOWN in after[f"/evidence/item?item={ITEM}"][1]
    assert not [path for path, (_, text) in after.items() if NAME in text]


def test_an_answer_is_chosen_without_its_words_and_decided_as_it_was_given(app: Starlette, study: Study) -> None:
    rater = browser(app)
    join(rater, invited(study.root, Role.RATER, "rater-1"))
    page = rater.get(CASE).text
    first, second = re.findall(r'name="answer" value="([^"]+)"', page)
    seen = re.findall(r'name="seen" value="(\d+)"', page)[0]
    sent = {"item": ITEM, "facet": "themes", "how": "discussion", "seen": seen, "answer": second, "key": "once"}
    two = post(rater, f"/rounds/{ROUND}/decisions", {**sent, "other": "shapes"}, CASE)
    assert (two.status_code, "Two answers were chosen, one in dispute and" in two.text) == (422, True)
    assert re.findall(r'name="answer" value="([^"]+)"[^>]* checked', two.text) == [second]
    unknown = post(rater, f"/rounds/{ROUND}/decisions", {**sent, "answer": first[:-1]}, CASE)
    assert (unknown.status_code, "choose again" in unknown.text) == (422, True)
    assert post(rater, f"/rounds/{ROUND}/decisions", sent, CASE).status_code == 303
    with open_coding(study) as coding:
        assert coding.state.round(ROUND).decided("themes")[ITEM].answer == on_record(study, "rater-2", ITEM)


def _nobody_sees_it(app: Starlette, study: Study) -> None:
    for role in PAGES:
        for path, status, text in pages(app, study.root, role):
            assert NAME not in text, (role, path)
            assert status == (409 if path == "/evidence.csv" else 200), (role, path)
            if path == "/evidence":
                assert "name in these interviews is known since their items were made" in text
