"""Funnel pages: content, errors and harmless evidence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.desk import signed_in

from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.study.folder import open_study
from quaestor.study.templates import new_study
from quaestor.web.app import make_app
from quaestor.web.html.evidence import clean

STUDY = """
[study]
name = "hostile"
title = "A <b>bold</b> title"
[sources.so]
kind = "stackexchange"
path = "dump"
site = "stackoverflow"
[[funnel.steps]]
step = "scored <script>alert(1)</script>"
score_at_least = 1
"""

HOSTILE_BODY = (
    "<p onclick='alert(1)'>Hello <script>alert(2)</script><img src=x onerror=alert(3)>"
    "<a href='javascript:alert(4)'>one</a> <a href='https://example.org'>two</a>"
    "<iframe src='https://example.org'></iframe><style>body{display:none}</style></p><pre><code>&lt;b&gt;</code></pre>"
)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = new_study(tmp_path_factory.mktemp("web") / "study", "blank")
    (folder / "study.toml").write_text(STUDY)
    (folder / "dump").mkdir()
    rows = "".join(
        f'<row Id="{number}" PostTypeId="1" Score="{number % 2}" ViewCount="{number * 1000}" '
        f'CreationDate="2020-01-01T00:00:00.000" Title="{escaped(f"<i>Title</i> {number}")}" '
        f'Tags="|a|b|" Body="{escaped(HOSTILE_BODY)}" />\n'
        for number in range(1, 131)
    )
    (folder / "dump" / "Posts.xml").write_text(f"<posts>{rows}</posts>")
    study = open_study(folder)
    ingest_source(study, "so")
    run_funnel(study)
    with signed_in(make_app(folder), folder) as opened:
        yield opened


def test_the_funnel_page_shows_every_step_with_numbers_and_examples(client: TestClient) -> None:
    page = client.get("/funnel").text
    assert "A &lt;b&gt;bold&lt;/b&gt; title" in page
    assert "scored &lt;script&gt;" in page
    assert ">130<" in page
    assert ">65<" in page
    assert page.count('class="post"') == 10


def test_evidence_cannot_run_scripts_load_resources_or_set_styles(client: TestClient) -> None:
    page = client.get("/funnel").text
    for harm in ("<script", "onerror", "onclick", "javascript:", "<iframe", "<style", "<img", "alert(2)"):
        assert harm not in page.replace("scored &lt;script&gt;", "")
    assert 'rel="nofollow noopener noreferrer"' in page
    assert "<code>&lt;b&gt;</code>" in page


def test_every_response_has_security_headers(client: TestClient) -> None:
    for path in ("/", "/steps/1/kept", "/nowhere", "/static/tokens.css", "/funnel.svg", "/health"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"


def test_pages_have_no_inline_scripts_or_styles_and_load_nothing_external(client: TestClient) -> None:
    for path in ("/", "/steps/1/kept", "/nowhere"):
        page = client.get(path).text
        assert "<script" not in page
        assert " style=" not in page
        assert 'src="http' not in page
        assert '<link rel="stylesheet" href="http' not in page


def test_a_number_of_the_funnel_opens_its_items_in_pages(client: TestClient) -> None:
    first = client.get("/steps/1/dropped").text
    assert first.count('class="post"') == 50
    assert "stackoverflow/question/2<" in first
    assert "1 to 50 of 65" in first
    assert "51 to 65 of 65" in client.get("/steps/1/dropped?page=2").text
    assert "No items here" in client.get("/steps/1/dropped?page=9").text


@pytest.mark.parametrize(
    "path",
    [
        "/steps/2/kept",
        "/steps/0/kept",
        "/steps/1/other",
        "/steps/1/kept?page=x",
        "/steps/1/kept?page=-1",
        "/x",
        "/static/nowhere.css",
    ],
)
def test_an_unknown_page_is_not_found(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "There is no such page" in answer.text or path.startswith("/static")


def test_an_unknown_host_name_is_rejected(client: TestClient) -> None:
    assert client.get("/", headers={"host": "evil.example"}).status_code == 400


def test_the_funnel_figure_is_an_svg_with_a_text_alternative(client: TestClient) -> None:
    answer = client.get("/funnel.svg")
    assert answer.headers["content-type"].startswith("image/svg+xml")
    assert "<desc" in answer.text
    assert "65 (50.0% kept, 65 dropped)" in answer.text
    assert "<script" not in answer.text


def test_a_study_without_a_funnel_shows_what_to_do(tmp_path: Path) -> None:
    folder = new_study(tmp_path / "new", "dl-implementation-issues")
    with signed_in(make_app(folder), folder) as fresh:
        page = fresh.get("/")
        assert page.status_code == 200
        assert "The funnel has not run yet" in page.text
        assert fresh.get("/funnel.svg").status_code == 409
        (folder / "study.toml").write_text("[study")
        broken = fresh.get("/")
        assert broken.status_code == 409
        assert "is not valid TOML" in broken.text


def test_cleaning_keeps_formatting_code_and_lists() -> None:
    kept = clean("<p>a <strong>b</strong></p><pre><code>x = 1\n</code></pre><ul><li>c</li></ul>")
    assert kept == "<p>a <strong>b</strong></p><pre><code>x = 1\n</code></pre><ul><li>c</li></ul>"
