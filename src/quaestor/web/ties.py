"""The tie-breaker's desk: one case after the other, without names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import QuaestorError
from quaestor.study.interviews.quoted import quoted
from quaestor.study.ties import Tie, answer_tie, tie_of, ties_of
from quaestor.web.cases import CasePages, Fields, chosen_in, one_of, page_of, query_of, typed_in, viewer
from quaestor.web.forms import checked_key, fields_in
from quaestor.web.refusals import refusal_status


class TiePages(CasePages):
    """What a tie-breaker reads and answers."""

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/rounds/{name}/ties", self.ties, methods=["GET", "POST"], name="ties")]

    async def ties(self, request: Request) -> Response:
        """The next case, the one asked for, or all of them; by POST the answer to one."""
        if request.method == "POST":
            return await self._answer(request)
        name, who, asked = request.path_params["name"], viewer(request), request.query_params
        if not asked.get("all"):
            item, facet = asked.get("item", ""), asked.get("facet", "")
            tie = await self.work(lambda: tie_of(self.coding, name, who.name, item, facet))
            if tie is not None:
                return await self._tie(request, tie)
        found = await self.work(lambda: ties_of(self.coding, name, who.name))
        rows, place = page_of(request, found.rows)
        readings = await self.readings([row.item for row in rows])
        shown = [(row, readings[row.item]) for row in rows]
        return self.page(request, "ties.html", {"ties": found, "rows": shown, "query": query_of, **place})

    async def _tie(
        self, request: Request, tie: Tie, typed: Fields | None = None, refused: str = "", status: int = 200
    ) -> Response:
        near = [key[0] for key in (tie.after, tie.before) if key]
        question = await self.work(lambda: quoted(self.opened.interviews_if_any, tie.round, tie.item, tie.question))
        context = {
            "tie": replace(tie, question=question),
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
            tie = await self.work(lambda: tie_of(self.coding, name, who.name, item or "-", facet))
            if tie is None:
                raise
            return await self._tie(request, tie, form, words, refusal_status(error))
        return self.go(request, "ties", query_of(last=item), name=name)
