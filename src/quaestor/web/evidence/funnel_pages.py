"""Funnel pages: every number opens its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import StateError
from quaestor.base.names import parse_whole_number
from quaestor.evidence.funnel import last_result, render_funnel_svg
from quaestor.evidence.step_items import list_step_items, mask_examples, mask_result
from quaestor.study.features import study_status
from quaestor.study.folder import Study
from quaestor.web.page import Pages, parse_page_number

_PAGE = 50


class FunnelPages(Pages):
    """Pages of the funnel and its items."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/funnel", self.funnel, name="funnel"),
            Route("/funnel.svg", self.drawing, name="drawing"),
            Route("/steps/{step}/{side}", self.items, name="items"),
        ]

    def _strand(self, request: Request) -> Study:
        """Returns the study as seen from the strand in the address, by default from the first one."""
        study, name = self.session.study, request.query_params.get("strand")
        if name is not None and name not in study.strands:
            raise HTTPException(404)
        return study if name is None else study.in_strand(name)

    async def funnel(self, request: Request) -> Response:
        """Shows each step with examples of kept and dropped items."""
        study, coding = self._strand(request), self.session.coding_if_any
        status = await self.work(lambda: study_status(study, coding, self.session.open_features))
        last = await self.work(lambda: last_result(study, coding)) if study.settings.sources else None
        result, holds = last or (None, True)
        if result is not None:
            unmasked = result
            result = await self.work(lambda: mask_result(study, self.session.text_mask, unmasked))
        context = {
            "result": result,
            "widest": result.entered if result else 0,
            **_strand_links(study),
            "holds": holds,
            "status": status,
        }
        return self.page(request, "funnel.html", context)

    async def drawing(self, request: Request) -> Response:
        study, coding = self._strand(request), self.session.coding_if_any
        last = await self.work(lambda: last_result(study, coding))
        if last is None:
            raise StateError("the funnel has not run yet: run `quaestor funnel` first")
        result, _ = last
        return Response(await self.work(lambda: render_funnel_svg(result)), media_type="image/svg+xml")

    async def items(self, request: Request) -> Response:
        study, coding = self._strand(request), self.session.coding_if_any
        last = await self.work(lambda: last_result(study, coding))
        number, side = parse_whole_number(request.path_params["step"]), request.path_params["side"]
        if last is None or number is None or not 1 <= number <= len(last[0].steps) or side not in ("kept", "dropped"):
            raise HTTPException(404)
        step = last[0].steps[number - 1]
        page = parse_page_number(request)
        dropped = side == "dropped"
        rows = await self.work(
            lambda: list_step_items(study, step.step, dropped=dropped, limit=_PAGE, offset=(page - 1) * _PAGE)
        )
        total = step.dropped if dropped else step.kept
        context = {
            "step": step,
            "side": side,
            "rows": await self.work(lambda: mask_examples(self.session.text_mask, rows)),
            "page": page,
            "pages": max(1, -(-total // _PAGE)),
            "total": total,
            "first": (page - 1) * _PAGE + 1,
            "size": _PAGE,
            **_strand_links(study),
        }
        return self.page(request, "items.html", context)


def _strand_links(study: Study) -> dict[str, Any]:
    """Returns the strands with their titles, the current one, and the query that stays in it."""
    strands = [(strand.strand, strand.strand_title) for strand in study.in_each_strand()]
    return {
        "strands": strands if len(strands) > 1 else [],
        "strand": study.strand,
        "strand_title": study.strand_title,
        "strand_query": urlencode({"strand": study.strand}) if study.strand != study.strands[0] else "",
    }
