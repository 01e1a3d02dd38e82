"""Results published before a name became known are shown to the lead only until they are rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import QUICK, closing_app, signed_in
from tests.support.small_interviews import with_transcript
from tests.support.themed_interviews import themed_study

from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.items import SOURCE, make_items
from quaestor.interviews.names import remaining
from quaestor.interviews.names.confirmations import answer_all_places
from quaestor.interviews.names.known_names import add_name, remove_name
from quaestor.interviews.participants.people import Contact, set_contact
from quaestor.interviews.repository import open_interviews
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.publication.publication_status import check_freshness
from quaestor.publication.report.make import build_report
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

PAGES = ("/report/", "/report/tables/all.tex", "/report/findings.json", "/results/report.zip")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    found = themed_study(tmp_path / "study", [("{data:Grelvan asks for data}.", "two", "three")])
    build_report(found, lambda words: None)
    return found


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def answers(reader: TestClient) -> list[int]:
    return [reader.get(page).status_code for page in PAGES]


def holds(study: Study) -> bool:
    with open_coding(study) as coding:
        return check_freshness(study, coding.state)[0].is_current


@pytest.mark.slow
def test_a_report_published_before_a_name_was_known_is_shown_to_the_lead_only(app: Starlette, study: Study) -> None:
    reader, reviewer = signed_in(app, study.root, Role.VIEWER), signed_in(app, study.root, Role.REVIEWER)
    assert answers(reader) == [200] * 4
    assert "Withheld" not in reader.get("/results").text
    with open_interviews(study) as room:
        add_name(room, "organisation", ["Grelvan"])
    assert not holds(study)
    assert answers(reader) == answers(reviewer) == [409] * 4
    refused = reader.get("/report/").text
    assert "rebuilt it" in refused
    assert "Grelvan" not in refused + reader.get("/results").text
    assert "Withheld for now" in reader.get("/results").text
    assert "Open the report" not in reader.get("/results").text
    assert "handbook was" not in reader.get("/results").text, "there is none"
    lead = signed_in(app, study.root, Role.LEAD)
    assert answers(lead) == [200] * 4
    assert "Only you can read" in lead.get("/results").text
    assert "known name remains" in app.state.remaking.wait().failed
    with open_interviews(study) as room:
        answer_all_places(room, True)
        make_items(room)
    ingest_source(study, SOURCE)
    run_funnel(study)
    assert answers(reader) == [409] * 4, "the report still has it"
    build_report(open_study(study.root), lambda words: None)
    assert answers(reader) == answers(reviewer) == [200] * 4
    assert "Grelvan" not in reader.get("/report/tables/all.tex").text


def test_a_name_that_appears_nowhere_withholds_nothing(app: Starlette, study: Study) -> None:
    reader = signed_in(app, study.root, Role.VIEWER)
    with open_interviews(study) as room:
        set_contact(room, "P1", Contact("Zanthor Quellix", "z.quellix@obviax.example", "", ""))
        add_name(room, "organisation", ["Grelvan"])
        remove_name(room, "organisation A")
        with_transcript(room, turns=(("Interviewer", "And you?"), ("Guest", "As Zanthor says.")))
        answer_all_places(room, True)
        assert "P1" in room.transcript("P2").turns[1].text, "of which nothing is published yet"
    assert answers(reader) == [200] * 4


def test_remaining_names_are_computed_once_per_state(
    app: Starlette, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = signed_in(app, study.root, Role.VIEWER)
    asked = []
    list_open_places = remaining.list_open_places
    monkeypatch.setattr(remaining, "list_open_places", lambda room: asked.append(room) or list_open_places(room))
    assert answers(reader) + answers(reader) == [200] * 8
    assert len(asked) == 1


def test_without_the_names_file_everything_is_withheld_and_the_lead_sees_the_reason(study: Study) -> None:
    for path in study.root.glob("identities.db*"):
        path.unlink()
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        reader, lead = signed_in(app, study.root, Role.VIEWER), signed_in(app, study.root, Role.LEAD)
        assert answers(reader) == [409] * 4
        page = reader.get("/results").text
        assert "Withheld for now" in page
        assert "identities.db" not in page + reader.get("/report/").text
        assert "identities.db is missing" in lead.get("/results").text
        assert answers(lead) == [200] * 4
