"""Crawls every page of the desk that a visitor can reach."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from urllib.parse import urljoin, urlsplit

from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from tests.support.desk import HERE, in_one_loop
from tests.support.small_study import ITEMS

PATH_VALUES: Mapping[str, str] = {
    "name": "main", "step": "1", "side": "kept", "form": "csv", "token": "unknown", "path": "index.html",
    "code": "unknown", "response": "unknown", "interview": "P1", "figure": "saturation", "topic": "tutorial",
}  # fmt: skip
"""A value for each parameter of a route."""
QUERIES: Sequence[str] = (
    f"item={ITEMS[0]}&facet=relevance", f"item={ITEMS[0]}", "round=main&disagreement=any", "facet=relevance",
)  # fmt: skip
MOST_PAGES = 450


def crawl(
    app: Starlette, visitor: TestClient, most: int = MOST_PAGES, start: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Every route with GET, or the addresses in `start`, and every page that these link to.

    Yields its address, and the status, headers and text.
    """
    waiting, seen = list(start) or _addresses(app), set[str]()
    with in_one_loop(visitor):
        while waiting and len(seen) < most:
            address = waiting.pop(0)
            if address in seen or address.startswith(
                ("/sign-out", "/static/", "/help")
            ):  # documentation is the same for all
                continue
            seen.add(address)
            answer = visitor.get(address)
            yield address, f"{answer.status_code} {dict(answer.headers)}\n{_read_text(answer.content)}"
            if answer.headers.get("content-type", "").startswith("text/html"):
                for link in re.findall(r'(?:href|action)="([^"#]+)', answer.text):
                    target = urlsplit(urljoin(f"{HERE}{address}", unescape(link)))
                    if f"{target.scheme}://{target.netloc}" == HERE:
                        waiting.append(f"{target.path}?{target.query}" if target.query else target.path)


def _addresses(app: Starlette) -> list[str]:
    """The address of every route, alone and with the queries that pages ask."""
    addresses = []
    for route in app.routes:
        if isinstance(route, Mount) or not isinstance(route, Route) or "GET" not in (route.methods or ()):
            continue
        path = re.sub(
            r"{(\w+)(?::(\w+))?}", lambda part: PATH_VALUES.get(part[2] or "", PATH_VALUES[part[1]]), route.path
        )
        addresses += [path, *(f"{path}?{query}" for query in QUERIES)]
    return addresses


def _read_text(content: bytes) -> str:
    """The text of an answer; a ZIP or XLSX file is unpacked."""
    if not content.startswith(b"PK"):
        return content.decode("utf-8", "replace")
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return "\n".join(packed.read(name).decode("utf-8", "replace") for name in packed.namelist())
