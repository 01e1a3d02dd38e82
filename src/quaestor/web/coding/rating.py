"""The rating desk: one sheet at a time, by form or script; a rating is acknowledged once it is on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
from jinja2 import Environment
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError, TemporarilyUnavailable
from quaestor.base.names import is_storable, parse_whole_number
from quaestor.coding.model.code_proposals import NewCode
from quaestor.coding.model.facet_kinds import FACET_KINDS
from quaestor.coding.pages.activity import OwnRound, list_own_rounds
from quaestor.coding.pages.rating_sheet import Desk, RatingSheet, SheetFacet, list_unseen_questions, restore_sheet
from quaestor.coding.rating import codes_passages
from quaestor.coding.rating_files import NewRating, WrongStudy, import_ratings
from quaestor.coding.rating_rows import InvalidCells
from quaestor.coding.rating_spreadsheet import build_rating_spreadsheet
from quaestor.evidence.item_texts import read_titles
from quaestor.interviews.model.records import parse_item_id
from quaestor.web.coding.disagreements import slice_page
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, require_visitor, send_file
from quaestor.web.security.forms import SentFile, parse_fields, parse_json, read_upload, require_key
from quaestor.web.study_session import StudySession

_MOST_AHEAD = 20
_LONGEST_BODY = 200_000
_UNNAMED = "spreadsheet.xlsx"
_LATER = "The desk cannot save right now. Your rating is not lost; the lead can see what is wrong."


class RatingPages(Pages):
    """Pages of raters; the rater is always the signed-in visitor, never a form field."""

    def __init__(self, session: StudySession, templates: Jinja2Templates, warm: Callable[[], None]) -> None:
        super().__init__(session, templates)
        self._warm = warm
        self._fetching = anyio.Semaphore(1)

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds/{name}/rate", self.rate, methods=["GET"], name="rate"),
            Route("/rounds/{name}/ratings", self.give, methods=["POST"], name="give"),
            Route("/rounds/{name}/ahead", self.ahead, methods=["GET"], name="ahead"),
            Route("/rounds/{name}/mine", self.mine, methods=["GET"], name="mine"),
            Route("/mine", self.my_ratings, methods=["GET"], name="my-ratings"),
            Route("/rounds/{name}/spreadsheet.xlsx", self.spreadsheet, methods=["GET"], name="rating-spreadsheet"),
            Route(
                "/rounds/{name}/spreadsheet",
                self.import_spreadsheet,
                methods=["POST"],
                name="rating-spreadsheet-import",
            ),
        ]

    def begin(self) -> None:
        """Prepares the first sheet of each rater when the desk starts."""
        threading.Thread(target=self._warm_up, name="warm up", daemon=True).start()

    def _warm_up(self) -> None:
        with suppress(QuaestorError):  # the pages show the error
            if self.session.coding_if_any is not None:
                self.session.desk.warm_up()
                self._warm()

    @property
    def _desk(self) -> Desk:
        return self.session.desk

    async def rate(self, request: Request) -> Response:
        """Shows the next sheet, or the requested one."""
        name, who = request.path_params["name"], require_visitor(request).name
        item = request.query_params.get("item", "")
        if await self.work(lambda: codes_passages(self._desk.coding, name)):
            return self._transcript(request, name, item)
        sheet = await self.work(lambda: self._desk.build_sheet(name, who, item))
        if sheet is None:
            return self.page(request, "all_rated.html", {"round": name})
        return self.page(request, "rate.html", {"sheet": sheet})

    def _transcript(self, request: Request, name: str, item: str) -> Response:
        """Redirects to the coding page of a transcript, at the requested turn."""
        if not item:
            return self.go(request, "coding", name=name)
        interview, turn = parse_item_id(item)
        return self.go(request, "coding-transcript", f"turn={turn}#turn-{turn}", name=name, interview=interview)

    async def ahead(self, request: Request) -> Response:
        """Returns the sheets after an item, so that the browser can load them in advance."""
        name, who = request.path_params["name"], require_visitor(request).name
        after = request.query_params.get("after", "")
        most = min(parse_whole_number(request.query_params.get("most", "")) or _MOST_AHEAD, _MOST_AHEAD)

        def rendered() -> list[dict[str, str]]:
            sheets = self._desk.list_next_sheets(name, who, after, most)
            return [
                {"item": sheet.item, "html": self.render(request, "sheet.html", {"sheet": sheet})} for sheet in sheets
            ]

        # One at a time: saving a rating takes precedence over prefetching sheets.
        async with self._fetching:
            return JSONResponse({"sheets": await self.work(rendered), "rater": who})

    async def give(self, request: Request) -> Response:
        """Saves a rating by form or script; the response reveals nothing about other raters."""
        name, who = request.path_params["name"], require_visitor(request).name
        by_script = request.headers.get("content-type", "").startswith("application/json")
        sent = await (_from_script(request) if by_script else _from_form(request))
        if not await self.work(lambda: self.session.is_sent_by(sent["rater"], who)):
            return JSONResponse({"refused": f"this was rated by {sent['rater']!r}"}, status_code=409)
        if not by_script and (unseen := await self._show_unseen_questions(request, name, sent)):
            return unseen
        try:
            if sent["practice"]:
                feedback = await self.work(lambda: self._desk.practise(name, who, sent["item"], sent["answers"]))
                return JSONResponse(feedback) if by_script else self._feedback(request, name, sent, feedback)
            await self._save(name, who, sent)
        except WrongStudy as error:
            return JSONResponse({"refused": str(error)}, status_code=409)
        except TemporarilyUnavailable:
            if by_script:  # the rating is valid and stays queued in the browser
                return JSONResponse({"later": _LATER}, status_code=503)
            raise
        except QuaestorError as error:
            if by_script:
                return JSONResponse({"refused": str(error)}, status_code=422)
            return await self._show_refused_sheet(request, name, sent, str(error), 422)
        if by_script:
            return JSONResponse({"saved": True, "item": sent["item"]})
        return self.go(request, "rate", name=name)

    async def _show_unseen_questions(self, request: Request, name: str, sent: dict[str, Any]) -> Response | None:
        """Shows the sheet again with the questions that the answers lead to; without a script, it hid them."""
        try:
            if not await self.work(lambda: self._desk.has_conditions(name)):
                return None
            sheet = await self.work(lambda: self._desk.build_sheet(name, require_visitor(request).name, sent["item"]))
        except QuaestorError:
            return None  # saving gives the reason
        if sheet is None:
            return None
        typed = restore_sheet(sheet, sent["answers"], sent["unsure"], sent["memo"], sent["proposed"])
        questions = list_unseen_questions(typed, sent["shown"])
        if not questions:
            return None
        why = f"Not saved yet. Your answers lead to another question: {' '.join(questions)}"
        return self.page(request, "rate.html", {"sheet": typed, "refused": why}, 422)

    async def _show_refused_sheet(
        self, request: Request, name: str, sent: dict[str, Any], why: str, status: int
    ) -> Response:
        """Shows the sheet again with the submitted values and the reason of the refusal."""
        sheet = await self.work(lambda: self._desk.build_sheet(name, require_visitor(request).name, sent["item"]))
        if sheet is None:
            return self.page(request, "all_rated.html", {"round": name, "refused": why}, status)
        typed = restore_sheet(sheet, sent["answers"], sent["unsure"], sent["memo"], sent["proposed"])
        return self.page(request, "rate.html", {"sheet": typed, "refused": why}, status)

    async def _save(self, name: str, who: str, sent: dict[str, Any]) -> None:
        """Records a rating; it is on disk when this returns."""
        desk = self.session.open_desk
        if desk is None:
            desk = await self.work(lambda: self._desk)
        details = {field: sent[field] for field in ("memo", "seconds", "key", "opened", "proposed")}
        pending = desk.queue_rating(
            name, who, NewRating(sent["item"], sent["answers"], tuple(sent["unsure"]), **details)
        )
        await desk.coding.pending.wait(pending, self.save)
        pending.result()  # raises the reason of a refusal

    def _feedback(self, request: Request, name: str, sent: dict[str, Any], feedback: dict[str, Any]) -> Response:
        return self.page(request, "practised.html", {"round": name, "item": sent["item"], "feedback": feedback})

    async def my_ratings(self, request: Request) -> Response:
        """Lists the rounds in which the visitor rates, open or closed; goes to the ratings if there is one."""
        rounds = await self.work(lambda: self._list_own_rounds(require_visitor(request).name))
        if len(rounds) == 1:
            return self.go(request, "mine", name=rounds[0].round)
        return self.page(request, "my_ratings.html", {"rounds": rounds})

    def _list_own_rounds(self, name: str) -> list[OwnRound]:
        with self.session.locked_state() as state:
            return list_own_rounds(state, name)

    async def mine(self, request: Request) -> Response:
        """Lists the rater's own ratings of a round, with links to change them while it is open."""
        name, who = request.path_params["name"], require_visitor(request).name
        own = await self.work(lambda: self._desk.list_own_ratings(name, who))
        shown, where = slice_page(request, own.ratings)
        items = [rating.item for rating in shown]
        titles = await self.work(lambda: read_titles(self._desk.study, items, self.session.text_mask))
        context = {"round": name, "own": own, "ratings": shown, "titles": titles, **where}
        return self.page(request, "mine.html", context)

    async def spreadsheet(self, request: Request) -> Response:
        """Sends the visitor's own items of a round as a spreadsheet to fill in."""
        name, who = request.path_params["name"], require_visitor(request).name
        return send_file(await self.work(lambda: build_rating_spreadsheet(self._desk.coding, name, who, is_own=True)))

    async def import_spreadsheet(self, request: Request) -> Response:
        """Records what the visitor filled in, or shows every invalid cell and records nothing."""
        name, who = request.path_params["name"], require_visitor(request).name
        sent = (await read_upload(await request.body(), request.headers)).files.get("file", SentFile("", b""))
        context: dict[str, Any] = {"round": name, "file": sent.name, "problems": [], "done": None}
        try:
            if not sent.data:
                raise InputError("no file was sent: choose a spreadsheet")
            path = Path(sent.name if is_storable(sent.name) else _UNNAMED)
            done = await self.work(
                lambda: import_ratings(self._desk.coding, name, path, who, data=sent.data, is_own=True)
            )
        except InvalidCells as error:
            return self.page(request, "spreadsheet_import.html", {**context, "problems": error.problems}, 422)
        except QuaestorError as error:
            status = refusal_status(error)
            return self.page(request, "spreadsheet_import.html", {**context, "refused": str(error)}, status)
        return self.page(request, "spreadsheet_import.html", {**context, "done": done})


