"""Codebook pages: tree, single code, history, comparison of versions, file, and changes by the lead."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.coding.code_proposals import settle_proposed_code
from quaestor.coding.codebook import CodebookChanged, change_codebook, import_codebook
from quaestor.coding.model.code_proposals import NewCode
from quaestor.coding.model.records import Codebook
from quaestor.coding.pages.codebook.browser import CodebookBrowser
from quaestor.coding.pages.codebook.change_form import ACTS, build_form, read_change, read_text
from quaestor.coding.pages.codebook.proposals import build_proposal_rows
from quaestor.coding.session import CodingSession
from quaestor.coding.visibility import Viewer
from quaestor.people.roles import Permission
from quaestor.web.error_pages import is_unavailable, refusal_status
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import parse_fields, read_fields
from quaestor.web.security.permissions import PERMISSIONS_BY_ROUTE, PUBLIC
from quaestor.web.study_session import StudySession


class CodebookPages(Pages):
    """Codebook pages that every signed-in person may read."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, room: CodebookBrowser) -> None:
        super().__init__(session, templates)
        self._browser = room
        environment: Environment = templates.env
        environment.globals["items_of_code"] = _items_of_code

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/codebook", self.codebook, methods=["GET"], name="codebook"),
            Route("/codebook/code", self.code, methods=["GET"], name="code"),
            Route("/codebook/history", self.history, methods=["GET"], name="codebook-history"),
            Route("/codebook/diff", self.diff, methods=["GET"], name="codebook-diff"),
            Route("/codebook.toml", self.file, methods=["GET"], name="codebook-file"),
        ]

    async def codebook(self, request: Request) -> Response:
        """Shows the tree, or the codes that match a search."""
        who, parameters = viewer(request), request.query_params
        query, facet = parameters.get("q", "").strip(), parameters.get("facet", "")
        version = parse_version(request, "version")
        search = await self.work(lambda: self._browser.search(who, version, query, facet))
        context = {"search": search, "shown": search.codebook, "query": query, "facet": facet, "proposals": 0}
        if require_visitor(request).can(Permission.LEAD):
            context["proposals"] = await self.work(lambda: self._browser.count_proposals(who))
        return self.page(request, "codebook.html", context)

    async def code(self, request: Request) -> Response:
        """Shows one code with its definition, uses and history."""
        who, name = viewer(request), request.query_params.get("code", "")
        if not name:
            return self.go(request, "codebook")
        version = parse_version(request, "version")
        shown, page = await self.work(lambda: self._browser.code(who, name, version))
        reads = require_visitor(request).can(Permission.READ_EVIDENCE)
        titles = await self.work(lambda: self._browser.titles(page.examples)) if reads and page.examples else {}
        return self.page(request, "code.html", {"shown": shown, "page": page, "code": page.code, "titles": titles})

    async def history(self, request: Request) -> Response:
        who = viewer(request)
        changes = await self.work(lambda: self._browser.changes(who))
        return self.page(request, "codebook_history.html", {"changes": changes})

    async def diff(self, request: Request) -> Response:
        """Compares two versions and marks differences word by word."""
        who, before, after = viewer(request), parse_version(request, "before"), parse_version(request, "after")
        old, new, differences = await self.work(lambda: self._browser.compare(who, before, after))
        last = (await self.work(lambda: self._browser.book(who))).version
        return self.page(
            request, "codebook_diff.html", {"before": old, "after": new, "last": last, "differences": differences}
        )

    async def file(self, request: Request) -> Response:
        who, version = viewer(request), parse_version(request, "version")
        text = await self.work(lambda: self._browser.file(who, version))
        headers = {"content-disposition": 'attachment; filename="codebook.toml"'}
        return Response(text, media_type="application/toml", headers=headers)


def viewer(request: Request) -> Viewer:
    who = require_visitor(request)
    return Viewer(who.name, who.role)


def parse_version(request: Request, name: str) -> int | None:
    """Parses the version number in the query."""
    text = request.query_params.get(name, "")
    if not text:
        return None
    number = parse_whole_number(text)
    if number is None:
        raise HTTPException(404)
    return number


def _items_of_code(request: Request, code: str) -> str:
    """Returns the link to the items with a code; empty if the visitor may not read evidence."""
    needed = PERMISSIONS_BY_ROUTE.get("evidence")
    if needed is None or needed == PUBLIC or not require_visitor(request).can(needed):
        return ""
    return f"{request.url_for('evidence').path}?{urlencode({'code': code})}"


Fields = Mapping[str, Sequence[str]]
_OURS = ("csrf", "at", "stamp")


