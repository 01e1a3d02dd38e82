"""The desk for a study with posts, open answers and interviews: every link works, and searches find their strand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.support.command_line import quaestor
from tests.support.crawling import crawl
from tests.support.desk import closing_app, signed_in
from tests.support.mixed_study import ANSWERS, TURNS, decide_all, mixed_study

from quaestor.evidence.sources.protocol import no_progress
from quaestor.evidence.text_index import build_index
from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.web.app import make_app


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Study:
    study = mixed_study(tmp_path_factory.mktemp("mixed"))
    decide_all(study)
    for strand in study.in_each_strand():
        build_index(strand, no_progress)
    return study


@pytest.fixture(scope="module")
def lead(decided: Study) -> Iterator[TestClient]:
    with closing_app(make_app(decided.root)) as app:
        yield signed_in(app, decided.root, Role.LEAD)


@pytest.mark.parametrize("role", [Role.LEAD, Role.RATER])
def test_no_link_leads_to_an_error_while_the_rounds_are_open(tmp_path: Path, role: Role) -> None:
    study = mixed_study(tmp_path)
    assert find_errors(study, role) == {}


@pytest.mark.parametrize("role", [Role.LEAD, Role.RATER])
def test_no_link_leads_to_an_error_when_the_rounds_are_decided(decided: Study, role: Role) -> None:
    assert find_errors(decided, role) == {}


def find_errors(study: Study, role: Role) -> dict[str, str]:
    with closing_app(make_app(study.root)) as app:
        pages = dict(crawl(app, signed_in(app, study.root, role), start=["/"]))
    assert len(pages) > 15
    fine = ("200", "303", "405")  # the address of a form has no page
    return {address: text for address, text in pages.items() if text[:3] not in fine}


def found_items(page: str) -> list[str]:
    return re.findall(r'/evidence/item\?item=([^"&]+)"', page)


@pytest.mark.parametrize(
    ("query", "strand", "count"),
    [
        ("round=interviews", TURNS, 4),
        ("round=answers", ANSWERS, 2),
        ("code=passages:layers", TURNS, 4),
        ("code=topics:layers", ANSWERS, 2),
        ("code=topic:layers", "forum", 1),
        ("round=posts", "forum", 2),
        ("step=long+posts", "forum", 2),
        (f"strand={TURNS}&words=Zebra*", TURNS, 1),
        (f"strand={TURNS}&code=layers", TURNS, 4),
    ],
)
def test_a_search_for_a_round_or_a_decision_shows_the_strand_of_its_items(
    lead: TestClient, query: str, strand: str, count: int
) -> None:
    page = lead.get(f"/evidence?{query}")
    items = set(found_items(page.text))
    assert len(items) == count
    assert all(item.startswith(strand) for item in items)
    exported = lead.get(f"/evidence.csv?{query}").text
    assert len(exported.strip().splitlines()) == count + 1


def test_the_tabs_of_the_strands_keep_words_and_code(lead: TestClient) -> None:
    page = lead.get("/evidence?code=passages:layers&round=interviews&words=model").text
    [tabs] = re.findall(r'<nav class="tabs".*?</nav>', page)
    assert re.findall(r'href="/evidence\?([^"]+)"', tabs) == [
        "words=model&amp;code=layers",
        f"strand={ANSWERS}&amp;words=model&amp;code=layers",
        f"strand={TURNS}&amp;words=model&amp;code=layers",
    ]
    assert re.findall(r'aria-current="page">(\w+)', tabs) == [TURNS]


def test_the_command_line_finds_the_strand_of_a_round(decided: Study) -> None:
    done = quaestor("items", "--round", "interviews", "--code", "layers", cwd=decided.root)
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == [
        "turns:P1/00001", "turns:P1/00003", "turns:P2/00001", "turns:P2/00003",
    ]  # fmt: skip
