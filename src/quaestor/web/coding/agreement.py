"""Agreement pages: statistics of a round, confused codes, and the items behind each number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.base.table_files import FILE_FORMATS, Cell, format_csv
from quaestor.coding.agreement import to_json
from quaestor.coding.agreement_access import (
    AgreementAccess,
    RoundAgreement,
    find_access,
    list_visible_agreements,
    record_agreement_view,
)
from quaestor.coding.confusion import build_matrix_rows, list_confused_items
from quaestor.coding.pages.agreement import AgreementRequest, AgreementView, build_agreement_view, build_csv_rows
from quaestor.coding.rating import codes_passages
from quaestor.coding.session import CodingSession
from quaestor.web.error_pages import refusal_status
from quaestor.web.navigation import link_to
from quaestor.web.page import Pages, parse_page_number, require_visitor

_PAGE = 50


class AgreementPages(Pages):
    """Agreement pages for the lead and, once the round is closed, its raters; the round decides who may view them."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/agreement", self.agreement, methods=["GET"], name="agreement"),
            Route("/rounds/{name}/look", self.look, methods=["POST"], name="look"),
            Route("/rounds/{name}/confused", self.confused, methods=["GET"], name="confused"),
            Route("/rounds/{name}/agreement.json", self.as_json, methods=["GET"], name="agreement-json"),
            Route("/rounds/{name}/agreement.csv", self.as_csv, methods=["GET"], name="agreement-csv"),
            Route("/rounds/{name}/confusion.csv", self.matrix, methods=["GET"], name="confusion-csv"),
        ]

    @property
    def _coding(self) -> CodingSession:
        return self.session.desk.coding

    async def agreement(self, request: Request) -> Response:
        """Shows the agreement on one facet; asks for confirmation before the first view."""
        name, who = request.path_params["name"], require_visitor(request).name
        look = await self.work(lambda: self._find_access(name, who))
        if look.may != "now":
            return self._show_question(request, name, look)
        coding = self._coding
        selection = _parse_request(request)
        view = await self.work(lambda: build_agreement_view(coding, name, who, selection))
        links = _links(request, name, view)
        links["passages_link"] = link_to(request, "code-agreement", name=name) if codes_passages(coding, name) else ""
        return self.page(request, "agreement.html", {"view": view, **links})

    async def look(self, request: Request) -> Response:
        """Records that the visitor views the agreement, then shows it."""
        name, who = request.path_params["name"], require_visitor(request).name
        coding = self._coding
        try:
            await self.work(lambda: record_agreement_view(coding, name, who))
        except QuaestorError as error:
            look = await self.work(lambda: self._find_access(name, who))
            return self._show_question(request, name, look, str(error), refusal_status(error))
        return self.go(request, "agreement", name=name)

    def _find_access(self, name: str, who: str) -> AgreementAccess:
        with self._coding.locked_state() as state:
            return find_access(state, name, who, self._coding.lead)

    def _show_question(
        self, request: Request, name: str, look: AgreementAccess, refused: str = "", status: int | None = None
    ) -> Response:
        context = {"round": name, "look": look, "refused": refused}
        return self.page(request, "agreement_asked.html", context, status or (200 if look.may == "ask" else 409))

    async def confused(self, request: Request) -> Response:
        """Lists the items behind a cell of the confusion matrix or behind a pair of confused codes."""
        name, who = request.path_params["name"], require_visitor(request).name
        selection, query = _parse_request(request), request.query_params
        first, second, either = query.get("first", ""), query.get("second", ""), query.get("either") == "yes"
        page = parse_page_number(request)
        desk = self.session.desk
        items = await self.work(
            lambda: list_confused_items(
                desk.coding, desk.item_texts, name, who, selection.facet, first, second,
                either=either, version=selection.version, level=selection.level, limit=_PAGE, offset=(page - 1) * _PAGE,
                mask=self.session.text_mask,
            )
        )  # fmt: skip
        same = {"facet": selection.facet, "level": selection.level, "version": selection.version}
        here = {**same, "first": first, "second": second, "either": "yes" if either else ""}
        context = {
            "round": name,
            "confused": items,
            "either": either,
            "page": page,
            "pages": max(1, -(-items.total // _PAGE)) if items else 1,
            "back": link_to(request, "agreement", same, name=name),
            "page_link": lambda number: link_to(request, "confused", {**here, "page": number}, name=name),
            "item_link": lambda item: _item_link(request, name, selection.facet, item),
        }
        return self.page(request, "confused.html", context)

    async def as_json(self, request: Request) -> Response:
        """Returns the same JSON as `quaestor agreement --json`."""
        agreements = await self._list_agreements(request)
        values = [round_agreement.about | to_json(round_agreement.agreement) for round_agreement in agreements]
        headers = _download_headers(request, "agreement", "json")
        return await self.work(lambda: JSONResponse(values[0] if len(values) == 1 else values, headers=headers))

    async def as_csv(self, request: Request) -> Response:
        rows = build_csv_rows(await self._list_agreements(request))
        lines = [list(rows[0]) if rows else ["round"], *([str(value) for value in row.values()] for row in rows)]
        return await self.work(lambda: _csv(lines, _download_headers(request, "agreement", "csv")))

    async def matrix(self, request: Request) -> Response:
        """Exports the confusion matrix of two raters on one facet."""
        agreements = await self._list_agreements(request)
        tables = [
            round_agreement.agreement.confusion
            for round_agreement in agreements
            if round_agreement.agreement.confusion is not None
        ]
        if len(tables) != 1:
            raise InputError("a confusion matrix needs one facet and two raters: name the facet")
        return await self.work(
            lambda: _csv(build_matrix_rows(tables[0]), _download_headers(request, "confusion", "csv"))
        )

    async def _list_agreements(self, request: Request) -> list[RoundAgreement]:
        name, who, selection = request.path_params["name"], require_visitor(request).name, _parse_request(request)
        coding = self._coding
        facets = [selection.facet] if selection.facet else []
        return await self.work(
            lambda: list_visible_agreements(coding, name, who, facets, version=selection.version, level=selection.level)
        )


def _parse_request(request: Request) -> AgreementRequest:
    query = request.query_params
    version = query.get("version", "").strip()
    number = parse_whole_number(version)
    if version and number is None:
        raise InputError(
            f"the version {version[:60]!r} is not a number: leave it empty to use the version that was rated with"
        )
    return AgreementRequest(query.get("facet", ""), query.get("level", ""), number)


def _links(request: Request, name: str, view: AgreementView) -> dict[str, Any]:
    same = {"facet": view.request.facet, "level": view.request.level, "version": view.request.version}

    def items(first: str, second: str, either: bool = False) -> str:
        more = {"first": first, "second": second, "either": "yes" if either else ""}
        return link_to(request, "confused", {**same, **more}, name=name)

    return {
        "items_link": items,
        "json_link": link_to(request, "agreement-json", same, name=name),
        "csv_link": link_to(request, "agreement-csv", same, name=name),
        "matrix_link": link_to(request, "confusion-csv", same, name=name),
        "settle_link": link_to(request, "disagreements", name=name),
        "phrases_link": link_to(request, "phrases", name=name),
    }


def _item_link(request: Request, name: str, facet: str, item: str) -> str:
    """Returns the link to the item's page, or for raters to its discussion."""
    query = {"item": item}
    return link_to(request, "item", query) or link_to(request, "disagreements", {**query, "facet": facet}, name=name)


def _download_headers(request: Request, what: str, ending: str) -> dict[str, str]:
    name = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in request.path_params["name"])
    return {"Content-Disposition": f'attachment; filename="{what}-{name}.{ending}"'}


def _csv(lines: Iterable[Sequence[Cell]], headers: dict[str, str]) -> Response:
    return Response(format_csv(lines), media_type=FILE_FORMATS["csv"], headers=headers)
