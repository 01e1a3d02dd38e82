"""The addresses that pages link to: asked for dozens of times on each page, so each is worked out once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jinja2 import pass_context
from starlette.requests import Request

_MOST = 10_000


@dataclass(frozen=True)
class Address:
    """Where a page is, on the site of a proxy too."""

    path: str

    def __str__(self) -> str:
        return self.path


class Addresses:
    """Takes the place of `url_for` in the templates of one application."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Address] = {}

    def of(self, request: Request, name: str, /, **path: Any) -> Address:
        root = request.scope.get("app_root_path", request.scope.get("root_path", ""))
        key = (root, name, *path.items())
        found = self._known.get(key)
        if found is None:
            found = Address(f"{root.rstrip('/')}{request.app.url_path_for(name, **path)}")
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = found
        return found

    @property
    def in_templates(self) -> Any:
        """The same, with the request that a template is rendered for."""

        @pass_context
        def url_for(context: Mapping[str, Any], name: str, /, **path: Any) -> Address:
            return self.of(context["request"], name, **path)

        return url_for
