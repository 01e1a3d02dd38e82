"""Interview results: themes and saturation; every number opens its quotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import StateError
from quaestor.interviews.pages.themes import themes_page_seen
from quaestor.interviews.repository import Interviews
from quaestor.interviews.themes.cells import find_quotations_behind
from quaestor.interviews.themes.figures import render_figure
from quaestor.interviews.themes.files import find_quotations
from quaestor.interviews.themes.quotations import read_visible_themes
from quaestor.interviews.themes.records import InterviewThemes, Quotation
from quaestor.interviews.transcript_sheet import find_page as page_with
from quaestor.render.table_model import Row, Table
from quaestor.web.coding.disagreements import slice_page, viewer
from quaestor.web.navigation import link_to
from quaestor.web.page import Pages

_NOBODY = "There are no participants yet. Themes appear here when transcripts have been coded."


def _turn_of(request: Request, quotation: Quotation) -> str:
    """Returns the link to a quotation's turn, if the visitor may read transcripts."""
    turn = quotation.parts[0].turn
    page = link_to(request, "interview-transcript", {"page": page_with(turn)}, name=quotation.interview)
    return page and f"{page}#turn-{turn}"


class ThemePages(Pages):
    """Read-only pages of interview results."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/interviews/themes", self.themes, methods=["GET"], name="interview-themes"),
            Route("/interviews/drawings/{figure}", self.drawing, methods=["GET"], name="interview-drawing"),
            Route("/interviews/quotations", self.behind, methods=["GET"], name="interview-quotations"),
            Route("/interviews/themes/code", self.code, methods=["GET"], name="interview-code"),
        ]

    @property
    def _interviews(self) -> Interviews:
        interviews = self.session.interviews_if_any
        if interviews is None:
            raise StateError(_NOBODY)
        return interviews

    def _themes(self, request: Request) -> InterviewThemes:
        return read_visible_themes(self._interviews, viewer(request))

    async def themes(self, request: Request) -> Response:
        by = request.query_params.get("by", "")
        page = await self.work(lambda: themes_page_seen(self._interviews, viewer(request), by))

        def behind(table: Table, row: Row, column: str) -> str:
            return link_to(request, "interview-quotations", {"cell": f"{table.id}:{row.key}:{column}"})

        def about(code: str) -> str:
            return link_to(request, "interview-code", {"code": code})

        context = {"page": page, "behind": behind, "about": about, **self._list_links(request)}
        return self.page(request, "interview_themes.html", context)

    async def drawing(self, request: Request) -> Response:
        """Returns a figure as SVG."""
        name = request.path_params["figure"]
        svg = await self.work(lambda: render_figure(self._themes(request), name))
        if svg is None:
            raise HTTPException(404)
        return Response(svg, media_type="image/svg+xml")

    async def behind(self, request: Request) -> Response:
        """Lists the quotations behind a number."""
        cell = request.query_params.get("cell", "")
        if not cell:
            raise HTTPException(404)
        themes = await self.work(lambda: self._themes(request))
        behind = await self.work(lambda: find_quotations_behind(themes, cell))
        heading = {"title": behind.place, "words": behind.table}
        return self._list(request, themes, behind.quotations, heading, {"cell": cell})

    async def code(self, request: Request) -> Response:
        """Lists the quotations of a code or theme."""
        code = request.query_params.get("code", "")
        themes = await self.work(lambda: self._themes(request))
        name, quotations = await self.work(lambda: find_quotations(themes, code))
        return self._list(request, themes, quotations, {"title": name, "words": ""}, {"code": code})

    def _list(
        self,
        request: Request,
        themes: InterviewThemes,
        quotations: Sequence[Quotation],
        heading: dict[str, str],
        query: dict[str, str],
    ) -> Response:
        rows, place = slice_page(request, quotations)
        people = len({quotation.participant for quotation in quotations})
        paths = {code.id: code.path for code in themes.codes}
        context: dict[str, Any] = {
            "rows": rows, "total": len(quotations), "people": people, "paths": paths,
            "about": lambda code: link_to(request, "interview-code", {"code": code}),
            "transcript": lambda quotation: _turn_of(request, quotation),
            "query": f"{urlencode(query)}&" if query else "", **heading, **place, **self._list_links(request),
        }  # fmt: skip
        return self.page(request, "interview_quotations.html", context)

    def _list_links(self, request: Request) -> dict[str, str]:
        return {"all_interviews": link_to(request, "interviews"), "all_results": link_to(request, "results")}
