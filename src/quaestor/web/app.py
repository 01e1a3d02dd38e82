"""The application: routes, templates, and the headers every answer carries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from quaestor import __version__
from quaestor.base.clock import Clock, now
from quaestor.base.errors import QuaestorError
from quaestor.base.look import ICON, TOKENS
from quaestor.people.directory import Directory
from quaestor.people.passwords import Passwords
from quaestor.people.roles import Permission
from quaestor.people.tokens import fingerprint
from quaestor.study.codes.room import CodebookRoom
from quaestor.study.desk import answer_in_words, fresh_key
from quaestor.study.erasures import finish_erasures
from quaestor.study.interviews.overview import has_interviews
from quaestor.study.kept_open import KeptOpen
from quaestor.study.people import PEOPLE_FILE
from quaestor.study.results.remaking import Remaking
from quaestor.study.surveys.overview import has_surveys
from quaestor.web.access import Access, Cookie, visitor_of
from quaestor.web.addresses import Addresses
from quaestor.web.agreement_pages import AgreementPages
from quaestor.web.claim_pages import ClaimPages
from quaestor.web.codebook_acts import CodebookActs
from quaestor.web.codebook_pages import CodebookPages
from quaestor.web.coding_pages import CodingPages
from quaestor.web.conduct_pages import ConductPages
from quaestor.web.consent_pages import ConsentPages
from quaestor.web.doors import DoorPages
from quaestor.web.evidence import answer_of, body_of, clean, prepared
from quaestor.web.evidence_pages import EvidencePages
from quaestor.web.facets import Facets
from quaestor.web.funnel_pages import FunnelPages
from quaestor.web.guide_pages import GuidePages
from quaestor.web.headers import SafeHeaders
from quaestor.web.in_vivo_pages import InVivoPages
from quaestor.web.interview_pages import InterviewPages
from quaestor.web.markdown_text import set_markdown
from quaestor.web.name_pages import NamePages
from quaestor.web.page import Pages
from quaestor.web.pay_pages import PayPages
from quaestor.web.people import PeoplePages
from quaestor.web.phrases import PhrasePages
from quaestor.web.places import places
from quaestor.web.published import Published
from quaestor.web.rating import RatingPages, chosen_values, left_in_words
from quaestor.web.refusals import Refusals
from quaestor.web.results_pages import ResultPages
from quaestor.web.rounds import RoundPages
from quaestor.web.settling import SettlingPages
from quaestor.web.study_pages import StudyPages
from quaestor.web.survey_desk import SurveyDeskPages
from quaestor.web.survey_invitations import SurveyInvitationPages
from quaestor.web.survey_pages import RespondentPages
from quaestor.web.survey_results import SurveyResultPages
from quaestor.web.survey_text import language_name, say, set_text, web_links
from quaestor.web.theme_pages import ThemePages
from quaestor.web.thread_pools import ThreadPools
from quaestor.web.ties import TiePages
from quaestor.web.transcript_pages import TranscriptPages

_HERE = Path(str(resources.files("quaestor.web")))
_ERASURES_TRIED_EVERY = 60.0
"""Seconds between two attempts to finish pending erasures."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""A page of this desk answers under these names only, so that no foreign name can be pointed at it."""


def templates() -> Jinja2Templates:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["clean"] = clean
    environment.filters["body_of"] = body_of
    environment.filters["answer_of"] = answer_of
    environment.filters["with_commands"] = with_commands
    environment.filters["set_text"] = set_text
    environment.filters["set_markdown"] = set_markdown
    environment.filters["web_links"] = web_links
    environment.filters["language_name"] = language_name
    environment.filters["say"] = say
    environment.filters["thousands"] = lambda value: "–" if value is None else f"{value:,}"
    environment.globals["url_for"] = Addresses().in_templates
    environment.globals["version"] = __version__
    environment.globals["Permission"] = Permission
    environment.globals["visitor_of"] = visitor_of
    environment.globals["places"] = places
    environment.globals["chosen_values"] = chosen_values
    environment.globals["left_in_words"] = left_in_words
    environment.globals["new_key"] = fresh_key
    environment.globals["facets_of"] = Facets(environment)
    environment.globals["written"] = answer_in_words
    return Jinja2Templates(env=environment)


