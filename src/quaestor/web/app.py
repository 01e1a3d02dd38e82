"""The web application: routes, templates and middleware."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from importlib import resources
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from quaestor import __version__
from quaestor.base.clock import Clock, now
from quaestor.base.errors import QuaestorError
from quaestor.base.names import count_of
from quaestor.coding.model.ratings import count_work
from quaestor.coding.pages.activity import list_own_rounds
from quaestor.coding.pages.codebook.browser import CodebookBrowser
from quaestor.coding.pages.rating_sheet import build_form_key
from quaestor.interviews.overview import has_interviews
from quaestor.people.credentials import Passwords, hash_token
from quaestor.people.directory import Directory
from quaestor.people.membership import PEOPLE_FILE
from quaestor.people.roles import Permission
from quaestor.publication.rebuild_jobs import RebuildJobs
from quaestor.render.design_tokens import ICON, TOKENS
from quaestor.store.erasure import finish_erasures
from quaestor.study.folder import Study
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.pages.overview import has_surveys
from quaestor.web.coding.agreement import AgreementPages
from quaestor.web.coding.codebook import CodebookActs, CodebookPages
from quaestor.web.coding.disagreements import SettlingPages, TiePages
from quaestor.web.coding.phrases import PhrasePages
from quaestor.web.coding.rating import FacetRenderer, RatingPages, describe_time_left
from quaestor.web.coding.rounds import RoundPages
from quaestor.web.desk_address import RUN_HEADER
from quaestor.web.error_pages import ErrorPages
from quaestor.web.evidence.funnel_pages import FunnelPages
from quaestor.web.html.evidence import answer_of, body_of, clean, prepare_item
from quaestor.web.html.texts import language_name, say, set_markdown, set_text, web_links, with_commands
from quaestor.web.interviews.coding import CodedRoundPages, CodingPages
from quaestor.web.interviews.conduct import ConductPages
from quaestor.web.interviews.consent import ConsentPages
from quaestor.web.interviews.names import NamePages
from quaestor.web.interviews.pages import GuidePages, InterviewPages
from quaestor.web.interviews.themes import ThemePages
from quaestor.web.interviews.transcripts import TranscriptPages
from quaestor.web.navigation import Addresses, navigation_entries
from quaestor.web.page import Pages
from quaestor.web.people.pages import PeoplePages, SignInPages
from quaestor.web.publication.pages import PublishedFolder, ResultPages
from quaestor.web.search.pages import EvidencePages
from quaestor.web.security.access import Access, Cookie, visitor_of
from quaestor.web.security.headers import SecurityHeaders
from quaestor.web.study.help_pages import HelpPages
from quaestor.web.study.pages import StudyPages
from quaestor.web.study_session import StudySession
from quaestor.web.surveys.desk import SurveyDeskPages, SurveyInvitationPages
from quaestor.web.surveys.payment import ClaimPages, PayPages
from quaestor.web.surveys.respond import RespondentPages
from quaestor.web.surveys.results import SurveyResultPages
from quaestor.web.thread_pools import ThreadPools

_HERE = Path(str(resources.files("quaestor.web")))
_ERASURES_TRIED_EVERY = 60.0
"""Seconds between two attempts to finish pending erasures."""
LOCAL_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Host names that the desk answers to; any other is refused, against DNS rebinding."""


def build_templates() -> Jinja2Templates:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (
        clean, body_of, answer_of, with_commands, set_text, set_markdown, web_links, language_name, say
    )  # fmt: skip
    environment.filters |= {template_filter.__name__: template_filter for template_filter in filters}
    environment.filters["count_of"] = count_of
    environment.filters["thousands"] = lambda value: "–" if value is None else f"{value:,}"
    environment.globals["url_for"] = Addresses().in_templates
    environment.globals["version"] = __version__
    environment.globals["Permission"] = Permission
    environment.globals["visitor_of"] = visitor_of
    environment.globals["navigation_entries"] = navigation_entries
    environment.globals["left_in_words"] = describe_time_left
    environment.globals["new_key"] = build_form_key
    environment.globals["facets_of"] = FacetRenderer(environment)
    environment.globals["question_kind"] = kind_of
    return Jinja2Templates(env=environment)