async def _from_script(request: Request) -> dict[str, Any]:
    raw = parse_json(await request.body(), _LONGEST_BODY)
    try:
        answers = {str(name): value for name, value in raw["answers"].items()}
        return {
            "item": str(raw["item"]),
            "answers": answers,
            "unsure": [str(facet) for facet in raw.get("unsure", [])],
            "memo": str(raw.get("memo", "")),
            "seconds": float(raw.get("seconds", 0)),
            "key": require_key(str(raw["key"])),
            "practice": bool(raw.get("practice")),
            "rater": str(raw.get("rater", "")),
            "opened": str(raw.get("opened", "")),
            "proposed": read_proposed(raw.get("proposed") or {}),
        }
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        raise HTTPException(400) from None


async def _from_form(request: Request) -> dict[str, Any]:
    form = parse_fields(await request.body())
    answers: dict[str, Any] = {}
    for name, sent in form.items():
        if not name.startswith("answer."):
            continue
        facet = name.removeprefix("answer.")
        values = [value for value in sent if value]
        if values:
            answers[facet] = values if len(values) > 1 else values[0]
    for kind in FACET_KINDS.values():
        facets = {name.partition(".")[2] for name in form if name.partition(".")[0] in kind.form_fields}
        for facet in facets:
            fields = {field: _first_value(form, f"{field}.{facet}") for field in kind.form_fields}
            answer = kind.read_form(answers.get(facet), fields)
            if answer is not None:
                answers[facet] = answer
    return {
        "item": _first_value(form, "item"),
        "answers": answers,
        "unsure": form.get("unsure", []),
        "shown": form.get("shown", []),
        "memo": _first_value(form, "memo"),
        "seconds": 0.0,
        "key": require_key(_first_value(form, "key")),
        "practice": _first_value(form, "practice") == "yes",
        "rater": "",
        "opened": "",
        "proposed": read_proposed({field: _first_value(form, f"proposed.{field}") for field in _PROPOSED}),
    }


