"""Agreement pages: the same numbers as the command line, links to items, and no early views."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join, post
from tests.support.desk import browser as visitor
from tests.support.rated_study import TELLING, rate_now, rated_study, unrated_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.codebook import import_codebook
from quaestor.coding.confusion import MOST_CODES, CodeLabel, build_matrix
from quaestor.coding.model.ratings import list_labels
from quaestor.coding.pages.agreement import format_value
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.session import open_coding
from quaestor.measures.records import Confusion
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

PATHS = ("agreement", "agreement.json", "agreement.csv", "confusion.csv",
         "confused?facet=relevance&first=keep&second=keep")  # fmt: skip


@pytest.fixture(scope="module")
def study_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rated_study(tmp_path_factory.mktemp("agreement") / "study", items=24).root


@pytest.fixture
def study(study_template: Path, tmp_path: Path) -> Study:
    return open_study(Path(shutil.copytree(study_template, tmp_path / "study")))


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def signed_in(app: Starlette, study: Study, role: Role, name: str) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, name))
    return opened


@pytest.fixture(scope="module")
def reading(study_template: Path) -> Iterator[TestClient]:
    """The lead, who reads what is closed and changes nothing."""
    with closing_app(make_app(study_template, passwords=Passwords(QUICK))) as opened:
        yield signed_in(opened, open_study(study_template), Role.LEAD, "lead")


@pytest.fixture
def lead(app: Starlette, study: Study) -> TestClient:
    return signed_in(app, study, Role.LEAD, "lead")


def head(study: Study) -> int:
    with open_coding(study) as coding:
        return coding.state.head


def look(opened: TestClient, name: str) -> None:
    assert post(opened, f"/rounds/{name}/look", {}, page=f"/rounds/{name}/agreement").status_code == 303


def items_on(page: str) -> list[str]:
    return re.findall(r'class="small id">([^<]+)<', page)


def test_the_page_shows_the_same_numbers_as_the_command_line(reading: TestClient, study_template: Path) -> None:
    quaestor = str(Path(sys.executable).with_name("quaestor"))
    command = [quaestor, "agreement", "--round", "phases", "--study", str(study_template), "--json"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    assert [line["facet"] for line in told] == ["phase", "relevance"]
    assert reading.get("/rounds/phases/agreement.json").json() == told
    assert reading.get("/rounds/phases/agreement.json?facet=phase").json() == told[0]
    page = reading.get("/rounds/phases/agreement?facet=phase").text
    for name in ("kappa", "ac1", "alpha"):
        assert f'<td class="number">{told[0][name]:.3f}</td>' in page
        low, high = told[0][f"{name}_ci"]
        assert f'<td class="number">{low:.3f} to {high:.3f}</td>' in page
    rows = list(csv.DictReader(io.StringIO(reading.get("/rounds/phases/agreement.csv?facet=phase").text)))
    overall = {row["statistic"]: float(row["value"]) for row in rows if not row["code"]}
    assert overall["kappa"] == told[0]["kappa"]
    assert {row["code"]: float(row["value"]) for row in rows if row["code"]} == {
        code["code"]: code["kappa"] for code in told[0]["codes"]
    }


@pytest.mark.parametrize("level", ["", "phase"])
def test_every_cell_of_the_table_opens_the_items_it_counts(
    reading: TestClient, study_template: Path, level: str
) -> None:
    with open_coding(open_study(study_template)) as coding:
        said: dict[str, dict[str, object]] = {}
        for item, rater, label in list_labels(coding.state, "phases", "phase", level=level):
            said.setdefault(item, {})[rater] = label
    page = reading.get(f"/rounds/phases/agreement?facet=phase&level={level}").text
    table = page[page.index('<table class="matrix">') :]
    cells = re.findall(r'<a href="([^"]+)" aria-label="[^"]+">([\d,]+)</a>', table[: table.index("</table>")])
    assert sum(int(number) for _, number in cells) == 24
    for link, number in cells:
        opened = reading.get(unescape(link))
        first, second = (re.search(rf"[?&]{part}=([^&]+)", unescape(link))[1] for part in ("first", "second"))  # type: ignore[index]
        wanted = [first.replace("%2F", "/"), second.replace("%2F", "/")]
        expected = {item for item, pair in said.items() if [pair["rater-1"], pair["rater-2"]] == wanted}
        assert set(items_on(opened.text)) == expected
        assert len(expected) == int(number)


def test_a_confused_pair_of_codes_opens_its_items_with_both_answers(reading: TestClient) -> None:
    told = reading.get("/rounds/phases/agreement.json?facet=phase").json()["confused"][0]
    first, second = told["codes"]
    address = "/rounds/phases/confused"
    query = {"facet": "phase", "first": first, "second": second, "either": "yes"}
    page = reading.get(address, params=query).text
    assert len(items_on(page)) == told["n"]
    assert page.count("rater-1") >= told["n"]
    assert TELLING in page
    assert "Everything that happens while a model learns." in reading.get("/rounds/phases/agreement?facet=phase").text


def test_three_raters_have_confused_pairs_but_no_table(reading: TestClient) -> None:
    page = reading.get("/rounds/topics/agreement").text
    assert "Fleiss" in page, "the round is settled, so the lead is not asked before the view is recorded"
    assert 'class="matrix"' not in page
    told = reading.get("/rounds/topics/agreement.json").json()
    first, second = told["confused"][0]["codes"]
    query = {"facet": "topics", "first": first, "second": second, "either": "yes"}
    assert 0 < len(items_on(reading.get("/rounds/topics/confused", params=query).text)) <= told["confused"][0]["n"]
    assert reading.get("/rounds/topics/confusion.csv").status_code == 409


def test_viewing_agreement_of_an_open_blind_round_needs_a_confirmation_and_is_recorded(
    lead: TestClient, study: Study
) -> None:
    before = head(study)
    asked = lead.get("/rounds/later/agreement")
    assert asked.status_code == 200
    assert "you can no longer rate in it" in asked.text
    assert "κ" not in asked.text
    for path in PATHS[1:]:
        assert lead.get(f"/rounds/later/{path}").status_code == 409
    assert head(study) == before
    look(lead, "later")
    with open_coding(study) as coding:
        assert coding.state.round("later").unblinded == ["lead"]
    assert "still open" in lead.get("/rounds/later/agreement").text
    assert "rater-1" in lead.get("/rounds/later/agreement").text


def test_a_lead_who_rates_in_a_round_sees_no_agreement_until_it_is_closed(lead: TestClient, study: Study) -> None:
    before = head(study)
    for path in PATHS:
        answer = lead.get(f"/rounds/own/{path}")
        assert answer.status_code == 409
        assert "κ" not in answer.text
        assert "kappa" not in answer.text
    token = csrf_in(lead.get("/rounds/later/agreement").text)
    refused = lead.post("/rounds/own/look", data={"csrf": token}, headers={"origin": HERE})
    assert refused.status_code == 409
    assert 'role="alert"' in refused.text
    assert head(study) == before


def test_a_rater_sees_agreement_only_after_the_round_is_closed_and_a_confirmation(app: Starlette, study: Study) -> None:
    rater = signed_in(app, study, Role.RATER, "rater-1")
    for name in ("later", "own", "phrases"):
        for path in PATHS:
            answer = rater.get(f"/rounds/{name}/{path}")
            assert answer.status_code == 409, (name, path)
            assert "rater-2" not in answer.text
            assert "kappa" not in answer.text
    before = head(study)
    assert "reopened only as not blind" in rater.get("/rounds/phases/agreement").text
    assert rater.get("/rounds/phases/agreement.json").status_code == 409
    assert head(study) == before
    look(rater, "phases")
    page = rater.get("/rounds/phases/agreement?facet=phase").text
    assert "κ" in page
    query = {"facet": "phase", "first": "data", "second": "data"}
    assert items_on(rater.get("/rounds/phases/confused", params=query).text)


@pytest.mark.parametrize(
    ("role", "name", "status"),
    [
        (Role.RATER, "rater-9", 409),
        (Role.TIE_BREAKER, "tie-breaker", 409),
        (Role.VIEWER, "reader", 403),
        (Role.REVIEWER, "journal", 403),
    ],
)
def test_tie_breakers_and_people_outside_the_round_see_no_agreement(
    app: Starlette, study: Study, role: Role, name: str, status: int
) -> None:
    opened = signed_in(app, study, role, name)
    for path in PATHS:
        answer = opened.get(f"/rounds/phases/{path}")
        assert answer.status_code == status, path
        assert "κ" not in answer.text
        assert TELLING not in answer.text


def test_a_recorded_view_shows_the_curves_of_a_phrase_facet(lead: TestClient) -> None:
    look(lead, "phrases")
    page = lead.get("/rounds/phrases/agreement").text
    assert 'id="curves-phrases-title"' in page
    assert "<style" not in page
    assert "Raters differ" in page


@pytest.mark.parametrize(
    "query", ["facet=nothing", "facet=phase&level=nothing", "version=x", "version=99", "facet=why"]
)
def test_an_unknown_facet_or_level_is_refused_in_one_sentence(lead: TestClient, query: str) -> None:
    answer = lead.get(f"/rounds/phases/agreement?{query}")
    assert answer.status_code == 409
    assert "Traceback" not in answer.text


def test_a_table_of_many_codes_shows_only_the_confused_ones(reading: TestClient) -> None:
    codes = tuple(f"code-{number:02}" for number in range(30))
    names = {code: CodeLabel(code, code) for code in codes}
    cells = (*((code, code, 9) for code in codes), ("code-03", "code-21", 4), ("code-29", "code-00", 1))
    shown = build_matrix(Confusion("one", "other", codes, cells), names)
    assert (len(shown.codes), shown.of) == (MOST_CODES, 30)
    assert {"code-00", "code-03", "code-21", "code-29"} <= {code.label for code in shown.codes}
    heats = {(cell.first.label, cell.second.label): cell.shade for row in shown.rows for cell in row if cell.n}
    assert (heats["code-03", "code-21"], heats["code-29", "code-00"]) == (5, 2)
    whole = list(csv.reader(io.StringIO(reading.get("/rounds/phases/confusion.csv?facet=phase").text)))
    assert sum(int(number) for row in whole[1:] for number in row[1:]) == 24
    assert len(whole) == len(whole[0])


@pytest.mark.browser
def test_agreement_pages_are_accessible_and_fit_a_phone_in_both_themes(
    browser: Browser, study_template: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(study_template, tmp_path / "study"))
    pages = [
        "",
        "rounds/later/agreement",
        "rounds/phases/agreement?facet=phase",
        "rounds/phases/confused?facet=phase&first=data&second=data",
    ]
    with serving(folder) as address:
        state = session_after(f"{address}join/{invited(folder, Role.LEAD)}")
        context = browser.new_context(storage_state=state)
        page = context.new_page()
        complaints = complaints_of(page, address)
        for path in pages:
            page.goto(address + path)
            assert_for_everyone(page)
        assert complaints == []
        context.close()


@pytest.mark.browser
def test_every_table_of_agreement_fits_a_window_of_1280(browser: Browser, tmp_path: Path) -> None:
    study = unrated_study(tmp_path / "study", items=60)
    codes = [f"code-{number}" for number in range(MOST_CODES)]
    entries = [
        f'[[code]]\nid = "{code}"\nfacet = "issue"\nname = "interoperability of exported configurations {code}"\n'
        for code in codes
    ]
    book = 'name = "long"\n[[facet]]\nid = "issue"\nlevels = ["phase", "object"]\n' + "\n".join(entries)
    (study.root / "codebook.toml").write_text(book, "utf-8")
    with open_coding(study) as coding:
        import_codebook(coding)
        open_by_name(coding, "phases", None)
        dice = random.Random(3)
        rate_now(coding, "phases", lambda *_: {"phase": dice.choice(codes), "relevance": "keep"}, dice)
        close_by_name(coding, "phases", None)
    with serving(study.root) as address:
        state = session_after(f"{address}join/{invited(study.root, Role.LEAD)}")
        context = browser.new_context(storage_state=state, viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(f"{address}rounds/phases/agreement")
        page.get_by_role("button", name="View and record it").click()
        page.wait_for_selector(".matrix")
        for table in page.locator(".scroll").all():
            fits = table.evaluate("scroll => scroll.scrollWidth <= scroll.clientWidth")
            assert fits, table.get_attribute("aria-label")
        assert_for_everyone(page)
        context.close()


def test_a_value_that_rounds_to_zero_has_no_minus_sign() -> None:
    assert (format_value(-0.0004), format_value(-0.0006)) == ("0.000", "-0.001")
