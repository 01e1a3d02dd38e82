"""The funnel in the browser: every number opens the items behind it."""

from __future__ import annotations

from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.templating import Jinja2Templates

from quaestor.base.errors import StateError
from quaestor.people.roles import Permission
from quaestor.study.folder import Study, open_study
from quaestor.study.funnel import drawing, last_result
from quaestor.study.items import items_of_step
from quaestor.study.sources import notes_of
from quaestor.study.status import study_status
from quaestor.study.waiting import waiting_for

_PAGE = 50


class FunnelPages:
    """Pages of one study; each request looks at the study anew."""

    def __init__(self, folder: Path, templates: Jinja2Templates) -> None:
        self._folder = folder
        self._templates = templates

    async def home(self, request: Request) -> Response:
        """The funnel for those who read; for those who rate, what waits for them and nothing else."""
        study = open_study(self._folder)
        visitor = request.state.visitor
        if visitor.can(Permission.READ_EVIDENCE):
            return self._funnel(request, study)
        rounds = await run_in_threadpool(waiting_for, study, visitor.name)
        context = {"study": study.settings.study, "rounds": rounds}
        return self._templates.TemplateResponse(request, "waiting.html", context)

    def _funnel(self, request: Request, study: Study) -> Response:
        status = study_status(study)
        found = last_result(study) if study.settings.sources else None
        result, holds = found or (None, True)
        context = {
            "study": study.settings.study,
            "result": result,
            "widest": result.steps[0].entered if result and result.steps else 0,
            "holds": holds,
            "status": status,
            "synthetic": _synthetic(study),
        }
        return self._templates.TemplateResponse(request, "funnel.html", context)

    async def drawing(self, request: Request) -> Response:
        found = last_result(open_study(self._folder))
        if found is None:
            raise StateError("the funnel has not run yet: run `quaestor funnel` first")
        return Response(drawing(found[0]), media_type="image/svg+xml")

    async def items(self, request: Request) -> Response:
        study = open_study(self._folder)
        found = last_result(study)
        number, side = request.path_params["step"], request.path_params["side"]
        if found is None or not 1 <= number <= len(found[0].steps) or side not in ("kept", "dropped"):
            raise HTTPException(404)
        step = found[0].steps[number - 1]
        page = _page(request)
        dropped = side == "dropped"
        rows = await run_in_threadpool(
            items_of_step, study, step.step, dropped=dropped, limit=_PAGE, offset=(page - 1) * _PAGE
        )
        total = step.dropped if dropped else step.kept
        context = {
            "study": study.settings.study,
            "step": step,
            "side": side,
            "rows": rows,
            "page": page,
            "pages": max(1, -(-total // _PAGE)),
            "total": total,
            "first": (page - 1) * _PAGE + 1,
            "size": _PAGE,
            "synthetic": _synthetic(study),
        }
        return self._templates.TemplateResponse(request, "items.html", context)


def _page(request: Request) -> int:
    text = request.query_params.get("page", "1")
    if not text.isdecimal() or not 1 <= int(text) <= 1_000_000:
        raise HTTPException(404)
    return int(text)


def _synthetic(study: Study) -> str:
    """The note that evidence is synthetic, where it is."""
    return "; ".join(notes_of(study))
