"""A name that is known, and in evidence that is older than that: no page shows it to anybody but the lead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette

from coded_interviews import ROUND, code_all, coded_study, interviews_of, stretch
from desk import QUICK, browser, closing_app, invited, join
from quaestor.people.passwords import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.study.funnel import run_funnel
from quaestor.study.interviews.items import SOURCE, make_items
from quaestor.study.interviews.names import add_name
from quaestor.study.interviews.proposals import answer_all
from quaestor.study.round_acts import close_by_name
from quaestor.study.search.index import build_index
from quaestor.study.sources import ingest_source
from quaestor.web.app import make_app

NAME, SHOWN, ITEM = "threshold", "[a word]", "P1/00003"
PAGES = {
    Role.RATER: (f"/rounds/{ROUND}/code/P1", f"/rounds/{ROUND}/disagreements?item={ITEM}"),
    Role.VIEWER: (f"/evidence/item?item={ITEM}", "/evidence", "/evidence.csv", "/evidence?words=shapes"),
    Role.REVIEWER: (f"/evidence/item?item={ITEM}", "/evidence"),
    Role.INTERVIEWER: ("/interviews/P1/transcript",),
}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A round over a transcript is closed, then a name in it becomes known."""
    study = coded_study(tmp_path_factory.mktemp("made"))
    first = [stretch(0, 24, "shapes")]
    second = [stretch(29, 86, "indicator", memo=f"the {NAME}", fields={"what": NAME}), stretch(77, 86)]
    code_all(study, {"rater-1": {ITEM: first}, "rater-2": {ITEM: second}})
    close_by_name(study, ROUND, None)
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


def test_from_the_moment_a_name_is_known_it_is_the_leads_alone(app: Starlette, study: Study) -> None:
    shown = [path for role in PAGES for path, _, text in pages(app, study.root, role) if NAME in text]
    assert len(shown) >= 5, "it is there before"
    with interviews_of(study) as interviews:
        add_name(interviews, "other", [NAME], SHOWN)
    _nobody_sees_it(app, study)
    with interviews_of(study) as interviews:
        answer_all(interviews, confirmed=True)
    _nobody_sees_it(app, study)
    lead = browser(app)
    join(lead, invited(study.root, Role.LEAD))
    assert NAME in lead.get("/evidence?words=shapes").text
    with interviews_of(study) as interviews:
        make_items(interviews)
    ingest_source(open_study(study.root), SOURCE)
    run_funnel(open_study(study.root))
    build_index(open_study(study.root), lambda *_: None)
    after = {path: (status, text) for path, status, text in pages(app, study.root, Role.VIEWER)}
    assert after["/evidence.csv"][0] == 200
    assert SHOWN in after[f"/evidence/item?item={ITEM}"][1]
    assert not [path for path, (_, text) in after.items() if NAME in text]


def _nobody_sees_it(app: Starlette, study: Study) -> None:
    for role in PAGES:
        for path, status, text in pages(app, study.root, role):
            assert NAME not in text, (role, path)
            assert status == (409 if path == "/evidence.csv" else 200), (role, path)
            if path == "/evidence":
                assert "name in these interviews is known since their items were made" in text
