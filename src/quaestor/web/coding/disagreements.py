"""Disagreements side by side: what was said, what is said about it, and how it ends."""

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
from quaestor.coding.pages.disagreements import (
    DisagreementFilter,
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
from quaestor.web.page import Pages, page_asked, visitor
from quaestor.web.security.forms import checked_key, fields_in

_PAGE = 50
Fields = Mapping[str, Sequence[str]]
_Row = TypeVar("_Row")


class CasePages(Pages):
    """Pages about items in dispute."""

    @property
    def coding(self) -> CodingSession:
        """The rounds to look at and act on; a study in which nobody has acted gets no journal by being looked at."""
        return self.opened.desk.coding

    async def readings(self, items: Sequence[str]) -> dict[str, ItemText]:
        """The items as their authors wrote them."""
        desk = self.opened.desk
        return await self.work(lambda: desk.item_texts.get(items))

    async def words(self, name: str, who: Viewer, error: QuaestorError) -> str:
        """Why something was refused, with no name in it that the viewer may not read."""
        return await self.work(lambda: mask_names(self.coding, name, who, str(error)))


def viewer(request: Request) -> Viewer:
    account = visitor(request)
    return Viewer(account.name, account.role)


def query_of(**fields: str) -> str:
    """The fields of an address that say something."""
    return urlencode({name: value for name, value in fields.items() if value})


def chosen_in(form: Fields) -> SubmittedAnswer:
    return SubmittedAnswer(one_of(form, "answer"), tuple(form.get("other", ())), one_of(form, "instead"))


def typed_in(form: Fields) -> dict[str, Any]:
    """What somebody typed before they were refused, so that nothing is lost."""
    texts = {name: one_of(form, name) for name in ("answer", "instead", "how", "reason", "text")}
    return {**texts, "others": tuple(form.get("other", ()))}


def one_of(form: Fields, name: str) -> str:
    return form.get(name, ("",))[0]


def page_of(request: Request, rows: Sequence[_Row]) -> tuple[Sequence[_Row], dict[str, int]]:
    """The part of a long list that is asked for, and where that is."""
    page = page_asked(request)
    shown = rows[(page - 1) * _PAGE : page * _PAGE]
    return shown, {"page": page, "pages": max(1, -(-len(rows) // _PAGE))}


class SettlingPages(CasePages):
    """Where raters differ; the round itself says who may look and who may settle."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/disagreements", self.disagreements, methods=["GET", "POST"], name="disagreements"),
            Route("/rounds/{name}/comments", self.comment, methods=["POST"], name="comment"),
            Route("/rounds/{name}/decisions", self.decide, methods=["POST"], name="decide"),
            Route("/rounds/{name}/agreed", self.settle_agreed, methods=["POST"], name="settle-agreed"),
        ]

    async def disagreements(self, request: Request) -> Response:
        """The case that is asked for, else the list; who has not looked yet is asked first and says so by POST.

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
        rows, place = page_of(request, listing.rows)
        readings = await self.readings([row.item for row in rows])
        context = {
            "listing": listing,
            "rows": [(row, readings[row.item]) for row in rows],
            "wanted": filters,
            "agreed": request.query_params.get("agreed", ""),
            "refused": refused,
            "query": query_of,
            **place,
        }
        return self.page(request, "disagreements.html", context, status)

    async def _case(
        self, request: Request, item: str, facet: str, typed: Fields | None = None, refused: str = "", status: int = 200
    ) -> Response:
        name, who, query = request.path_params["name"], viewer(request), request.query_params
        filters = _filter(query) if typed is None else _filter_in(typed)
        case = await self.work(lambda: build_case(self.coding, name, who, item, facet, filters, self.opened.text_mask))
        near = [key[0] for key in (case.after, case.before) if key]
        context = {
            "case": case,
            "reading": (await self.readings([case.item, *near]))[case.item],
            "wanted": filters,
            "typed": typed_in(typed or {}),
            "last": query.get("last", ""),
            "last_facet": query.get("last_facet", ""),
            "refused": refused,
            "query": query_of,
        }
        return self.page(request, "case.html", context, status)

    async def comment(self, request: Request) -> Response:
        """Something said about a case; then the case again, with it."""
        name, who, form = request.path_params["name"], viewer(request), fields_in(await request.body())
        item, facet = one_of(form, "item"), one_of(form, "facet")
        text, key, filters = one_of(form, "text"), checked_key(one_of(form, "key")), _filter_in(form)
        try:
            await self.work(lambda: comment_case(self.coding, name, who, item, facet, text, key=key))
        except QuaestorError as error:
            return await self._refused(request, error, form)
        query = query_of(item=item, facet=facet, open="1" if filters.open_only else "", answer=filters.answer)
        return self.go(request, "disagreements", f"{query}#discussion", name=name)

    async def decide(self, request: Request) -> Response:
        """A case settled; then the next one that is open."""
        name, who, form = request.path_params["name"], viewer(request), fields_in(await request.body())
        item, facet, filters = one_of(form, "item"), one_of(form, "facet"), _filter_in(form)
        try:
            await self.work(lambda: self._settle(name, who, item, facet, form))
            case = await self.work(lambda: build_case(self.coding, name, who, item, facet, filters))
        except QuaestorError as error:
            return await self._refused(request, error, form)
        going = {"open": "1" if filters.open_only else "", "answer": filters.answer, "last": item}
        if case.after is not None:
            going |= {"item": case.after[0], "facet": case.after[1], "last_facet": facet}
        return self.go(request, "disagreements", query_of(**going), name=name)

    def _settle(self, name: str, who: Viewer, item: str, facet: str, form: Fields) -> int:
        how, reason, seen = one_of(form, "how"), one_of(form, "reason").strip(), one_of(form, "seen")
        number = parse_whole_number(seen) or 0
        key = checked_key(one_of(form, "key"))
        return settle_case(
            self.coding, name, who, item, facet, chosen_in(form), how, reason, seen=number, key=key
        )  # fmt: skip

    async def settle_agreed(self, request: Request) -> Response:
        """What needs no discussion, put on record at once."""
        name, who = request.path_params["name"], viewer(request)
        try:
            decisions = await self.work(lambda: settle_all_agreed(self.coding, name, who))
        except QuaestorError as error:
            return await self._list(request, await self.words(name, who, error), refusal_status(error))
        return self.go(request, "disagreements", query_of(agreed=str(decisions)), name=name)

    async def _refused(self, request: Request, error: QuaestorError, form: Fields) -> Response:
        """The case once more with what was typed; where it cannot be shown, the page says why."""
        words = await self.words(request.path_params["name"], viewer(request), error)
        return await self._case(
            request, one_of(form, "item"), one_of(form, "facet"), form, words, refusal_status(error)
        )


def _filter(query: QueryParams) -> DisagreementFilter:
    return DisagreementFilter(bool(query.get("open")), query.get("answer", "").strip()[:200])


def _filter_in(form: Fields) -> DisagreementFilter:
    """What a form carries along of the list it came from."""
    return DisagreementFilter(bool(one_of(form, "open")), one_of(form, "wanted")[:200])


class TiePages(CasePages):
    """What a tie-breaker reads and answers."""

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/rounds/{name}/ties", self.ties, methods=["GET", "POST"], name="ties")]

    async def ties(self, request: Request) -> Response:
        """The next case, the one asked for, or all of them; by POST the answer to one."""
        if request.method == "POST":
            return await self._answer(request)
        name, who, query = request.path_params["name"], viewer(request), request.query_params
        if not query.get("all"):
            item, facet = query.get("item", ""), query.get("facet", "")
            tie = await self.work(lambda: build_tie(self.coding, name, who.name, item, facet, self.opened.text_mask))
            if tie is not None:
                return await self._tie(request, tie)
        ties = await self.work(lambda: list_ties(self.coding, name, who.name))
        rows, place = page_of(request, ties.rows)
        readings = await self.readings([row.item for row in rows])
        shown = [(row, readings[row.item]) for row in rows]
        return self.page(request, "ties.html", {"ties": ties, "rows": shown, "query": query_of, **place})

    async def _tie(
        self, request: Request, tie: TieCasePage, typed: Fields | None = None, refused: str = "", status: int = 200
    ) -> Response:
        near = [key[0] for key in (tie.after, tie.before) if key]
        context = {
            "tie": tie,
            "reading": (await self.readings([tie.item, *near]))[tie.item],
            "typed": typed_in(typed or {}),
            "last": request.query_params.get("last", ""),
            "refused": refused,
            "query": query_of,
        }
        return self.page(request, "tie.html", context, status)

    async def _answer(self, request: Request) -> Response:
        name, who, form = request.path_params["name"], viewer(request), fields_in(await request.body())
        item, facet = one_of(form, "item"), one_of(form, "facet")
        text, key, settling = (
            one_of(form, "text").strip(),
            checked_key(one_of(form, "key")),
            one_of(form, "settling") == "yes",
        )
        chosen = chosen_in(form)

        def answer() -> int:
            return answer_tie(self.coding, name, who.name, item, facet, chosen, text, settling=settling, key=key)

        try:
            await self.work(answer)
        except QuaestorError as error:
            words = await self.words(name, who, error)
            tie = await self.work(
                lambda: build_tie(self.coding, name, who.name, item or "-", facet, self.opened.text_mask)
            )
            if tie is None:
                raise
            return await self._tie(request, tie, form, words, refusal_status(error))
        return self.go(request, "ties", query_of(last=item), name=name)
