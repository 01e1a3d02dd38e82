"""Names page of the lead: known names, and the matches in transcripts to confirm or reject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError
from quaestor.interviews.names.confirmations import answer_all_places, answer_places, change_replacement, mark_as_read
from quaestor.interviews.names.known_names import add_name, change_name, remove_name
from quaestor.interviews.names.matches import OPEN, STATES
from quaestor.interviews.names.overview import NamesSheet, build_names_sheet
from quaestor.interviews.names.rewording import replace_names_in_texts
from quaestor.interviews.repository import Interviews
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, parse_page_number, require_visitor
from quaestor.web.security.forms import read_fields

KINDS = {
    "person": "Person",
    "organisation": "Organisation",
    "product": "Product",
    "place": "Place",
    "other": "Something else",
}


class NamePages(Pages):
    """The page of known names and their matches."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/interviews/names", self.names, methods=["GET"], name="interview-names"),
            Route("/interviews/names/acts", self.act, methods=["POST"], name="interview-names-act"),
        ]

    async def names(self, request: Request) -> Response:
        return await self._show_sheet(request, request.query_params)

    async def act(self, request: Request) -> Response:
        """Handles one action, then shows the page again."""
        fields, who = await read_fields(request), require_visitor(request).name
        filters = {key: fields.get(f"of-{key}", "") for key in ("name", "interview", "state")}
        try:
            added = await self.work(lambda: _run_action(self.session.interviews, who, fields, filters))
        except QuaestorError as error:
            status = refusal_status(error)
            sentence = f"{str(error)[:1].upper()}{str(error)[1:]}"
            return await self._show_sheet(request, filters, status, refused=sentence, typed=fields)
        query = urlencode({key: value for key, value in (*filters.items(), ("added", added)) if value})
        return self.go(request, "interview-names", query)

    async def _show_sheet(
        self, request: Request, filters: Mapping[str, str], status: int = 200, **more: Any
    ) -> Response:
        who, page = require_visitor(request).name, parse_page_number(request)
        state = filters.get("state", "") if filters.get("state", "") in STATES else OPEN
        name, interview = filters.get("name", ""), filters.get("interview", "")

        def read_sheet() -> NamesSheet | None:
            interviews = self.session.interviews_if_any
            return None if interviews is None else build_names_sheet(interviews, name, interview, state, page, who)

        sheet = await self.work(read_sheet)
        context: dict[str, Any] = {
            "sheet": sheet,
            "added": sheet.line(filters.get("added", "")) if sheet else None,
            "kinds": KINDS,
            "typed": {},
            "with_query": lambda **query: _filter_address(request, query),
        }
        return self.page(request, "interview_names.html", {**context, **more}, status)


def _filter_address(request: Request, query: Mapping[str, Any]) -> str:
    """Returns the address of the page with another filter."""
    path = str(request.url_for("interview-names").path)
    chosen = {
        key: value for key, value in query.items() if value and (key, value) not in (("state", OPEN), ("page", 1))
    }
    return f"{path}?{urlencode(chosen)}" if chosen else path


def _run_action(interviews: Interviews, who: str, fields: Mapping[str, str], filters: Mapping[str, str]) -> str:
    """Runs an action; returns the id of an added name, if any."""
    match fields.get("act", ""):
        case "confirm" | "refuse" as act:
            answer_places(interviews, [fields.get("place", "")], act == "confirm", who)
        case "confirm-all" | "refuse-all" as act:
            doubtful = fields.get("doubtful", "") == "yes"
            name, interview = fields.get("name", filters["name"]), fields.get("interview", filters["interview"])
            answer_all_places(interviews, act == "confirm-all", interview, name, doubtful, who)
        case "replace-written":
            replace_names_in_texts(interviews, who)
        case "looked":
            mark_as_read(interviews, fields.get("interview", ""), who)
        case "add":
            lines = fields.get("forms", "").splitlines()
            shown, participant = fields.get("shown", ""), fields.get("participant", "").strip()
            return add_name(interviews, fields.get("kind", ""), lines, shown, participant, actor=who).id
        case "change":
            _change_name(interviews, who, fields)
        case "remove":
            remove_name(interviews, fields.get("name", ""), who)
        case unknown:
            raise InputError(f"there is no action {unknown[:60]!r} here: reload the page")
    return ""


def _change_name(interviews: Interviews, who: str, fields: Mapping[str, str]) -> None:
    name, shown = fields.get("name", ""), fields.get("shown", "").strip()
    endings = fields.get("endings", "").split()
    changed_name = change_name(
        interviews, name, fields.get("forms", "").splitlines(), None, fields.get("kind"), endings, who
    )
    if shown and shown != changed_name.shown:
        change_replacement(interviews, changed_name.id, shown, who)
