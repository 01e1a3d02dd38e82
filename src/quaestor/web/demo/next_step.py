"""The next step of a visitor of the demo, shown on the demo page and on every page of its desks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from quaestor.base.names import count_of

if TYPE_CHECKING:
    from quaestor.demo.folder import JoinLinks
    from quaestor.demo.progress import DemoProgress


@dataclass(frozen=True)
class VisitorStep:
    """What a visitor does next, and where."""

    words: str
    path: str


@dataclass(frozen=True)
class VisitorProgress:
    """What a visitor has done so far; links are None once they are used."""

    links: JoinLinks | None = None
    left: tuple[tuple[str, int], ...] = ()
    """The visitor's round with the number of posts that are not rated; empty once all are."""
    survey_answered: bool = False
    interview_link: str | None = None
    """The unused link to the desk of the interviews."""


def choose_next_step(demo: DemoProgress, visitor: VisitorProgress, interviews: str) -> VisitorStep | None:
    """Returns the first thing that the visitor has not done; none if the demo stopped or has no desk yet.

    `interviews` is the path of the desk of the interviews.
    """
    links = visitor.links
    if demo.failure or links is None:
        return None
    if links.visitor:
        return VisitorStep("Join as a visitor", f"/join/{links.visitor}")
    for name, left in visitor.left:
        return VisitorStep(f"Rate {count_of(left, 'post')}", f"/rounds/{name}/rate")
    if demo.survey and not visitor.survey_answered:
        return VisitorStep("Answer the survey", f"/s/{demo.survey}")
    if links.lead:
        return VisitorStep("Sign in as the lead and see the whole study", f"/join/{links.lead}")
    if visitor.interview_link:
        return VisitorStep("Sign in as the lead of the interviews", f"{interviews}/join/{visitor.interview_link}")
    if demo.is_running:
        return VisitorStep("Follow the remaining steps until the report is built", "/demo#steps-heading")
    return VisitorStep("Read the report", "/report/")
