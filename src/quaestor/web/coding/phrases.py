"""Phrase pages: compare the phrases of a set once all raters are done, and unify words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.coding.pages.phrase_set import SEE, build_phrase_set, mask_set, read_item_titles
from quaestor.coding.phrases import adopt_objects, begin_comparing, list_objects_by_round, request_reread, unify_words
from quaestor.coding.round_acts import next_set_by_name
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import parse_fields

_MOST = 100
"""Number of differing items on a page, and of identical ones."""


class PhrasePages(Pages):
    """Pages on which two raters compare a set."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/phrases", self.phrases, methods=["GET"], name="phrases"),
            Route("/rounds/{name}/phrases", self.act, methods=["POST"], name="phrases-act"),
        ]

    async def phrases(self, request: Request) -> Response:
        return await self._page(request, parse_whole_number(request.query_params.get("set", "")))

    async def _page(self, request: Request, number: int | None, status: int = 200, **more: Any) -> Response:
        name, who = request.path_params["name"], require_visitor(request).name
        context = await self.work(lambda: self._context(name, who, number))
        return self.page(request, "phrases.html", {"typed": {}, **context, **more}, status)

    def _context(self, name: str, who: str, number: int | None) -> dict[str, Any]:
        desk = self.session.desk
        phrases = build_phrase_set(desk.coding, name, who, number)
        if phrases.access != SEE:
            return {"phrases": phrases}
        if who != desk.coding.lead:
            phrases = mask_set(phrases, self.session.text_mask)
        differing, alike = phrases.differing[:_MOST], phrases.alike[:_MOST]
        return {
            "phrases": phrases,
            "differing": differing,
            "alike": alike,
            "titles": read_item_titles(desk, [side.item for side in (*differing, *alike)]),
            "drawing": Markup(phrases.drawing) if len(phrases.curves) > 1 else "",  # noqa: S704 - its words are escaped
            "objects": list_objects_by_round(desk.coding, name, who),
        }

    async def act(self, request: Request) -> Response:
        """Handles one action; if it is refused, the page shows the reason and keeps the input."""
        name, who = request.path_params["name"], require_visitor(request).name
        fields = parse_fields(await request.body())
        values = {key: values[0] for key, values in fields.items()}
        try:
            await self.work(lambda: self._act(name, who, values, fields))
        except QuaestorError as error:
            status = refusal_status(error)
            return await self._page(request, None, status, refused=str(error), typed=values)
        place = values.get("place", "")
        return self.go(request, "phrases", f"#{place}" if place.replace("-", "").isalnum() else "", name=name)

    def _act(self, name: str, who: str, values: Mapping[str, str], fields: Mapping[str, Sequence[str]]) -> None:
        coding = self.session.desk.coding
        match values.get("act", ""):
            case "compare":
                begin_comparing(coding, name, who)
            case "unify":
                words = [word for field in fields.get("words", ()) for word in field.split(",") if word.strip()]
                texts = [values.get(key, "").strip() for key in ("to", "rule", "reason")]
                unify_words(coding, name, who, values.get("part", ""), words, *texts)
            case "reread":
                request_reread(coding, name, who, values.get("item", ""))
            case "next set":
                next_set_by_name(coding, name, who)
            case "adopt":
                adopt_objects(coding, name, values.get("phases", ""), fields.get("objects", ()), who)
            case unknown:
                raise InputError(f"there is no action {unknown!r} here: reload the page")
