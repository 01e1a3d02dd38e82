"""Report, audit and handbook: what stands there, whether it still holds, and made anew when the study moved on."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import IO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.people.roles import Permission
from quaestor.study.interviews.themes import has_themes
from quaestor.study.kept_open import KeptOpen
from quaestor.study.results.freshness import PUBLISHED
from quaestor.study.results.publication import rounds_shown_to_lead
from quaestor.study.results.remaking import Remaking
from quaestor.study.results.standing import Standing, pack, standing, without
from quaestor.study.results.withheld import refuse_withheld, withheld_at
from quaestor.study.surveys.overview import survey_lines
from quaestor.web.links import link_to
from quaestor.web.page import Pages, visitor

_IN_MEMORY, _PIECE = 8_000_000, 64_000


class ResultPages(Pages):
    """What the study says, for those who read it."""

    def __init__(self, opened: KeptOpen, templates: Jinja2Templates, remaking: Remaking) -> None:
        super().__init__(opened, templates)
        self._remaking = remaking

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/results", self.results, name="results"),
            Route("/results/make", self.make, methods=["POST"], name="results-make"),
            Route("/results/{name}.zip", self.packed, name="results-zip"),
        ]

    def close(self) -> None:
        self._remaking.close()

    async def results(self, request: Request) -> Response:
        """What is published; where the study has moved on and its lead looks, it is made anew meanwhile."""
        found, shows_ratings, spoken = await self.work(self._standing)
        kept_back, unread = await self.work(lambda: withheld_at(self.opened))
        may_make = visitor(request).can(Permission.LEAD)
        if may_make and found.stale and not shows_ratings and not self._remaking.told.failed:
            self._remaking.begin(found.stale)
        surveys = await self.work(lambda: survey_lines(self.opened.study, self.opened.surveys_if_any))
        if not may_make:
            found = without(found, kept_back)
        made = {one.name: _moment(one.made) for one in found.published if one.made is not None}
        context = {
            "standing": found,
            "made": made,
            "withheld": kept_back,
            "unread": unread,
            "told": self._remaking.told,
            "may_make": may_make,
            "shows": shows_ratings,
            "spoken": link_to(request, "interview-themes") if spoken else "",
            "surveys": [(one, link_to(request, "survey-results", name=one.name)) for one in surveys if one.responses],
        }
        return self.page(request, "results.html", context)

    def _standing(self) -> tuple[Standing, list[str], bool]:
        study = self.opened.study
        with self.opened.looking() as state:
            return standing(study, state), rounds_shown_to_lead(state, study.settings.study.lead), has_themes(state)

    async def make(self, request: Request) -> Response:
        """Everything anew, at the lead's word."""
        self._remaking.begin(PUBLISHED)
        return self.go(request, "results")

    async def packed(self, request: Request) -> Response:
        name = request.path_params["name"]
        if not visitor(request).can(Permission.LEAD):
            await self.work(lambda: refuse_withheld(self.opened, name))
        study = self.opened.study
        file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it has been sent
        try:
            await self.work(lambda: pack(study, name, file))
        except BaseException:
            file.close()
            raise
        called = quote(f"{study.settings.study.name}-{name}.zip", safe="")
        headers = {"Content-Disposition": f"attachment; filename=\"{name}.zip\"; filename*=UTF-8''{called}"}
        return StreamingResponse(self.stream(_pieces(file)), media_type="application/zip", headers=headers)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


def _moment(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
