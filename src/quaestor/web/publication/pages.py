"""Results page: report, audit and handbook, whether they are up to date, and how to rebuild them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.staticfiles import StaticFiles
from starlette.templating import Jinja2Templates
from starlette.types import Scope

from quaestor.base.errors import InputError, StateError
from quaestor.interviews.themes.quotations import has_themes
from quaestor.people.roles import Permission
from quaestor.publication.publication import rounds_shown_to_lead
from quaestor.publication.publication_status import (
    PUBLISHED,
    PublicationStatus,
    find_held,
    hide_withheld,
    pack,
    published_folders,
    read_publication_status,
)
from quaestor.publication.rebuild_jobs import RebuildJobs
from quaestor.surveys.pages.overview import survey_lines
from quaestor.web.navigation import link_to
from quaestor.web.page import Pages, require_visitor
from quaestor.web.security.forms import read_fields
from quaestor.web.study_session import StudySession
from quaestor.web.thread_pools import run_in_pool

_IN_MEMORY, _PIECE = 8_000_000, 64_000
_WITHHELD = (
    "This is withheld because it may contain a name that became known after it was published. It is available again "
    "once the lead has masked the name and rebuilt it."
)


class ResultPages(Pages):
    """Pages of the published results."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, remaking: RebuildJobs) -> None:
        super().__init__(session, templates)
        self._rebuild_jobs = remaking

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/results", self.results, name="results"),
            Route("/results/make", self.make, methods=["POST"], name="results-make"),
            Route("/results/{name}.zip", self.packed, name="results-zip"),
        ]

    def close(self) -> None:
        self._rebuild_jobs.close()

    async def results(self, request: Request) -> Response:
        """Shows what is published; if it is out of date and the lead views it, a rebuild starts."""
        status, shows_ratings, spoken = await self.work(self._read_status)
        withheld, unread = await self.work(lambda: _find_withheld(self.session))
        may_make = require_visitor(request).can(Permission.LEAD)
        if may_make and status.stale and not shows_ratings and not self._rebuild_jobs.progress.failed:
            self._rebuild_jobs.begin(status.stale)
        surveys = await self.work(lambda: survey_lines(self.session.study, self.session.surveys_if_any))
        if not may_make:
            status = hide_withheld(status, withheld)
        times = {
            publication.name: datetime.fromtimestamp(publication.built, UTC).strftime("%Y-%m-%d %H:%M UTC")
            for publication in status.published
            if publication.built is not None
        }
        context = {
            "status": status,
            "build_times": times,
            "withheld": withheld,
            "unread": unread,
            "rebuild": self._rebuild_jobs.progress,
            "may_make": may_make,
            "shows": shows_ratings,
            "compares_strands": bool(self.session.study.settings.joint_display.strands),
            "spoken": link_to(request, "interview-themes") if spoken else "",
            "surveys": [
                (survey, link_to(request, "survey-results", name=survey.name)) for survey in surveys if survey.responses
            ],
        }
        return self.page(request, "results.html", context)

    def _read_status(self) -> tuple[PublicationStatus, list[str], bool]:
        study = self.session.study
        with self.session.locked_state() as state:
            return (
                read_publication_status(study, state),
                rounds_shown_to_lead(state, study.settings.study.lead),
                has_themes(state),
            )

    async def make(self, request: Request) -> Response:
        """Rebuilds all publications; undecided items stop the report, unless they are to be left out."""
        fields = await read_fields(request)
        self._rebuild_jobs.begin(PUBLISHED, leave_out_undecided=fields.get("undecided") == "leave-out")
        return self.go(request, "results")

    async def packed(self, request: Request) -> Response:
        name = request.path_params["name"]
        if not require_visitor(request).can(Permission.LEAD):
            await self.work(lambda: _refuse_withheld(self.session, name))
        study = self.session.study
        file: IO[bytes] = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when it has been sent
        try:
            await self.work(lambda: pack(study, name, file))
        except BaseException:
            file.close()
            raise
        called = quote(f"{study.settings.study.name}-{name}.zip", safe="")
        headers = {"Content-Disposition": f"attachment; filename=\"{name}.zip\"; filename*=UTF-8''{called}"}
        return StreamingResponse(self.stream(_pieces(file)), media_type="application/zip", headers=headers)


def _find_withheld(session: StudySession) -> tuple[tuple[str, ...], str]:
    """Returns the publications that may contain a name; all, with the reason, if the names cannot be read."""
    try:
        return find_held(session.latest, {"interviews": session.interviews_if_any}), ""
    except (InputError, StateError) as error:
        return published_folders(session.latest), str(error)


def _refuse_withheld(session: StudySession, name: str) -> None:
    """Raises StateError if the publication may contain a name; only the lead may read it then."""
    if name in _find_withheld(session)[0]:
        raise StateError(_WITHHELD)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        file.seek(0)
        while piece := file.read(_PIECE):
            yield piece


class PublishedFolder(StaticFiles):
    """Serves a folder of published/; refuses with a reason if it is missing or may contain a name."""

    def __init__(self, study: Path, name: str, session: StudySession) -> None:
        folder = study / "published" / name
        super().__init__(directory=folder, html=True, check_dir=False)
        self.config_checked = True  # the folder may be created later
        self._index = folder / "index.html"
        self._name = name
        self._session = session

    async def get_response(self, path: str, scope: Scope) -> Response:
        if not self._index.exists():
            raise StateError(f"There is no {self._name} yet: run `quaestor {self._name}` to build it.")
        if not require_visitor(Request(scope)).can(Permission.LEAD):
            await run_in_pool(lambda: _refuse_withheld(self._session, self._name))
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            raise HTTPException(error.status_code) from None
