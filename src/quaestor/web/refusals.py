"""Pages that say why something cannot be shown or done, in a sentence."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from quaestor.base.errors import NotNow
from quaestor.web.headers import HEADERS

_WORDS = {404: "There is no such page.", 405: "This page cannot be asked for that."}


class Refusals:
    """What is answered in place of a page."""

    def __init__(self, templates: Jinja2Templates) -> None:
        self._templates = templates

    def refuse(self, request: Request, status: int, words: str) -> Response:
        context = {"status": status, "words": words}
        return self._templates.TemplateResponse(request, "error.html", context, status_code=status)

    async def failed(self, request: Request, error: Exception) -> Response:
        """An error that was raised on purpose."""
        if isinstance(error, HTTPException):
            return self.refuse(request, error.status_code, _WORDS.get(error.status_code, "This cannot be done here."))
        return self.refuse(request, 503 if isinstance(error, NotNow) else 409, str(error))

    async def broke(self, request: Request, error: Exception) -> Response:
        """An error that nobody thought of; what it says is for the terminal."""
        context = {"status": 500, "words": "Something went wrong here: the terminal that serves the desk says what."}
        return self._templates.TemplateResponse(request, "error.html", context, status_code=500, headers=HEADERS)
