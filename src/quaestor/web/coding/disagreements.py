"""Disagreement pages: answers side by side, discussion, decisions, and ties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.coding.model.passage_choices import PassageChoice
from quaestor.coding.pages.disagreements import (
    DisagreementFilter,
    assent_case,
    build_case,
    comment_case,
    is_active_tie_breaker,
    list_disagreements_page,
    mask_names,
    needs_view_consent,
    record_disagreements_view,
    settle_all_agreed,
    settle_case,
)
from quaestor.coding.pages.disputed_answers import SubmittedAnswer
from quaestor.coding.pages.ties import TieCasePage, answer_tie, build_tie, list_ties
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Viewer
from quaestor.evidence.item_texts import ItemText
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, parse_page_number, require_visitor
from quaestor.web.security.forms import parse_fields, require_key

_PAGE = 50
Fields = Mapping[str, Sequence[str]]
_Row = TypeVar("_Row")


class CasePages(Pages):
    """Base class of pages about disputed items."""

    @property
    def coding(self) -> CodingSession:
        """The coding session; viewing a study without a journal does not create one."""
        return self.session.desk.coding

    async def readings(self, items: Sequence[str]) -> dict[str, ItemText]:
        """Reads the texts of items."""
        desk = self.session.desk
        return await self.work(lambda: desk.item_texts.get(items))

    async def explain_refusal(self, name: str, who: Viewer, error: QuaestorError) -> str:
        """Returns the reason of a refusal, with names masked that the viewer may not see."""
        return await self.work(lambda: mask_names(self.coding, name, who, str(error)))


def viewer(request: Request) -> Viewer:
    account = require_visitor(request)
    return Viewer(account.name, account.role)


def build_query(**fields: str) -> str:
    """Builds a query from the fields that are not empty."""
    return urlencode({name: value for name, value in fields.items() if value})


def read_chosen(form: Fields) -> SubmittedAnswer:
    numbers = [parse_whole_number(name.removeprefix("row.")) for name in form if name.startswith("row.")]
    choices = {number: _read_passage_choice(form, number) for number in numbers if number is not None}
    return SubmittedAnswer(
        first_value(form, "answer"),
        tuple(form.get("other", ())),
        first_value(form, "instead"),
        choices,
        first_value(form, "rows"),
    )


def _read_passage_choice(form: Fields, number: int) -> PassageChoice:
    option, code, words = (first_value(form, f"{name}.{number}") for name in ("row", "code", "words"))
    return PassageChoice(option, code, words)


def read_typed(form: Fields) -> dict[str, Any]:
    """Reads the submitted answer, to fill in the form again after a refusal."""
    texts = {name: first_value(form, name) for name in ("answer", "instead", "how", "reason", "text")}
    return {**texts, "others": tuple(form.get("other", ())), "passages": read_chosen(form).passages}


def first_value(form: Fields, name: str) -> str:
    return form.get(name, ("",))[0]


def slice_page(request: Request, rows: Sequence[_Row]) -> tuple[Sequence[_Row], dict[str, int]]:
    """Returns one page of a list, with its number and the number of pages."""
    page = parse_page_number(request)
    shown = rows[(page - 1) * _PAGE : page * _PAGE]
    return shown, {"page": page, "pages": max(1, -(-len(rows) // _PAGE))}


class SettlingPages(CasePages):
    """Disagreement pages; the round decides who may view and who may settle."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/disagreements", self.disagreements, methods=["GET", "POST"], name="disagreements"),
            Route("/rounds/{name}/comments", self.comment, methods=["POST"], name="comment"),
            Route("/rounds/{name}/decisions", self.decide, methods=["POST"], name="decide"),
            Route("/rounds/{name}/assents", self.assent, methods=["POST"], name="assent"),
            Route("/rounds/{name}/agreed", self.settle_agreed, methods=["POST"], name="settle-agreed"),
        ]

    async def disagreements(self, request: Request) -> Response:
        """Shows the requested case, else the list; asks for confirmation by POST before the first view.

        A tie-breaker is led to the desk without names.
        """
        name, who, query = request.path_params["name"], viewer(request), request.query_params
        if await self.work(lambda: is_active_tie_breaker(self.coding, name, who)):
            return self.go(request, "ties", name=name)
        if request.method == "POST":
            await self.work(lambda: record_disagreements_view(self.coding, name, who))
            return self.go(request, "disagreements", request.url.query, name=name)
        if await self.work(lambda: needs_view_consent(self.coding, name, who)):
            return self.page(request, "disagreements_asked.html", {"round": name})
        if query.get("item"):
            return await self._case(request, query["item"], query.get("facet", ""))
        return await self._list(request)

    async def _list(self, request: Request, refused: str = "", status: int = 200) -> Response:
        name, who, filters = request.path_params["name"], viewer(request), _filter(request.query_params)
        listing = await self.work(lambda: list_disagreements_page(self.coding, name, who, filters))
        rows, place = slice_page(request, listing.rows)
        readings = await self.readings([row.item for row in rows])
        context = {
            "listing": listing,
            "rows": [(row, readings[row.item]) for row in rows],
            "filters": filters,
            "agreed": request.query_params.get("agreed", ""),
            "refused": refused,
            "query": build_query,
            **place,
        }
        return self.page(request, "disagreements.html", context, status)

    async def _case(
        self, request: Request, item: str, facet: str, typed: Fields | None = None, refused: str = "", status: int = 200
    ) -> Response:
        name, who, query = request.path_params["name"], viewer(request), request.query_params
        filters = _filter(query) if typed is None else _filter_in(typed)
        case = await self.work(lambda: build_case(self.coding, name, who, item, facet, filters, self.session.text_mask))
        near = [key[0] for key in (case.after, case.before) if key]
        context = {
            "case": case,
            "reading": (await self.readings([case.item, *near]))[case.item],
            "filters": filters,
            "typed": read_typed(typed or {}),
            "last": query.get("last", ""),
            "last_facet": query.get("last_facet", ""),
            "refused": refused,
            "query": build_query,
        }
        return self.page(request, "case.html", context, status)

    async def comment(self, request: Request) -> Response:
        """Saves a comment and shows the case again."""
        name, who, form = request.path_params["name"], viewer(request), parse_fields(await request.body())
        item, facet = first_value(form, "item"), first_value(form, "facet")
        text, key, filters = first_value(form, "text"), require_key(first_value(form, "key")), _filter_in(form)
        try:
            await self.work(lambda: comment_case(self.coding, name, who, item, facet, text, key=key))
        except QuaestorError as error:
            return await self._show_refusal(request, error, form)
        query = build_query(item=item, facet=facet, open="1" if filters.open_only else "", answer=filters.answer)
        return self.go(request, "disagreements", f"{query}#discussion", name=name)

    async def decide(self, request: Request) -> Response:
        """Settles a case and shows the next open one."""
        name, who, form = request.path_params["name"], viewer(request), parse_fields(await request.body())
        item, facet = first_value(form, "item"), first_value(form, "facet")
        try:
            await self.work(lambda: self._settle(name, who, item, facet, form))
        except QuaestorError as error:
            return await self._show_refusal(request, error, form)
        return await self._go_on(request, item, facet, form)

    async def assent(self, request: Request) -> Response:
        """Records the visitor's assent to a proposed decision and shows the next open case.

        A tie-breaker goes back to the desk without names.
        """
        name, who, form = request.path_params["name"], viewer(request), parse_fields(await request.body())
        item, facet = first_value(form, "item"), first_value(form, "facet")
        proposal, key = parse_whole_number(first_value(form, "proposal")) or 0, require_key(first_value(form, "key"))
        try:
            await self.work(lambda: assent_case(self.coding, name, who, item, facet, proposal, key=key))
        except QuaestorError as error:
            return await self._show_refusal(request, error, form)
        if await self.work(lambda: is_active_tie_breaker(self.coding, name, who)):
            return self.go(request, "ties", build_query(last=item), name=name)
        return await self._go_on(request, item, facet, form)

    async def _go_on(self, request: Request, item: str, facet: str, form: Fields) -> Response:
        """Leads to the next open case after one was settled or proposed."""
        name, who, filters = request.path_params["name"], viewer(request), _filter_in(form)
        try:
            case = await self.work(lambda: build_case(self.coding, name, who, item, facet, filters))
        except QuaestorError as error:
            return await self._show_refusal(request, error, form)
        going = {"open": "1" if filters.open_only else "", "answer": filters.answer, "last": item}
        if case.after is not None:
            going |= {"item": case.after[0], "facet": case.after[1], "last_facet": facet}
        return self.go(request, "disagreements", build_query(**going), name=name)

    def _settle(self, name: str, who: Viewer, item: str, facet: str, form: Fields) -> int:
        how, reason, seen = first_value(form, "how"), first_value(form, "reason").strip(), first_value(form, "seen")
        number = parse_whole_number(seen) or 0
        key = require_key(first_value(form, "key"))
        return settle_case(
            self.coding, name, who, item, facet, read_chosen(form), how, reason, seen=number, key=key,
            mask=self.session.text_mask,
        )  # fmt: skip

    async def settle_agreed(self, request: Request) -> Response:
        """Records all agreed answers as decisions."""
        name, who = request.path_params["name"], viewer(request)
        try:
            decisions = await self.work(lambda: settle_all_agreed(self.coding, name, who))
        except QuaestorError as error:
            return await self._list(request, await self.explain_refusal(name, who, error), refusal_status(error))
        return self.go(request, "disagreements", build_query(agreed=str(decisions)), name=name)

    async def _show_refusal(self, request: Request, error: QuaestorError, form: Fields) -> Response:
        """Shows the case again with the submitted values, or an error page if it cannot be shown."""
        words = await self.explain_refusal(request.path_params["name"], viewer(request), error)
        return await self._case(
            request, first_value(form, "item"), first_value(form, "facet"), form, words, refusal_status(error)
        )