class CodebookActs(Pages):
    """Changes by the lead; each is previewed first, together with the version that it is based on."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, room: CodebookBrowser) -> None:
        super().__init__(session, templates)
        self._browser = room

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/codebook/change", self.change, methods=["GET"], name="codebook-change"),
            Route("/codebook/preview", self.preview, methods=["POST"], name="codebook-preview"),
            Route("/codebook/acts", self.act, methods=["POST"], name="codebook-act"),
            Route("/codebook/proposals", self.proposals, methods=["GET", "POST"], name="proposed-codes"),
        ]

    async def change(self, request: Request) -> Response:
        """Shows the form of a change, prefilled."""
        fields = {name: request.query_params.getlist(name) for name in request.query_params}
        if read_text(fields, "act") not in ACTS:
            return self.go(request, "codebook")
        book = await self.work(lambda: self._browser.book(viewer(request)))
        return await self.work(lambda: self._form(request, fields, book))

    async def preview(self, request: Request) -> Response:
        """Previews a change; if it is refused, shows the form again with the reason."""
        fields = parse_fields(await request.body())
        return await self._preview_change(request, fields)

    async def act(self, request: Request) -> Response:
        """Applies a change to the version that was previewed; if the codebook has changed since, previews it again."""
        fields = parse_fields(await request.body())
        who, act = require_visitor(request).name, read_text(fields, "act")
        try:
            if act == "import":
                return await self._import(request, fields)
            kind, payload = await self.work(lambda: read_change(fields, self._read_base_version(fields)))
            at = _version(fields, "at")
            await self.work(lambda: change_codebook(self.session.coding, kind, payload, who, at))
        except CodebookChanged as error:
            return await self._preview_change(request, fields, str(error))
        except QuaestorError as error:
            if act == "import":
                raise
            return await self._preview_change(request, fields, str(error), 503 if is_unavailable(error) else 422)
        if kind == "codebook.undo":
            return self.go(request, "codebook-history")
        book = await self.work(lambda: self._browser.book(viewer(request)))
        about = next((name for name in _list_codes(payload) if name in book.codes), "")
        return self.go(request, "code", urlencode({"code": about})) if about else self.go(request, "codebook")

    async def proposals(self, request: Request) -> Response:
        """Lists the codes that raters proposed; a POST decides about one."""
        who, refused, status, fields = require_visitor(request).name, "", 200, {}
        if request.method == "POST":
            fields = await read_fields(request)
            try:
                code = await self.work(lambda: _settle_proposal(self.session.coding, fields, who))
            except QuaestorError as error:
                refused, status = str(error), refusal_status(error)
            else:
                return self.go(request, "proposed-codes", urlencode({"done": code or "declined"}))
        rows = await self.work(lambda: build_proposal_rows(self.session.coding, who))
        typed, untouched = defaultdict(str, fields), defaultdict[str, str](str)
        context = {"rows": rows, "typed": typed, "untouched": untouched, "refused": refused}
        context["done"] = request.query_params.get("done", "")
        return self.page(request, "proposed_codes.html", context, status)

    async def _import(self, request: Request, fields: Fields) -> Response:
        """Imports the codebook file as it was previewed; the first import needs no preview."""
        who, stamp = require_visitor(request).name, read_text(fields, "stamp")
        book = await self.work(lambda: self._browser.book(viewer(request)))
        if book.version and not stamp:
            return await self._preview_change(request, fields)
        await self.work(lambda: import_codebook(self.session.coding, None, who, stamp))
        return self.go(request, "codebook")

    async def _preview_change(self, request: Request, fields: Fields, refused: str = "", status: int = 409) -> Response:
        who = viewer(request)
        book = await self.work(lambda: self._browser.book(who))
        is_import = read_text(fields, "act") == "import"
        try:
            if is_import:
                preview = await self.work(lambda: self._browser.preview_file(who))
            else:
                kind, payload = await self.work(lambda: read_change(fields, self._read_base_version(fields)))
                preview = await self.work(lambda: self._browser.preview(who, kind, payload))
        except QuaestorError as error:
            if is_import:
                raise
            return self._form(request, fields, book, str(error), status if refused else 422)
        items = list(dict.fromkeys(item for move in preview.moves for item in move.items))
        titles = await self.work(lambda: self._browser.titles(items)) if items else {}
        context = {
            "preview": preview,
            "form": build_form(fields, book),
            "fields": [(name, value) for name, values in fields.items() if name not in _OURS for value in values],
            "titles": titles,
            "refused": refused,
        }
        return self.page(request, "codebook_preview.html", context, status if refused else 200)

    def _form(self, request: Request, fields: Fields, book: Codebook, refused: str = "", status: int = 200) -> Response:
        context = {"form": build_form(fields, book), "refused": refused}
        return self.page(request, "codebook_change.html", context, status)

    def _read_base_version(self, fields: Fields) -> Codebook:
        """Returns the version that the form was filled in on."""
        with self.session.locked_state() as state:
            version = _version(fields, "from")
            return state.history.latest if version is None else state.history.at(version)


def _settle_proposal(coding: CodingSession, fields: Mapping[str, str], who: str) -> str:
    """Decides about a proposed code from a form; returns the code that it became, if any."""
    number = parse_whole_number(fields.get("number", "")) or 0
    outcome = fields.get("outcome", "")
    new = NewCode(fields.get("name", ""), fields.get("parent", ""), fields.get("definition", ""))
    return settle_proposed_code(
        coding, number, outcome, who, code=fields.get("code", ""), new=new, reason=fields.get("reason", "")
    )


def _version(fields: Fields, name: str) -> int | None:
    text = read_text(fields, name)
    if not text:
        return None
    number = parse_whole_number(text)
    if number is None:
        raise InputError(f"the version is {text[:60]!r}: reload the page")
    return number


def _list_codes(payload: Mapping[str, Any]) -> list[str]:
    """Lists the codes that a change affects, first the one to show afterwards."""
    return [str(payload[name]) for name in ("into", "code", "id") if name in payload]
