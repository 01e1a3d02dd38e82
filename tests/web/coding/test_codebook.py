"""Codebook pages: reading, previewed changes by the lead, and undo."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, StorageState, expect
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, post, signed_in
from tests.support.small_study import ITEMS, small_study
from tests.support.windows import assert_for_everyone, complaints_of, serving, session_after

from quaestor.coding.codebook import change_codebook, import_codebook, read_codebook_version
from quaestor.coding.model.decisions import build_published_act
from quaestor.coding.round_acts import open_by_name
from quaestor.coding.session import open_coding
from quaestor.demo.run import STUDY
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.study.templates import new_study
from quaestor.web.app import make_app


def decided_study(folder: Path) -> Study:
    """Three items are published as loss, one as model setting."""
    study = small_study(folder)
    import_codebook(study)
    codes = ["training/loss", "training/loss", "training/loss", "setting"]
    entries = [{"item": item, "facet": "phase", "answer": code} for item, code in zip(ITEMS, codes, strict=False)]
    with open_coding(study) as coding:
        coding.act(lambda state: build_published_act("printed", coding.lead, "table 2", entries, 1))
        layer = {"id": "training/layer", "facet": "issue", "parent": "training", "name": "layer"}
        change_codebook(coding, "codebook.add", {**layer, "definition": "A <b>layer</b>."})
    return study


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return decided_study(tmp_path_factory.mktemp("codebook") / "study")


@pytest.fixture(scope="module")
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


@pytest.fixture(scope="module")
def lead(app: Starlette, study: Study) -> TestClient:
    return signed_in(app, study.root, Role.LEAD)


def version(study: Study) -> int:
    return read_codebook_version(study, None).version


def preview(lead: TestClient, page: str = "/codebook/history", **fields: str) -> str:
    answer = post(lead, "/codebook/preview", fields, page=page)
    assert answer.status_code == 200, answer.text
    return answer.text


def confirm(lead: TestClient, page: str) -> tuple[int, str, str]:
    """Press the button of a preview: its own hidden fields and nothing else."""
    form = page[page.index('action="/codebook/acts"') :]
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]*)"', form[: form.index("</form>")]))
    answer = lead.post("/codebook/acts", data=fields, headers={"origin": HERE})
    return answer.status_code, answer.headers.get("location", ""), answer.text


def test_the_code_tree_shows_counts_and_a_search_highlights_matches(lead: TestClient) -> None:
    page = lead.get("/codebook").text
    assert "4 decided items" in page
    assert re.search(r'>model training</a><span class="n">3<svg', page)
    found = lead.get("/codebook?q=layer").text
    assert "1 code with" in found
    assert "<mark>layer</mark>" in found
    assert "A &lt;b&gt;<mark>layer</mark>&lt;/b&gt;." in found
    assert "model setting</a>" not in found
    nothing = lead.get("/codebook?q=zebra").text
    assert "No code has “zebra”" in nothing


def test_a_code_page_shows_definition_history_and_a_link_to_its_items(lead: TestClient) -> None:
    page = lead.get("/codebook/code?code=training/loss").text
    assert "how to save layer 1" in page
    assert 'href="/evidence?code=training%2Floss"' in page
    assert "Import 3 codes in 1 facet" in page
    then = lead.get("/codebook/code?code=training&version=1").text
    assert "This is version 1 of" in then
    assert "Change it" not in then
    unknown = lead.get("/codebook/code?code=trainin")
    assert (unknown.status_code, "nearest: training" in unknown.text) == (409, True)


def test_a_merge_is_previewed_confirmed_and_undone(lead: TestClient, study: Study) -> None:
    before = version(study)
    page = preview(lead, act="merge", code="training/loss", into="training/layer")
    assert "Merge “model training › loss” into “model training › layer”" in page
    assert re.search(r"3&nbsp;decided</td><td>model training › loss</td><td>model training › layer</td>", page)
    assert "how to save layer 1" in page
    assert version(study) == before
    status, where, _ = confirm(lead, page)
    assert (status, where) == (303, "/codebook/code?code=training%2Flayer")
    assert read_codebook_version(study, None).codes["training/loss"].into == "training/layer"
    assert "merged into" in lead.get("/codebook/code?code=training/loss").text
    undoing = preview(lead, act="undo", version=str(before + 1))
    assert re.search(r"3&nbsp;decided</td><td>model training › layer</td><td>model training › loss</td>", undoing)
    assert confirm(lead, undoing)[:2] == (303, "/codebook/history")
    assert read_codebook_version(study, None).codes["training/loss"].active
    history = lead.get("/codebook/history").text
    assert "Undo change" in history
    assert "undone</span>" in history


def test_a_preview_is_rejected_and_recomputed_if_the_codebook_changed_meanwhile(lead: TestClient, study: Study) -> None:
    page = preview(lead, act="rename", code="setting", name="layout")
    change_codebook(study, "codebook.rename", {"code": "training", "name": f"training {version(study)}"})
    status, _, again = confirm(lead, page)
    assert status == 409
    assert "The codebook has changed since the preview" in again
    assert read_codebook_version(study, None).codes["setting"].name == "model setting"
    assert confirm(lead, again)[0] == 303
    assert read_codebook_version(study, None).codes["setting"].name == "layout"
    confirm(lead, preview(lead, act="rename", code="setting", name="model setting"))
    confirm(lead, preview(lead, act="rename", code="training", name="model training"))


def test_a_rejected_form_keeps_the_typed_values(lead: TestClient, study: Study) -> None:
    before = version(study)
    fields = {"act": "add", "name": "Loss", "parent": "training", "definition": "as typed", "examples": "one\ntwo"}
    answer = post(lead, "/codebook/preview", fields, page="/codebook/change?act=add")
    assert answer.status_code == 422
    assert "already has the name &#39;loss&#39;" in answer.text
    assert "as typed</textarea>" in answer.text
    assert "one\ntwo</textarea>" in answer.text
    assert '<option value="training" selected>' in answer.text
    assert version(study) == before
    for act in ("merge", "split", "undo", "nonsense", "redefine"):
        answer = post(lead, "/codebook/preview", {"act": act, "code": "training"}, page="/codebook/history")
        assert answer.status_code in (409, 422), act
        assert "Traceback" not in answer.text


def test_every_codebook_change_of_the_command_line_works_on_the_page(lead: TestClient, study: Study) -> None:
    def done(**fields: str) -> None:
        assert confirm(lead, preview(lead, **fields))[0] == 303, fields

    done(act="facet", id="group", title="What is done", levels="group")
    done(act="add", name="make new", facet="group")
    done(act="add", name="Custom head", parent="setting", examples="one\ntwo", **{"across.group": "make-new"})
    head = read_codebook_version(study, None).codes["setting/custom-head"]
    assert (head.examples, head.across, head.parent) == (("one", "two"), {"group": "make-new"}, "setting")
    done(act="redefine", code=head.id, definition="What sits on top.", key="h", colour="#4269d0", examples="one\ntwo")
    done(act="move", code=head.id, parent="training")
    done(act="rename", code=head.id, name="head")
    page = lead.get(f"/codebook/change?act=split&code={head.id}").text
    rows = {"part.name": ["wide", "narrow", ""], "part.id": ["", "n", ""], "part.definition": ["", "thin", ""]}
    data = {"csrf": csrf_in(page), "act": "split", "code": head.id, "otherwise": "1", **rows,
            "items": f"{ITEMS[0]}, wide", "rules": "phase = training = wide"}  # fmt: skip
    shown = lead.post("/codebook/preview", data=data, headers={"origin": HERE}).text
    form = shown[shown.index('action="/codebook/acts"') :]
    sent: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="([^"]+)" value="([^"]*)"', form[: form.index("</form>")]):
        sent.setdefault(name, []).append(value)
    assert lead.post("/codebook/acts", data=sent, headers={"origin": HERE}).status_code == 303
    book = read_codebook_version(study, None)
    rule = book.codes[head.id].split
    assert rule is not None
    assert (rule.otherwise, dict(rule.items)) == ("n", {ITEMS[0]: "training/wide"})
    assert rule.rules == (("phase", "training", "training/wide"),)
    assert book.codes["n"].definition == "thin"
    done(act="retire", code="n")
    assert read_codebook_version(study, None).codes["n"].status == "retired"


def test_the_codebook_can_be_downloaded_and_two_versions_compared(lead: TestClient) -> None:
    file = lead.get("/codebook.toml?version=1")
    assert [code["id"] for code in tomllib.loads(file.text)["code"]] == ["training", "training/loss", "setting"]
    page = lead.get("/codebook/diff?before=1&after=2").text
    assert "model training › layer" in page
    assert "<ins>A &lt;b&gt;layer&lt;/b&gt;.</ins>" in page
    for path in ("/codebook?version=999", "/codebook/diff?before=5&after=999"):
        assert lead.get(path).status_code == 409, path
    assert lead.get("/codebook?version=x").status_code == 404


def test_a_rater_in_an_open_round_sees_definitions_but_no_counts_or_newer_codes(tmp_path: Path) -> None:
    study = decided_study(tmp_path / "study")
    open_by_name(study, "pilot", None)
    change_codebook(study, "codebook.add", {"id": "tellingcode", "facet": "issue", "name": "tellingname"})
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        rater, reader = signed_in(app, study.root, Role.RATER), signed_in(app, study.root, Role.REVIEWER)
        page = rater.get("/codebook").text
        assert "A &lt;b&gt;layer&lt;/b&gt;." in page
        assert "you rate in pilot" in page
        for path in ("/codebook", "/codebook?q=telling", "/codebook/code?code=tellingcode", "/codebook/history",
                     "/codebook/code?code=training/loss", "/codebook?version=3", "/codebook/diff?before=1&after=3",
                     "/codebook/diff", "/codebook.toml", "/codebook.toml?version=3"):  # fmt: skip
            shown = rater.get(path).text
            assert "tellingname" not in shown, path
            assert 'class="n"' not in shown, path
            assert "how to save layer" not in shown, path
        assert 'class="n"' in reader.get("/codebook").text
        assert "tellingname" in reader.get("/codebook/history").text
        assert f"· {study.settings.study.lead} ·" not in reader.get("/codebook/history").text


def test_an_empty_codebook_page_explains_how_to_begin(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead, rater = signed_in(app, study.root, Role.LEAD), signed_in(app, study.root, Role.RATER)
        assert "The lead creates the codebook" in rater.get("/codebook").text
        assert not (study.root / "study.db").exists(), "looking makes no journal"
        begun = post(lead, "/codebook/acts", {"act": "import"}, page="/codebook")
        assert (begun.status_code, begun.headers["location"]) == (303, "/codebook")
        assert "model training" in rater.get("/codebook").text


def test_the_lead_imports_the_file_again_after_a_preview(tmp_path: Path) -> None:
    study = small_study(tmp_path / "study")
    file = study.root / "codebook.toml"
    text = file.read_text("utf-8")
    file.write_text("", "utf-8")
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        lead = signed_in(app, study.root, Role.LEAD)
        post(lead, "/codebook/acts", {"act": "import"}, page="/codebook")
        file.write_text(text, "utf-8")
        page = post(lead, "/codebook/acts", {"act": "import"}, page="/codebook").text
        assert "the file replaces the codebook" in page
        assert confirm(lead, page)[:2] == (303, "/codebook")
        assert "Import codebook.toml</button>" in lead.get("/codebook").text
        assert "nothing to import" in preview(lead, "/codebook", act="import")
        open_by_name(study, "pilot", None)
        file.write_text(text.replace("model training", "fitting"), "utf-8")
        page = preview(lead, "/codebook", act="import")
        assert "Rename “model training” to “fitting”" in page
        assert "recorded as a change" in page
        file.write_text(text.replace("model training", "learning"), "utf-8")
        status, _, again = confirm(lead, page)
        assert status == 409, "the file has changed since the preview"
        assert "to “learning”" in again
        assert confirm(lead, again)[:2] == (303, "/codebook")
        file.write_text(text.replace('"training/loss"', '"training/goal"'), "utf-8")
        refused = post(lead, "/codebook/preview", {"act": "import"}, page="/codebook")
        assert refused.status_code != 200
        assert "keep the id" in refused.text
    assert read_codebook_version(study, None).codes["training"].name == "learning"


@pytest.fixture(scope="module")
def address(study: Study) -> Iterator[str]:
    with serving(study.root) as base:
        yield base


@pytest.fixture(scope="module")
def state(browser: Browser, address: str, study: Study) -> StorageState:
    return session_after(f"{address}join/{invited(study.root, Role.LEAD)}")


def to_preview(page: Page, address: str) -> None:
    page.goto(f"{address}codebook/change?act=merge&code=training/loss")
    page.get_by_label("Merge into").select_option("training/layer")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Apply").wait_for()


@pytest.mark.browser
def test_codebook_pages_are_accessible_and_fit_their_width(browser: Browser, address: str, state: StorageState) -> None:
    context = browser.new_context(storage_state=state)
    page = context.new_page()
    complaints = complaints_of(page, address)
    paths = ("codebook?q=layer", "codebook/code?code=training", "codebook/history",
             "codebook/diff?before=1", "codebook/change?act=split&code=training/loss",
             "codebook/change?act=redefine&code=training/loss", "preview")  # fmt: skip
    for path in paths:
        if path == "preview":
            to_preview(page, address)
        else:
            page.goto(address + path)
        for details in page.locator("details").all()[:3]:
            details.evaluate("element => element.open = true")
        assert_for_everyone(page)
    assert complaints == []
    context.close()


def press(page: Page, role: str, name: str) -> None:
    """Go to something by keyboard and press it."""
    target = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
    for _ in range(80):
        if target.evaluate("element => element === document.activeElement"):
            page.keyboard.press("Enter")
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{name} cannot be reached with Tab")


@pytest.mark.browser
def test_a_lead_merges_and_undoes_by_keyboard_and_a_stale_second_tab_is_rejected(
    browser: Browser, address: str, state: StorageState, study: Study
) -> None:
    context = browser.new_context(storage_state=state, java_script_enabled=False)
    page, other = context.new_page(), context.new_page()
    before = version(study)
    to_preview(other, address)
    page.goto(f"{address}codebook")
    press(page, "link", "model training")
    press(page, "link", "loss")
    press(page, "link", "Merge")
    page.wait_for_url("**act=merge**")
    page.get_by_label("Merge into").focus()
    page.keyboard.type("model training › layer")
    press(page, "button", "Preview")
    expect(page.get_by_role("heading", level=1)).to_contain_text("into “model training › layer”")
    press(page, "button", "Apply")
    page.wait_for_url("**/codebook/code?**")
    assert version(study) == before + 1
    other.get_by_role("button", name="Apply").click()
    expect(other.get_by_role("alert")).to_contain_text("merged into 'training/layer' and cannot be changed")
    assert version(study) == before + 1
    page.goto(f"{address}codebook/history")
    press(page, "button", f"Undo change {before + 1}")
    press(page, "button", "Apply")
    page.wait_for_url("**/codebook/history")
    expect(page.locator(f"#change-{before + 1}")).to_contain_text("undone")
    assert read_codebook_version(study, None).codes["training/loss"].active
    context.close()


def test_the_bundled_codebook_with_hundreds_of_codes_is_a_small_page(tmp_path: Path) -> None:
    new_study(tmp_path / "study", STUDY)
    study = open_study(tmp_path / "study")
    book = import_codebook(study)
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        page = signed_in(app, study.root, Role.LEAD).get("/codebook?open=all")
        assert page.text.count("codebook/code?code=") == len(book.codes) == 303
        sheets = re.findall(r'<link rel="stylesheet" href="([^"]+)"', page.text)
        with signed_in(app, study.root, Role.VIEWER) as reader:
            assert len(page.content) + sum(len(reader.get(sheet).content) for sheet in sheets) < 150_000
