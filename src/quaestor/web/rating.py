"""The rating desk: a sheet at a time, by form or by script, each rating acknowledged when the disk has it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.templating import Jinja2Templates

from quaestor.base.errors import QuaestorError, StateError
from quaestor.study.desk import Asked, Desk, Sheet
from quaestor.study.folder import open_study
from quaestor.study.journal import has_journal
from quaestor.web.forms import fields_in

_MOST_AHEAD = 20
_LONGEST_BODY = 200_000


class RatingPages:
    """What a rater does; whose hands are on the keyboard is the signed-in visitor, never a field of a form."""

    def __init__(self, folder: Path, templates: Jinja2Templates) -> None:
        self._folder = folder
        self._templates = templates
        self._opened: Desk | None = None
        self._opening = threading.Lock()

    @property
    def _desk(self) -> Desk:
        """Opened by whoever rates first: a study in which nobody has acted gets no journal by being looked at."""
        with self._opening:
            if self._opened is None:
                study = open_study(self._folder)
                if not has_journal(study):
                    raise StateError("No round has been opened yet: the lead opens rounds.")
                self._opened = Desk(study)
            return self._opened

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    async def rate(self, request: Request) -> Response:
        """The next sheet, or the one asked for."""
        name, who = request.path_params["name"], request.state.visitor.name
        sheet = await run_in_threadpool(lambda: self._desk.sheet(name, who, request.query_params.get("item", "")))
        if sheet is None:
            return self._page(request, "all_rated.html", {"round": name})
        return self._page(request, "rate.html", {"sheet": sheet})

    async def ahead(self, request: Request) -> Response:
        """The sheets that come after an item, so that the next one is there before it is asked for."""
        name, who = request.path_params["name"], request.state.visitor.name
        after = request.query_params.get("after", "")
        sheets = await run_in_threadpool(lambda: self._desk.ahead(name, who, after, _MOST_AHEAD))
        rendered = [
            {"item": sheet.item, "html": self._render(request, "sheet.html", {"sheet": sheet})} for sheet in sheets
        ]
        return JSONResponse({"sheets": rendered})

    async def give(self, request: Request) -> Response:
        """A rating by form or by script; by script it is answered with the number of its act."""
        name, who = request.path_params["name"], request.state.visitor.name
        by_script = request.headers.get("content-type", "").startswith("application/json")
        said = await (_from_script(request) if by_script else _from_form(request))
        try:
            if said["practice"]:
                told = await run_in_threadpool(lambda: self._desk.practise(name, who, said["item"], said["answers"]))
                return JSONResponse(told) if by_script else self._feedback(request, name, said, told)
            act = await run_in_threadpool(self._give, name, who, said)
        except QuaestorError as error:
            if by_script:
                return JSONResponse({"refused": str(error)}, status_code=422)
            sheet = await run_in_threadpool(lambda: self._desk.sheet(name, who, said["item"]))
            context = {"sheet": sheet, "refused": str(error)}
            return self._page(request, "rate.html", context, status=422)
        if by_script:
            return JSONResponse({"act": act, "item": said["item"]})
        return RedirectResponse(str(request.url_for("rate", name=name).path), status_code=303)

    def _give(self, name: str, who: str, said: dict[str, Any]) -> int:
        return self._desk.give(
            name, who, said["item"], said["answers"],
            unsure=said["unsure"], memo=said["memo"], seconds=said["seconds"], key=said["key"],
        )  # fmt: skip

    def _feedback(self, request: Request, name: str, said: dict[str, Any], told: dict[str, Any]) -> Response:
        return self._page(request, "practised.html", {"round": name, "item": said["item"], "told": told})

    async def mine(self, request: Request) -> Response:
        """A rater's own ratings, each a step away from being changed."""
        name, who = request.path_params["name"], request.state.visitor.name
        ratings = await run_in_threadpool(lambda: self._desk.own_ratings(name, who))
        return self._page(request, "mine.html", {"round": name, "ratings": ratings})

    def _page(self, request: Request, template: str, context: dict[str, Any], status: int = 200) -> Response:
        context = {"refused": "", "study": open_study(self._folder).settings.study, **context}
        return self._templates.TemplateResponse(request, template, context, status_code=status)

    def _render(self, request: Request, template: str, context: dict[str, Any]) -> str:
        return self._templates.get_template(template).render(request=request, refused="", **context)


async def _from_script(request: Request) -> dict[str, Any]:
    body = await request.body()
    if len(body) > _LONGEST_BODY:
        raise HTTPException(413)
    try:
        raw = json.loads(body)
        answers = {str(name): value for name, value in raw["answers"].items()}
        return {
            "item": str(raw["item"]),
            "answers": answers,
            "unsure": [str(one) for one in raw.get("unsure", [])],
            "memo": str(raw.get("memo", "")),
            "seconds": float(raw.get("seconds", 0)),
            "key": str(raw["key"])[:200],
            "practice": bool(raw.get("practice")),
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise HTTPException(400) from None


async def _from_form(request: Request) -> dict[str, Any]:
    form = fields_in(await request.body())
    answers: dict[str, Any] = {}
    for name, given in form.items():
        if not name.startswith("answer."):
            continue
        facet = name.removeprefix("answer.")
        values = [value for value in given if value]
        if values:
            answers[facet] = values if len(values) > 1 else values[0]
    for facet in {name.split(".")[1] for name in form if name.startswith(("verb.", "object."))}:
        verb, thing = _one(form, f"verb.{facet}"), _one(form, f"object.{facet}")
        if (verb or thing) and facet not in answers:
            answers[facet] = {"verb": verb, "object": thing}
    for facet in {name.split(".")[1] for name in form if name.startswith("instead.")}:
        instead = _one(form, f"instead.{facet}").strip()
        if instead and answers.get(facet) == "no":
            answers[facet] = f"no: {instead}"
    return {
        "item": _one(form, "item"),
        "answers": answers,
        "unsure": form.get("unsure", []),
        "memo": _one(form, "memo"),
        "seconds": 0.0,
        "key": _one(form, "key")[:200],
        "practice": _one(form, "practice") == "yes",
    }


def _one(form: Mapping[str, Sequence[str]], name: str) -> str:
    return form.get(name, ("",))[0]


def chosen_values(asked: Asked) -> tuple[str, ...]:
    """The values of a facet that were chosen before, as the sheet's boxes name them."""
    said = asked.given
    if said is None:
        return ()
    if isinstance(said, dict):
        more = said.get("reason")
        if asked.kind == "keep":
            return (f"exclude: {more}" if more else str(said.get("answer", "")),)
        return (str(said.get("answer", "")),)
    if isinstance(said, list | tuple):
        return tuple(str(one) for one in said)
    return (str(said),)


def left_in_words(sheet: Sheet) -> str:
    """How long the rest will take at the rater's own pace."""
    left = sheet.total - sheet.done
    if sheet.pace is None or not left:
        return ""
    minutes = left * sheet.pace / 60
    rest = f"{minutes / 60:.0f} h" if minutes >= 90 else f"{max(1, round(minutes))} min"
    return f"{sheet.pace:.0f} s an item, about {rest} left"
