"""Error pages: one sentence on why something cannot be shown or done."""

from __future__ import annotations

import errno
import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError, TemporarilyUnavailable
from quaestor.web.security.access import visitor_of
from quaestor.web.security.headers import HEADERS

_WORDS = {404: "There is no such page.", 405: "This page does not accept this request."}
_UNAVAILABLE = "The desk cannot read or save this right now: tell the people who run this study."
_NO_SPACE = "The desk's disk is full or not writable: free some space, then try again."
_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
_log = logging.getLogger("uvicorn.error")
"""Logs to the terminal that serves the desk."""


class ErrorPages:
    """Renders error pages."""

    def __init__(self, templates: Jinja2Templates) -> None:
        self._templates = templates

    def refuse(self, request: Request, status: int, words: str) -> Response:
        context = {"status": status, "words": words}
        return self._templates.TemplateResponse(request, "error.html", context, status_code=status)

    async def failed(self, request: Request, error: Exception) -> Response:
        """Handles an expected error."""
        if isinstance(error, HTTPException):
            return self.refuse(request, error.status_code, _WORDS.get(error.status_code, "This cannot be done here."))
        if not is_unavailable(error):
            return self.refuse(request, 409, str(error))
        _log.error("%s", error)
        # The message may contain file paths, which only signed-in people may see.
        return self.refuse(request, 503, str(error) if visitor_of(request) else _UNAVAILABLE)

    async def handle_disk_error(self, request: Request, error: Exception) -> Response:
        """Handles a full or read-only disk; raises any other OSError again, because it is a defect."""
        if not isinstance(error, OSError) or error.errno not in _CANNOT_WRITE:
            raise error
        _log.error("%s", error)
        return self.refuse(request, 503, _NO_SPACE if visitor_of(request) else _UNAVAILABLE)

    async def handle_defect(self, request: Request, error: Exception) -> Response:
        """Handles an unexpected error; its message goes to the terminal only."""
        context = {"status": 500, "words": "Something went wrong. See the terminal that serves the desk."}
        return self._templates.TemplateResponse(request, "error.html", context, status_code=500, headers=HEADERS)


def is_unavailable(error: Exception) -> bool:
    """Whether the study's storage is temporarily unavailable."""
    return isinstance(error, TemporarilyUnavailable)


def refusal_status(error: QuaestorError) -> int:
    """The status of a page that says why something was not done."""
    if is_unavailable(error):
        return 503
    return 422 if isinstance(error, InputError) else 409
