"""The application: routes, templates, and the headers every answer carries."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup, escape
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates

from quaestor import __version__
from quaestor.base.errors import QuaestorError
from quaestor.base.look import ICON, TOKENS
from quaestor.web.evidence import clean
from quaestor.web.headers import HEADERS, SafeHeaders
from quaestor.web.pages import FunnelPages
from quaestor.web.published import Published

_HERE = Path(str(resources.files("quaestor.web")))
LOCAL_HOSTS = ["127.0.0.1", "localhost", "[::1]", "testserver"]
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
    environment.filters["with_commands"] = with_commands
    environment.filters["thousands"] = lambda value: "–" if value is None else f"{value:,}"
    environment.globals["version"] = __version__
    return Jinja2Templates(env=environment)


def with_commands(words: str) -> Markup:
    """A sentence as HTML, what it puts between backticks set as code."""
    pieces = str(escape(words)).split("`")
    if len(pieces) % 2 == 0:
        return escape(words)
    set_apart = (f"<code>{piece}</code>" if place % 2 else piece for place, piece in enumerate(pieces))
    return Markup("".join(set_apart))  # noqa: S704 - every piece is escaped


def make_app(study: Path) -> Starlette:
    """The desk of one study."""
    renderer = templates()
    pages = FunnelPages(study, renderer)

    async def failed(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 409
        words = str(error) if isinstance(error, QuaestorError) else "There is no such page."
        context = {"status": status, "words": words}
        return renderer.TemplateResponse(request, "error.html", context, status_code=status)

    async def broke(request: Request, error: Exception) -> Response:
        context = {"status": 500, "words": "Something went wrong here: the terminal that serves the desk says what."}
        return renderer.TemplateResponse(request, "error.html", context, status_code=500, headers=HEADERS)

    return Starlette(
        routes=[
            Route("/", pages.funnel, name="funnel"),
            Route("/funnel.svg", pages.drawing, name="drawing"),
            Route("/steps/{step:int}/{side}", pages.items, name="items"),
            Route("/health", _health),
            Route("/static/tokens.css", _tokens),
            Route("/static/mark.svg", _icon),
            Mount("/static", StaticFiles(directory=_HERE / "static"), name="static"),
            Mount("/report", Published(study, "report"), name="report"),
            Mount("/handbook", Published(study, "handbook"), name="handbook"),
        ],
        middleware=[Middleware(SafeHeaders), Middleware(TrustedHostMiddleware, allowed_hosts=LOCAL_HOSTS)],
        exception_handlers={HTTPException: failed, QuaestorError: failed, Exception: broke},
    )


async def _tokens(request: Request) -> Response:
    return FileResponse(TOKENS, media_type="text/css")


async def _icon(request: Request) -> Response:
    return FileResponse(ICON, media_type="image/svg+xml")


async def _health(request: Request) -> Response:
    return HTMLResponse("ok")
