"""No route or export shows hidden answers or names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.command_line import quaestor
from tests.support.crawling import crawl
from tests.support.desk import HERE, QUICK, closing_app, csrf_in, invited, join
from tests.support.desk import browser as visitor
from tests.support.settling import settle_with_assents
from tests.support.small_study import ITEMS, small_study

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import break_tie, comment_on_item, settle_agreed
from quaestor.coding.rating_files import rate
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name, waive_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

TELLING = "tellingmemo"
NAMES = ("head-of-study", "rater-1", "rater-2", "the-breaker")


@pytest.fixture
def study(request: pytest.FixtureRequest, tmp_path: Path) -> Study:
    """Rater-2 has said everything in a blind round, rater-1 half of it; a test may say who leads."""
    lead = getattr(request, "param", "head-of-study")
    folder = tmp_path / "study"
    small_study(folder)
    text = (folder / "study.toml").read_text("utf-8")
    text = text.replace('name = "small"', f'name = "small"\nlead = "{lead}"', 1).replace(
        'tie_breaker = "tie-breaker"', 'tie_breaker = "the-breaker"'
    )
    (folder / "study.toml").write_text(text, "utf-8")
    study = open_study(folder)
    run_funnel(study)
    import_codebook(study)
    open_by_name(study, "pilot", None)
    close_by_name(study, "pilot", None, "none is needed")
    waive_by_name(study, "pilot", None, "none is needed")
    open_by_name(study, "main", None)
    give(study, "rater-2", ITEMS)
    give(study, "rater-1", ITEMS[::2])
    return study


def give(study: Study, rater: str, items: list[str]) -> None:
    with open_coding(study) as coding:
        for item in items:
            said = "exclude: installation" if rater == "rater-2" else "keep"
            memo = TELLING if rater == "rater-2" else ""
            rate(coding, "main", rater, item, {"relevance": said}, memo=memo, seconds=7777.5 if memo else 5)


@pytest.fixture
def app(study: Study) -> Iterator[Starlette]:
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as opened:
        yield opened


def seated(app: Starlette, study: Study, role: Role, name: str | None = None) -> TestClient:
    opened = visitor(app)
    join(opened, invited(study.root, role, name))
    opened.follow_redirects = True
    return opened


@pytest.mark.parametrize(
    ("role", "name"),
    [(Role.RATER, "rater-1"), (Role.TIE_BREAKER, "the-breaker"), (Role.LEAD, "head-of-study"), (Role.VIEWER, None),
     (Role.REVIEWER, None), (Role.INTERVIEWER, "rater-1")],
)  # fmt: skip
def test_no_page_shows_answers_of_an_open_blind_round(
    app: Starlette, study: Study, role: Role, name: str | None
) -> None:
    opened = seated(app, study, role, name)
    pages = 0
    for address, said in crawl(app, opened):
        pages += 1
        assert TELLING not in said, address
        assert "7777.5" not in said, address
        assert "rater-2" not in said or role in (Role.LEAD, Role.VIEWER), address
    assert pages > 20
    assert unblinded(study) == [], "looking around is no look at the ratings"


@pytest.mark.parametrize("study", ["rater-1"], indirect=True)
def test_a_lead_who_rates_sees_no_answers_of_others_in_an_open_blind_round(app: Starlette, study: Study) -> None:
    opened = seated(app, study, Role.LEAD, "rater-1")
    pages = 0
    for address, said in crawl(app, opened):
        pages += 1
        assert TELLING not in said, address
        assert "7777.5" not in said, address
    assert pages > 20
    assert unblinded(study) == [], "looking around is no look at the ratings"


@pytest.mark.parametrize("study", ["rater-1"], indirect=True)
@pytest.mark.parametrize("role", [Role.LEAD, Role.RATER])
def test_raters_of_a_closed_round_see_answers_only_after_a_confirmed_view(
    app: Starlette, study: Study, role: Role
) -> None:
    close_by_name(study, "main", None, "rater-1 stopped")
    opened = seated(app, study, role, "rater-2" if role is Role.RATER else "rater-1")
    read = ""
    for address, said in crawl(app, opened):
        assert role is Role.RATER or TELLING not in said, address
        read += said
    assert "reopened only as not blind" in read, "but they are asked whether they look"
    assert unblinded(study) == [], "no page is a look by itself"
    reopen_by_name(study, "main", None, "rater-1 goes on")


@pytest.mark.parametrize(
    ("role", "name"), [(Role.LEAD, "head-of-study"), (Role.VIEWER, None), (Role.REVIEWER, None), (Role.PAYER, None)]
)
def test_no_page_shows_answers_of_a_closed_round_that_can_be_reopened(
    app: Starlette, study: Study, role: Role, name: str | None
) -> None:
    close_by_name(study, "main", None, "rater-1 stopped")
    for address, said in crawl(app, seated(app, study, role, name)):
        assert TELLING not in said, address
    assert unblinded(study) == [], "looking around is no look at the ratings"
    reopen_by_name(study, "main", None, "rater-1 goes on")


def unblinded(study: Study) -> list[str]:
    with open_coding(study) as coding:
        return coding.state.round("main").unblinded


def answered_to_rater_1(study: Study) -> dict[str, str]:
    """All that rater-1 is answered, by page, by script and on the command line, without what differs by chance."""
    said = {}
    with closing_app(make_app(study.root, passwords=Passwords(QUICK))) as app:
        opened = seated(app, study, Role.RATER, "rater-1")
        csrf = csrf_in(opened.get("/rounds/main/rate").text)
        headers = {"origin": HERE, "x-csrf-token": csrf}
        record = {"item": ITEMS[1], "answers": {"relevance": "keep"}, "key": "first", "rater": "rater-1"}
        for name, sent in {
            "saved": record,
            "saved again": record,
            "the key once more": {**record, "answers": {"relevance": "exclude: crash"}},
            "changed": {**record, "answers": {"relevance": "exclude: crash"}, "key": "second"},
            "refused": {**record, "item": "forum/question/none", "key": "third"},
        }.items():
            answer = opened.post("/rounds/main/ratings", json=sent, headers=headers)
            said[name] = f"{answer.status_code} {dict(answer.headers)} {answer.text}"
        said |= dict(crawl(app, opened))
    for number, more in enumerate([("--json",), ()]):
        arguments = ("ratings", "give", "main", ITEMS[3 + 2 * number], "relevance=keep", "--as", "rater-1", *more)
        done = quaestor(*arguments, cwd=study.root)
        assert done.returncode == 0, done.stderr
        said[f"give {more}"] = done.stdout + done.stderr
    by_chance = r"20\d\d-\d\d-\d\d[T ][0-9:.+]+|[A-Za-z0-9_-]{32,}|'content-length': '\d+'|\d+ s an item[^<]*"
    return {name: re.sub(by_chance, "…", text) for name, text in said.items()}


def test_responses_to_a_rater_do_not_depend_on_the_number_of_acts_of_others(tmp_path: Path) -> None:
    studies = []
    for name, others in (("quiet", 1), ("busy", len(ITEMS))):
        study = small_study(tmp_path / name)
        run_funnel(study)
        import_codebook(study)
        open_by_name(study, "pilot", None)
        close_by_name(study, "pilot", None, "none is needed")
        waive_by_name(study, "pilot", None, "none is needed")
        open_by_name(study, "main", None)
        give(study, "rater-2", ITEMS[:others])
        give(study, "rater-1", ITEMS[:1])
        studies.append(answered_to_rater_1(study))
    quiet, busy = studies
    assert quiet.keys() == busy.keys()
    assert [(name, text, busy[name]) for name, text in quiet.items() if busy[name] != text] == []


def test_a_case_does_not_reveal_how_many_acts_a_study_has(app: Starlette, study: Study) -> None:
    close_by_name(study, "main", None, "rater-1 stopped")
    settle_with_assents(study, "main", "rater-1", ITEMS[0], "relevance", "keep", "discussion", "so be it")
    rater = seated(app, study, Role.RATER, "rater-1")
    page = rater.get(f"/rounds/main/disagreements?item={ITEMS[0]}&facet=relevance").text
    assert re.findall(r'name="seen" value="(\d+)"', page) == ["1"], "decisions of the case, not acts of the study"


def test_a_tie_breaker_sees_no_names_before_the_last_case_is_settled(app: Starlette, study: Study) -> None:
    close_by_name(study, "main", None, "rater-1 stopped")
    comment_on_item(study, "main", "rater-2", ITEMS[0], "relevance", f"I, rater-2, say so: {TELLING}")
    opened = seated(app, study, Role.TIE_BREAKER, "the-breaker")
    read = ""
    for address, said in crawl(app, opened):
        assert TELLING not in said, address
        assert "rater-1" not in said, address
        assert "rater-2" not in said, address
        read += said
    assert "installation" in read, "but the answers in dispute are shown"


def test_a_reviewer_never_sees_names(app: Starlette, study: Study) -> None:
    close_by_name(study, "main", None, "rater-1 stopped")
    settle_agreed(study, "main", None)
    for item in ITEMS[::2]:
        comment_on_item(study, "main", "rater-1", item, "relevance", "as rater-2 wrote, and the-breaker too")
        break_tie(study, "main", "the-breaker", item, "relevance", "keep", "")
        settle_with_assents(study, "main", None, item, "relevance", "keep", "together", "head-of-study said so")
    opened = seated(app, study, Role.REVIEWER)
    read = ""
    for address, said in crawl(app, opened):
        for name in NAMES:
            assert name not in said, (address, name)
        read += said
    assert "together" in read, "but how it was decided is told"