def make_app(
    study: Path,
    clock: Clock = now,
    allowed_hosts: Sequence[str] = (),
    passwords: Passwords | None = None,
    warm: Callable[[], None] = lambda: None,
) -> Starlette:
    """Builds the web application of a study; `warm` is called when the journal has been read."""
    renderer = build_templates()
    directory = Directory(study / PEOPLE_FILE)
    cookie = Cookie(f"quaestor-{hash_token(str(study.resolve()))[:8]}")
    session = StudySession(study, prepare_item)
    remaking = RebuildJobs(study)
    parts = _build_pages(session, renderer, directory, cookie, clock, remaking, warm)
    refusals = ErrorPages(renderer)
    doors = SignInPages(study, directory, passwords or Passwords(), cookie, clock, renderer)

    def release() -> None:
        for part in parts:
            part.close()
        session.close()
        directory.close()

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        for part in parts:
            part.begin()
        await run_in_threadpool(finish_erasures, study)
        trying = asyncio.create_task(_finish_erasures_later(study))
        yield
        trying.cancel()
        release()

    app = Starlette(
        routes=[
            *(route for part in parts for route in part.routes()),
            Route("/sign-in", doors.sign_in, methods=["GET", "POST"], name="sign-in"),
            Route("/join/{token}", doors.join, methods=["GET", "POST"], name="join"),
            Route("/sign-out", doors.sign_out, methods=["POST"], name="sign-out"),
            Route("/sign-out-everywhere", doors.sign_out_everywhere, methods=["POST"], name="sign-out-everywhere"),
            Route("/me", doors.me, name="me"),
            Route("/health", _health, name="health"),
            Route("/static/tokens.css", _tokens, name="tokens"),
            Route("/static/mark.svg", _icon, name="icon"),
            Mount("/static", StaticFiles(directory=_HERE / "static"), name="static"),
            Mount("/report", PublishedFolder(study, "report", session), name="report"),
            Mount("/handbook", PublishedFolder(study, "handbook", session), name="handbook"),
        ],
        middleware=[
            Middleware(SecurityHeaders),
            Middleware(TrustedHostMiddleware, allowed_hosts=[*LOCAL_HOSTS, *allowed_hosts], www_redirect=False),
            Middleware(Access, directory=directory, cookie=cookie, clock=clock, refusals=refusals),
            Middleware(ThreadPools),
        ],
        lifespan=lifespan,
        exception_handlers={
            HTTPException: refusals.failed,
            QuaestorError: refusals.failed,
            OSError: refusals.handle_disk_error,
            Exception: refusals.handle_defect,
        },
    )
    app.state.remaking = remaking
    app.state.has_surveys = lambda: _has_feature(session, has_surveys)
    app.state.has_interviews = lambda: _has_feature(session, has_interviews)
    app.state.rates = lambda name: _rates(session, name)
    app.state.run = ""
    app.state.list_left = lambda name: _list_left(session, name)
    app.state.demo_step = None
    app.state.let_go = release
    app.state.prepare = session.prepare
    return app


def _build_pages(
    session: StudySession,
    renderer: Jinja2Templates,
    directory: Directory,
    cookie: Cookie,
    clock: Clock,
    remaking: RebuildJobs,
    warm: Callable[[], None],
) -> list[Pages]:
    """Builds all pages, one object per subject."""
    codebook = CodebookBrowser(session)
    return [
        RatingPages(session, renderer, warm),  # most frequent route, so matched first
        CodingPages(session, renderer),
        RespondentPages(session, renderer, clock),
        StudyPages(session, renderer),
        HelpPages(session, renderer),
        AgreementPages(session, renderer),
        EvidencePages(session, renderer, directory, clock),
        FunnelPages(session, renderer),
        RoundPages(session, renderer),
        SettlingPages(session, renderer),
        TiePages(session, renderer),
        PhrasePages(session, renderer),
        PeoplePages(session, renderer, clock),
        CodebookPages(session, renderer, codebook),
        CodebookActs(session, renderer, codebook),
        ResultPages(session, renderer, remaking),
        SurveyDeskPages(session, renderer),
        SurveyInvitationPages(session, renderer),
        SurveyResultPages(session, renderer),
        ClaimPages(session, renderer, cookie),
        PayPages(session, renderer),
        CodedRoundPages(session, renderer),
        InterviewPages(session, renderer),
        GuidePages(session, renderer),
        ConsentPages(session, renderer, clock),
        TranscriptPages(session, renderer),
        ThemePages(session, renderer),
        NamePages(session, renderer),
        ConductPages(session, renderer),
    ]


def _rates(session: StudySession, name: str) -> bool:
    """Returns whether somebody rates or has rated in a round; False if the study cannot be read."""
    with suppress(QuaestorError), session.locked_state() as state:
        return bool(list_own_rounds(state, name))
    return False


def _list_left(session: StudySession, name: str) -> tuple[tuple[str, int], ...]:
    """Returns the open rounds in which somebody has items left to rate, with their number."""
    with session.locked_state() as state:
        return count_work(state, name)[1]


def _has_feature(session: StudySession, has: Callable[[Study], bool]) -> bool:
    """Whether the study has surveys or interviews; no if its file cannot be read, which the page reports."""
    try:
        return has(session.latest)
    except QuaestorError:
        return False


async def _finish_erasures_later(study: Path) -> None:
    """Retries erasures that failed because another program was reading the file."""
    while True:
        await asyncio.sleep(_ERASURES_TRIED_EVERY)
        await run_in_threadpool(finish_erasures, study)


async def _tokens(request: Request) -> Response:
    return FileResponse(TOKENS, media_type="text/css")


async def _icon(request: Request) -> Response:
    return FileResponse(ICON, media_type="image/svg+xml")


async def _health(request: Request) -> Response:
    return HTMLResponse("ok", headers={RUN_HEADER: request.app.state.run})