def with_commands(words: str) -> Markup:
    """A sentence as HTML, what it puts between backticks set as code."""
    pieces = str(escape(words)).split("`")
    if len(pieces) % 2 == 0:
        return escape(words)
    set_apart = (f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return Markup("".join(set_apart))  # noqa: S704 - every piece is escaped


def make_app(
    study: Path,
    clock: Clock = now,
    allowed_hosts: Sequence[str] = (),
    passwords: Passwords | None = None,
    warm: Callable[[], None] = lambda: None,
) -> Starlette:
    """The desk of one study; its people are let go when it ends. `warm` is called when the journal has been read."""
    renderer = templates()
    directory = Directory(study / PEOPLE_FILE)
    cookie = Cookie(f"quaestor-{fingerprint(str(study.resolve()))[:8]}")
    opened = KeptOpen(study, prepared)
    remaking = Remaking(study)
    parts = _pages(opened, renderer, directory, cookie, clock, remaking, warm)
    refusals = Refusals(renderer)
    doors = DoorPages(study, directory, passwords or Passwords(), cookie, clock, renderer)

    def let_go() -> None:
        for part in parts:
            part.close()
        opened.close()
        directory.close()

    @asynccontextmanager
    async def lasting(app: Starlette) -> AsyncIterator[None]:
        for part in parts:
            part.begin()
        await run_in_threadpool(finish_erasures, study)
        trying = asyncio.create_task(_finish_erasures_later(study))
        yield
        trying.cancel()
        let_go()

    app = Starlette(
        routes=[*(route for part in parts for route in part.routes()), *_routes_of(doors), *_files_of(study, opened)],
        middleware=[
            Middleware(SafeHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=[*LOCAL_HOSTS, *allowed_hosts], www_redirect=False),
            Middleware(Access, directory=directory, cookie=cookie, clock=clock, refusals=refusals),
            Middleware(ThreadPools),
        ],
        lifespan=lasting,
        exception_handlers={
            HTTPException: refusals.failed,
            QuaestorError: refusals.failed,
            OSError: refusals.not_written,
            Exception: refusals.broke,
        },
    )
    app.state.remaking = remaking
    app.state.has_surveys = lambda: _asks_people(opened)
    app.state.has_interviews = lambda: _talks_with_people(opened)
    app.state.let_go = let_go
    app.state.prepare = opened.prepare
    return app


def _pages(
    opened: KeptOpen,
    renderer: Jinja2Templates,
    directory: Directory,
    cookie: Cookie,
    clock: Clock,
    remaking: Remaking,
    warm: Callable[[], None],
) -> list[Pages]:
    """Every page there is, one object a subject."""
    codebook = CodebookRoom(opened)
    return [
        RatingPages(opened, renderer, warm),  # asked for most often, so found first
        CodingPages(opened, renderer),
        RespondentPages(opened, renderer, clock),
        StudyPages(opened, renderer),
        AgreementPages(opened, renderer),
        EvidencePages(opened, renderer, directory, clock),
        FunnelPages(opened, renderer),
        RoundPages(opened, renderer),
        SettlingPages(opened, renderer),
        TiePages(opened, renderer),
        PhrasePages(opened, renderer),
        PeoplePages(opened, renderer, clock),
        CodebookPages(opened, renderer, codebook),
        CodebookActs(opened, renderer, codebook),
        ResultPages(opened, renderer, remaking),
        SurveyDeskPages(opened, renderer),
        SurveyInvitationPages(opened, renderer),
        SurveyResultPages(opened, renderer),
        ClaimPages(opened, renderer, cookie),
        PayPages(opened, renderer),
        InVivoPages(opened, renderer),
        InterviewPages(opened, renderer),
        GuidePages(opened, renderer),
        ConsentPages(opened, renderer, clock),
        TranscriptPages(opened, renderer),
        ThemePages(opened, renderer),
        NamePages(opened, renderer),
        ConductPages(opened, renderer),
    ]


def _routes_of(doors: DoorPages) -> list[BaseRoute]:
    return [
        Route("/sign-in", doors.sign_in, methods=["GET", "POST"], name="sign-in"),
        Route("/join/{token}", doors.join, methods=["GET", "POST"], name="join"),
        Route("/sign-out", doors.sign_out, methods=["POST"], name="sign-out"),
        Route("/sign-out-everywhere", doors.sign_out_everywhere, methods=["POST"], name="sign-out-everywhere"),
        Route("/me", doors.me, name="me"),
    ]


def _files_of(study: Path, opened: KeptOpen) -> list[BaseRoute]:
    return [
        Route("/health", _health, name="health"),
        Route("/static/tokens.css", _tokens, name="tokens"),
        Route("/static/mark.svg", _icon, name="icon"),
        Mount("/static", StaticFiles(directory=_HERE / "static"), name="static"),
        Mount("/report", Published(study, "report", opened), name="report"),
        Mount("/handbook", Published(study, "handbook", opened), name="handbook"),
    ]


def _asks_people(opened: KeptOpen) -> bool:
    """Whether the study has surveys; where its file cannot be read, the page itself says so."""
    try:
        return has_surveys(opened.latest)
    except QuaestorError:
        return False


def _talks_with_people(opened: KeptOpen) -> bool:
    """The same of interviews."""
    try:
        return has_interviews(opened.latest)
    except QuaestorError:
        return False


async def _finish_erasures_later(study: Path) -> None:
    """Finish what a program that read a file kept us from erasing, however quiet the desk is."""
    while True:
        await asyncio.sleep(_ERASURES_TRIED_EVERY)
        await run_in_threadpool(finish_erasures, study)


async def _tokens(request: Request) -> Response:
    return FileResponse(TOKENS, media_type="text/css")


async def _icon(request: Request) -> Response:
    return FileResponse(ICON, media_type="image/svg+xml")


async def _health(request: Request) -> Response:
    return HTMLResponse("ok")
