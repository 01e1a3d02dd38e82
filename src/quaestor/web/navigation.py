"""Navigation: the entries of the bar at the top of each page, and the addresses of pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from jinja2 import pass_context
from starlette.requests import Request
from starlette.routing import NoMatchFound

from quaestor.base.names import NOT_IN_URL
from quaestor.people.roles import Permission
from quaestor.web.security.access import Visitor, visitor_of
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE, PUBLIC

_ENTRIES = (
    ("home", "Study"),
    ("evidence", "Evidence"),
    ("rounds", "Rounds"),
    ("my-ratings", "My ratings"),
    ("codebook", "Codebook"),
    ("surveys", "Surveys"),
    ("interviews", "Interviews"),
    ("results", "Results"),
    ("people", "People"),
    ("help", "Help"),
)


@dataclass(frozen=True)
class NavigationEntry:
    """One entry of the navigation bar."""

    route: str
    label: str
    path: str


def navigation_entries(request: Request) -> list[NavigationEntry]:
    """Lists the pages that the visitor may open and that are not empty."""
    visitor = visitor_of(request)
    if visitor is None:
        return []
    if visitor.can(Permission.PAY):
        return [NavigationEntry("claims", "Pay", str(request.url_for("claims").path))]
    offered = []
    for route, label in _ENTRIES:
        needed = PERMISSIONS_BY_ROUTE.get(route)
        if route == "surveys" and not request.app.state.has_surveys():
            continue
        if route == "interviews" and not request.app.state.has_interviews():
            continue
        if route == "my-ratings" and visitor.can(Permission.LEAD) and not request.app.state.rates(visitor.name):
            continue
        if needed is not None and needed != PUBLIC and visitor.can(needed):
            shown = _choose_home_label(visitor) if route == "home" else label
            offered.append(NavigationEntry(route, shown, str(request.url_for(route).path)))
    return offered


def _choose_home_label(visitor: Visitor) -> str:
    """Returns the label of the start page for a visitor."""
    if visitor.can(Permission.PAY):
        return "Pay"
    if visitor.can(Permission.READ_EVIDENCE):
        return "Study"
    return "My work" if visitor.can(Permission.CONDUCT) else "My rounds"


_MOST = 10_000


@dataclass(frozen=True)
class Address:
    """The path of a page, including the prefix of a proxy."""

    path: str

    def __str__(self) -> str:
        return self.path


class Addresses:
    """Replaces `url_for` in templates of one application, and caches the addresses."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Address] = {}

    def of(self, request: Request, name: str, /, **path: Any) -> Address:
        root = request.scope.get("app_root_path", request.scope.get("root_path", ""))
        key = (root, name, *path.items())
        address = self._known.get(key)
        if address is None:
            address = Address(f"{root.rstrip('/')}{request.app.url_path_for(name, **path)}")
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = address
        return address

    @property
    def in_templates(self) -> Any:
        """The `url_for` function of templates, bound to the request of the template."""

        @pass_context
        def url_for(context: Mapping[str, Any], name: str, /, **path: Any) -> Address:
            return self.of(context["request"], name, **path)

        return url_for


_ADDRESSES = Addresses()


def link_to(request: Request, route: str, query: dict[str, Any] | None = None, **path: Any) -> str:
    """Returns the address of a page with its query; empty if it does not exist or the visitor may not open it."""
    needed, account = PERMISSIONS_BY_ROUTE.get(route), visitor_of(request)
    if needed is None or account is None or (needed != PUBLIC and not account.can(needed)):
        return ""
    if any(isinstance(part, str) and (not part or set(part) & set(NOT_IN_URL)) for part in path.values()):
        return ""
    try:
        target = str(_ADDRESSES.of(request, route, **path))
    except NoMatchFound:
        return ""
    parameters = {name: value for name, value in (query or {}).items() if value not in ("", None, False)}
    return f"{target}?{urlencode(parameters)}" if parameters else target


def build_external_url(request: Request, path: str) -> str:
    """Returns the full address of a path, as the lead's browser reaches it, to send to other people."""
    scheme, _, host = request.headers.get("origin", "").partition("://")
    same = scheme in ("http", "https") and host.lower() == request.headers.get("host", "").lower()
    return f"{scheme if same else request.url.scheme}://{request.url.netloc}{path}"
