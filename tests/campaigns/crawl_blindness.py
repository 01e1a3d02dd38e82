"""Crawl two studies that differ only in what one rater said: a page that differs between them is a leak.

python -m tests.campaigns.crawl_blindness [--most 450]

Each stage of a round is crawled as each role that must not know that rater's answers yet. A stage in which a role may
know them is crawled as well: there the two studies have to differ, which proves that the crawl would notice a leak.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.support.crawling import MOST_PAGES, crawl
from tests.support.desk import QUICK, browser, closing_app, invited, join
from tests.support.settling import settle_with_assents
from tests.support.small_study import ITEMS, small_study

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import list_disagreement_rows
from quaestor.coding.rating_files import rate, record_view
from quaestor.coding.round_acts import close_by_name, open_by_name, reopen_by_name
from quaestor.coding.session import open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.text_index import build_index
from quaestor.people.credentials import Passwords
from quaestor.people.roles import Role
from quaestor.study.folder import Study, open_study
from quaestor.web.app import make_app

LEAD, FIRST, SECOND, BREAKER = "head-of-study", "rater-1", "rater-2", "tie-breaker"
VISITORS: dict[str, tuple[Role, str]] = {
    "lead": (Role.LEAD, LEAD),
    "interviewer": (Role.INTERVIEWER, "interviewer"),
    "reviewer": (Role.REVIEWER, "journal"),
    "payer": (Role.PAYER, "payer"),
    "rater": (Role.RATER, FIRST),
    "viewer": (Role.VIEWER, "reader"),
    "tie-breaker": (Role.TIE_BREAKER, BREAKER),
}
"""In the order of their names: accounts made within one second are listed by name, so both studies list them alike."""
TWINS = ({"relevance": "keep"}, {"relevance": "exclude: installation"})
"""What the second rater says about every other item: the only difference between the two studies."""
CHANGING = re.compile(
    r"[0-9a-f]{32,64}|nonce-[\w+/=-]+|'(?:etag|content-length|set-cookie)': '[^']*'"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:\+00:00|Z)?"
)
"""Tokens, keys and times, which differ between any two studies."""


@dataclass(frozen=True)
class Stage:
    """One moment in the life of a round, and which visitors must not know the second rater's answers then."""

    name: str
    reach: Callable[[Study, dict[str, str]], object]
    blind: Sequence[str]
    informed: Sequence[str] = ()
    """Who may know them; the crawl has to find a difference as one of these."""


def _rate(study: Study, rater: str, items: Sequence[str], answers: dict[str, str], memo: str = "") -> None:
    with open_coding(study) as coding:
        for item in items:
            rate(coding, "main", rater, item, answers, memo=memo, seconds=5)


def _open(study: Study, answers: dict[str, str]) -> None:
    open_by_name(study, "main", None)
    _rate(study, SECOND, ITEMS[1::2], TWINS[0])
    _rate(study, SECOND, ITEMS[::2], answers, memo=f"because {answers['relevance']}")
    _rate(study, FIRST, ITEMS[1:2], TWINS[0])  # no disagreement: the tie-breaker has nothing to see yet


def _look(study: Study, answers: dict[str, str]) -> None:
    with open_coding(study) as coding:
        record_view(coding, "main", LEAD)


def _rate_the_rest(study: Study, answers: dict[str, str]) -> None:
    _rate(study, FIRST, [ITEMS[0], *ITEMS[2:]], {"relevance": "exclude: crash"})
    close_by_name(study, "main", None)


def _settle(study: Study, answers: dict[str, str]) -> None:
    for case in list_disagreement_rows(study, "main", None, open_only=True, item=None, answer=None):
        settle_with_assents(study, "main", FIRST, case["item"], "relevance", "keep", "discussion", "")


