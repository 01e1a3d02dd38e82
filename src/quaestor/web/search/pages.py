"""Evidence pages: search, filter, item history, saved filters, and export."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.clock import Clock
from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.coding.visibility import Viewer
from quaestor.evidence.funnel import current_result
from quaestor.evidence.text_index import Index
from quaestor.people.directory import Directory
from quaestor.search.index_job import IndexJob, IndexProgress
from quaestor.search.index_query import Search, choose_strand
from quaestor.search.item_history import build_item_history
from quaestor.search.query import MAX_SEARCH_LENGTH, Query
from quaestor.search.results import export_csv, find_items
from quaestor.search.saved_searches import can_save, change_saved_filter, list_saved
from quaestor.study.folder import Study
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import read_fields
from quaestor.web.study_session import StudySession

_UNFIT = 422


class EvidencePages(Pages):
    """Evidence pages."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, directory: Directory, clock: Clock) -> None:
        super().__init__(session, templates)
        self._directory = directory
        self._clock = clock
        self.indexing = IndexJob()

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/evidence", self.evidence, name="evidence"),
            Route("/evidence/item", self.item, name="item"),
            Route("/evidence.csv", self.csv, name="evidence-csv"),
            Route("/evidence/filters", self.filters, methods=["POST"], name="filters"),
        ]

    def begin(self) -> None:
        """Builds the index in advance, if the funnel has run."""
        try:
            self.indexing.get_or_start(self.session.study)
        except QuaestorError:
            return

    def close(self) -> None:
        self.indexing.close()

    async def evidence(self, request: Request) -> Response:
        """Shows a page of results; the search is in the address, so that it can be shared."""
        viewer, query = _viewer(request), request.query_params
        try:
            search_query, refused = Query.from_parameters(query), ""
        except InputError as error:
            search_query, refused = Query(words=query.get("words", "")[:MAX_SEARCH_LENGTH]), str(error)
        context = await self.work(lambda: self._context(search_query, viewer, refused))
        return self.page(request, "evidence.html", context, _UNFIT if context["refused"] else 200)

    def _context(self, query: Query, viewer: Viewer, refused: str) -> Mapping[str, Any]:
        study, coding = self.session.study, self.session.coding_if_any
        strands = [(strand.strand, strand.strand_title) for strand in study.in_each_strand()]
        query = choose_strand(study, coding, query)
        context: dict[str, Any] = {
            "search_query": query, "refused": refused, "results": None, "choices": None, "building": None,
            "strands": strands if len(strands) > 1 else (),
            "nothing": "", "saved": list_saved(self._directory, viewer), "can_save": can_save(viewer),
        }  # fmt: skip
        try:
            study = _in_strand(study, query)
            current_result(study, coding)
            index = self.indexing.get_or_start(study)
        except QuaestorError as reason:
            return context | {"nothing": str(reason)}
        if isinstance(index, IndexProgress):
            return context | {"building": index}
        search = Search(study, coding, index, viewer, self.session.text_mask)
        context["choices"] = search.list_filters()
        if refused:
            return context
        try:
            return context | {"results": find_items(search, query)}
        except QuaestorError as error:
            return context | {"refused": str(error)}

    async def item(self, request: Request) -> Response:
        """Shows an item and its history."""
        viewer, item = _viewer(request), request.query_params.get("item", "")
        study, coding = self.session.study, self.session.coding_if_any
        history = await self.work(lambda: build_item_history(study, coding, item, viewer, self.session.text_mask))
        return self.page(request, "item.html", {"history": history})

    async def csv(self, request: Request) -> Response:
        """Exports all results."""
        viewer, asked = _viewer(request), Query.from_parameters(request.query_params)
        coding = self.session.coding_if_any
        search_query = await self.work(lambda: choose_strand(self.session.study, coding, asked))
        study = _in_strand(self.session.study, search_query)
        mask = self.session.text_mask
        lines = await self.work(
            lambda: export_csv(Search(study, coding, self._ready(study), viewer, mask), search_query)
        )
        headers = {"Content-Disposition": 'attachment; filename="evidence.csv"'}
        return StreamingResponse(self.stream(lines), media_type="text/csv; charset=utf-8", headers=headers)

    def _ready(self, study: Study) -> Index:
        index = self.indexing.get_or_start(study)
        if isinstance(index, IndexProgress):
            raise StateError("the search index is still being built: try again in a moment")
        return index

    async def filters(self, request: Request) -> Response:
        """Saves, renames or deletes a filter of the visitor and returns to the search."""
        viewer, fields = _viewer(request), await read_fields(request)
        filter_fields = {name: fields.get(name, "") for name in ("name", "query", "number")}
        now = self._clock()
        query = await self.work(
            lambda: change_saved_filter(self._directory, viewer, fields.get("act", ""), **filter_fields, now=now)
        )
        return self.go(request, "evidence", query)


def _in_strand(study: Study, query: Query) -> Study:
    return study.in_strand(query.strand) if query.strand else study


def _viewer(request: Request) -> Viewer:
    who = require_visitor(request)
    return Viewer(who.name, who.role)