def _filter(query: QueryParams) -> DisagreementFilter:
    return DisagreementFilter(bool(query.get("open")), query.get("answer", "").strip()[:200])


def _filter_in(form: Fields) -> DisagreementFilter:
    """Reads the filter of the list that a form came from."""
    return DisagreementFilter(bool(first_value(form, "open")), first_value(form, "filter")[:200])


class TiePages(CasePages):
    """Pages of the tie-breaker."""

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/rounds/{name}/ties", self.ties, methods=["GET", "POST"], name="ties")]

    async def ties(self, request: Request) -> Response:
        """Shows the next case, the requested one, or all; a POST answers one."""
        if request.method == "POST":
            return await self._answer(request)
        name, who, query = request.path_params["name"], viewer(request), request.query_params
        if not query.get("all"):
            item, facet = query.get("item", ""), query.get("facet", "")
            tie = await self.work(lambda: build_tie(self.coding, name, who.name, item, facet, self.session.text_mask))
            if tie is not None:
                return await self._tie(request, tie)
        ties = await self.work(lambda: list_ties(self.coding, name, who.name))
        rows, place = slice_page(request, ties.rows)
        readings = await self.readings([row.item for row in rows])
        shown = [(row, readings[row.item]) for row in rows]
        return self.page(request, "ties.html", {"ties": ties, "rows": shown, "query": build_query, **place})

    async def _tie(
        self, request: Request, tie: TieCasePage, typed: Fields | None = None, refused: str = "", status: int = 200
    ) -> Response:
        near = [key[0] for key in (tie.after, tie.before) if key]
        context = {
            "tie": tie,
            "reading": (await self.readings([tie.item, *near]))[tie.item],
            "typed": read_typed(typed or {}),
            "last": request.query_params.get("last", ""),
            "refused": refused,
            "query": build_query,
        }
        return self.page(request, "tie.html", context, status)

    async def _answer(self, request: Request) -> Response:
        name, who, form = request.path_params["name"], viewer(request), parse_fields(await request.body())
        item, facet = first_value(form, "item"), first_value(form, "facet")
        text, key, settling = (
            first_value(form, "text").strip(),
            require_key(first_value(form, "key")),
            first_value(form, "settling") == "yes",
        )
        chosen = read_chosen(form)

        def answer() -> int:
            return answer_tie(
                self.coding, name, who.name, item, facet, chosen, text, settling=settling, key=key,
                mask=self.session.text_mask,
            )  # fmt: skip

        try:
            await self.work(answer)
        except QuaestorError as error:
            words = await self.explain_refusal(name, who, error)
            tie = await self.work(
                lambda: build_tie(self.coding, name, who.name, item or "-", facet, self.session.text_mask)
            )
            if tie is None:
                raise
            return await self._tie(request, tie, form, words, refusal_status(error))
        return self.go(request, "ties", build_query(last=item), name=name)