_PROPOSED = ("name", "parent", "definition", "facet")


def read_proposed(fields: Mapping[str, Any]) -> NewCode | None:
    """Reads the proposed code of a rating; None if nothing was typed."""
    proposed = NewCode(*(str(fields.get(field) or "") for field in _PROPOSED))
    return proposed if proposed.name.strip() or proposed.definition.strip() else None


def _first_value(form: Mapping[str, Sequence[str]], name: str) -> str:
    return form.get(name, ("",))[0]


def describe_time_left(sheet: RatingSheet) -> str:
    """Estimates the remaining time at the rater's own pace."""
    left = sheet.total - sheet.done
    if sheet.pace is None or not left:
        return ""
    minutes = left * sheet.pace / 60
    rest = f"{minutes / 60:.0f} h" if minutes >= 90 else f"{max(1, round(minutes))} min"
    return f"{sheet.pace:.0f} s per item, about {rest} left"


_KEPT = 64


class FacetRenderer:
    """Renders the facets of a sheet; caches unanswered facets, which look the same on every sheet of a round."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._known = lru_cache(_KEPT)(self._rendered)

    def __call__(self, questions: tuple[SheetFacet, ...]) -> Markup:
        unanswered = all(question.answer is None and not question.unsure for question in questions)
        return self._known(questions) if unanswered else self._rendered(questions)

    def _rendered(self, questions: tuple[SheetFacet, ...]) -> Markup:
        html = self._environment.get_template("facets.html").render(questions=questions)
        return Markup(html)  # noqa: S704 - made by a template that escapes
