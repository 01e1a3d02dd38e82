"""The questions of a sheet as HTML; rendered once where they are the same for one item after another."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import Environment
from markupsafe import Markup

from quaestor.study.desk import Asked

_KEPT = 64


class Facets:
    """Renders what a sheet asks; a facet nobody has answered yet looks the same on every sheet of a round."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._known = lru_cache(_KEPT)(self._rendered)

    def __call__(self, asked: tuple[Asked, ...]) -> Markup:
        unanswered = all(one.given is None and not one.unsure for one in asked)
        return self._known(asked) if unanswered else self._rendered(asked)

    def _rendered(self, asked: tuple[Asked, ...]) -> Markup:
        html = self._environment.get_template("facets.html").render(asked_here=asked)
        return Markup(html)  # noqa: S704 - made by a template that escapes