EVERYBODY = tuple(VISITORS)
READERS = ("viewer", "reviewer", "payer", "interviewer")
STAGES = (
    Stage("open", _open, EVERYBODY),
    Stage("closed as incomplete", lambda study, _: close_by_name(study, "main", None, "they stopped"), EVERYBODY),
    Stage("reopened", lambda study, _: reopen_by_name(study, "main", None, "they go on"), EVERYBODY),
    Stage("complete, disagreements open", _rate_the_rest, ("rater", *READERS), ("tie-breaker",)),
    Stage("seen by the lead", _look, ("rater", *READERS), ("lead",)),
    Stage(
        "reopened as not blind",
        lambda study, _: reopen_by_name(study, "main", None, "once more", not_blind=True),
        ("rater", "tie-breaker", *READERS),
    ),
    Stage("final", lambda study, _: close_by_name(study, "main", None, final=True), ("rater", *READERS), ("lead",)),
    Stage("settled", _settle, ("payer", "interviewer"), ("viewer", "reviewer")),
)


@dataclass(frozen=True)
class Crawled:
    """What one visitor found at one stage."""

    stage: str
    visitor: str
    pages: int
    leaks: tuple[str, ...]
    """Addresses that differ between the two studies although the visitor must not know."""
    errors: tuple[str, ...]
    """Addresses that the server failed on."""
    is_blind_crawl: bool = True

    @property
    def succeeded(self) -> bool:
        """Whether the attack did: something leaked or broke, or the crawl would not have noticed."""
        return bool(self.errors) or bool(self.leaks) == self.is_blind_crawl


def crawl_stages(folder: Path, stages: Sequence[Stage] = STAGES, most: int = MOST_PAGES) -> Iterator[Crawled]:
    """Take both studies through all stages; crawl those that are asked for."""
    studies = [_make(folder / name) for name in ("one", "two")]
    with ExitStack() as stack:
        apps = [stack.enter_context(closing_app(make_app(study.root, passwords=Passwords(QUICK)))) for study in studies]
        visitors = {
            name: [_join(app, study, role, account) for app, study in zip(apps, studies, strict=True)]
            for name, (role, account) in VISITORS.items()
        }
        for stage in STAGES:
            for study, answers in zip(studies, TWINS, strict=True):
                stage.reach(study, answers)
            if stage not in stages:
                continue
            for name in (*stage.blind, *stage.informed):
                twins = list(zip(apps, visitors[name], strict=True))
                pages, differing, errors = _compare(folder, twins, most)
                yield Crawled(stage.name, name, pages, differing, errors, name in stage.blind)


def _make(folder: Path) -> Study:
    small_study(folder)
    file = folder / "study.toml"
    text = file.read_text("utf-8").replace('name = "small"', f'name = "small"\nlead = "{LEAD}"', 1)
    file.write_text(text.replace('after = "pilot"\n', ""), "utf-8")
    study = open_study(folder)
    run_funnel(study)
    import_codebook(study)
    build_index(study, lambda *_: None)  # in the background it would be ready for one of the two first
    return study


def _join(app: Starlette, study: Study, role: Role, name: str) -> TestClient:
    visitor = browser(app)
    join(visitor, invited(study.root, role, name))
    visitor.follow_redirects = True
    return visitor


def _compare(
    folder: Path, twins: Sequence[tuple[Starlette, TestClient]], most: int
) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    first, second = ({address: _normalise(folder, text) for address, text in crawl(*twin, most)} for twin in twins)
    differing = {address for address in first.keys() | second.keys() if first.get(address) != second.get(address)}
    errors = tuple(address for twin in (first, second) for address, text in twin.items() if text.startswith("5"))
    return len(first), tuple(sorted(differing)), errors


def _normalise(folder: Path, text: str) -> str:
    return CHANGING.sub("", text).replace(str(folder / "one"), "").replace(str(folder / "two"), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=MOST_PAGES, help="pages per visitor and stage")
    options = parser.parse_args()
    succeeded = False
    with tempfile.TemporaryDirectory() as folder:
        for crawled in crawl_stages(Path(folder), most=options.most):
            outcome = "leaks" if crawled.is_blind_crawl else "differences, as they should"
            print(f"{crawled.stage}, {crawled.visitor}: {crawled.pages} pages, {len(crawled.leaks)} {outcome}")
            for address in (*crawled.leaks[:5], *crawled.errors) if crawled.succeeded else ():
                print(f"    {address}")
            succeeded |= crawled.succeeded
    return 1 if succeeded else 0


if __name__ == "__main__":
    sys.exit(main())
