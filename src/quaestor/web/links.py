"""Links to other pages of the desk, offered to those who may follow them."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.routing import NoMatchFound

from quaestor.base.names import NOT_IN_AN_ADDRESS
from quaestor.web.access import visitor_of
from quaestor.web.addresses import Addresses
from quaestor.web.matrix import MATRIX, PUBLIC

_ADDRESSES = Addresses()


def link_to(request: Request, route: str, query: dict[str, Any] | None = None, **path: Any) -> str:
    """The address of a page with its query; empty where there is no such page, or it is not for the visitor."""
    needed, found = MATRIX.get(route), visitor_of(request)
    if needed is None or found is None or (needed != PUBLIC and not found.can(needed)):
        return ""
    if any(isinstance(part, str) and (not part or set(part) & set(NOT_IN_AN_ADDRESS)) for part in path.values()):
        return ""
    try:
        target = str(_ADDRESSES.of(request, route, **path))
    except NoMatchFound:
        return ""
    asked = {name: value for name, value in (query or {}).items() if value not in ("", None, False)}
    return f"{target}?{urlencode(asked)}" if asked else target


def outside(request: Request, path: str) -> str:
    """A path of the desk as the lead's own browser reaches it, to be sent to somebody."""
    scheme, _, host = request.headers.get("origin", "").partition("://")
    same = scheme in ("http", "https") and host.lower() == request.headers.get("host", "").lower()
    return f"{scheme if same else request.url.scheme}://{request.url.netloc}{path}"
