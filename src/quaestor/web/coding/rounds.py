"""Round pages of the lead: set up, open, follow and close rounds, and export ratings and decisions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, NoMatchFound, Route

from quaestor.base.clock import parse_utc
from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.coding import round_acts
from quaestor.coding.pages.rounds import (
    NOT_OPENED,
    RoundOverview,
    build_round_overview,
    list_round_events,
    list_round_overviews,
)
from quaestor.coding.rating_files import (
    RoundFile,
    build_decisions_file,
    build_ratings_file,
    explain_no_files,
    find_view_consent,
    record_consented_view,
)
from quaestor.coding.round_acts import find_round_settings
from quaestor.coding.round_setup import (
    RoundPreview,
    add_round,
    change_round,
    list_round_choices,
    preview_round,
    preview_study,
    read_round_settings,
    remove_round,
)
from quaestor.coding.session import CodingSession
from quaestor.web.error_pages import is_unavailable, refusal_status
from quaestor.web.page import Pages, require_visitor, send_file
from quaestor.web.security.forms import parse_fields, read_fields

Typed = Mapping[str, Sequence[str]]
_CONDITIONS = ("code", "disagreement", "round", "year", "tag", "family")
_ATTRIBUTE = "where.attribute."
_TEXTS = ("round", "kind", "statistic", "measured", "after", "settle", "tie_breaker")


def read_settings(typed: Typed) -> dict[str, Any]:
    """Converts a form to `[[rounds]]` settings; omits empty fields."""
    settings: dict[str, Any] = {name: _first_value(typed, name) for name in _TEXTS if _first_value(typed, name)}
    settings["facets"] = _list_values(typed, "facets")
    settings["raters"] = list(
        dict.fromkeys([*_list_values(typed, "raters"), *_names(_first_value(typed, "more_raters"))])
    )
    settings["items"] = _items(typed)
    settings["blind"] = _first_value(typed, "blind") == "yes"
    if other := _first_value(typed, "other_tie_breaker"):
        settings["tie_breaker"] = other
    if confirms := _list_values(typed, "confirms"):
        settings["confirms"] = confirms
    if overlap := _first_value(typed, "overlap"):
        settings["overlap"] = _share(overlap)
    if threshold := _first_value(typed, "threshold"):
        settings["threshold"] = threshold.replace(",", ".")
    if instructions := _first_value(typed, "instructions"):
        settings["instructions"] = instructions.replace("\r\n", "\n").replace("\r", "\n")
    if deadline := _first_value(typed, "deadline"):
        settings["deadline"] = datetime.fromisoformat(parse_utc(deadline))
    return settings


def _items(typed: Typed) -> dict[str, Any]:
    place, _, name = _first_value(typed, "items").partition("=")
    if not name:
        raise InputError("no items are chosen: choose the items of the round")
    items: dict[str, Any] = {place: name}
    items |= {key: value for key in ("size", "set_size") if (value := _first_value(typed, key))}
    if without := _list_values(typed, "without"):
        items["without"] = without
    where: dict[str, Any] = {key: value for key in _CONDITIONS if (value := _first_value(typed, f"where.{key}"))}
    names = (field.removeprefix(_ATTRIBUTE) for field in typed if field.startswith(_ATTRIBUTE))
    attributes = {name: value for name in names if (value := _first_value(typed, f"{_ATTRIBUTE}{name}"))}
    where |= {"attributes": attributes} if attributes else {}
    return {**items, "where": where} if where else items


def build_form_values(settings: Mapping[str, Any]) -> dict[str, list[str]]:
    """Converts a round of study.toml to form values."""
    typed = {name: [str(settings[name])] for name in _TEXTS if settings.get(name)}
    items = settings.get("items", {})
    place = next((key for key in ("after", "strand", "sample", "kept_by", "again") if items.get(key)), "")
    typed["items"] = [f"{place}={items[place]}"] if place else []
    typed |= {key: [str(items[key])] for key in ("size", "set_size") if items.get(key)}
    typed["without"] = list(items.get("without", ()))
    where = items.get("where") or {}
    typed |= {f"where.{key}": [str(where[key])] for key in _CONDITIONS if where.get(key)}
    typed |= {f"{_ATTRIBUTE}{name}": [value] for name, value in where.get("attributes", {}).items()}
    typed |= {name: list(settings.get(name, ())) for name in ("facets", "raters", "confirms")}
    typed["overlap"] = [f"{100 * settings.get('overlap', 1.0):g}"]
    typed["threshold"] = [f"{settings['threshold']:g}"] if settings.get("threshold") is not None else []
    typed["blind"] = ["yes"] if settings.get("blind", True) else []
    typed["instructions"] = [settings.get("instructions", "")]
    typed["deadline"] = [settings["deadline"].isoformat()[:16]] if settings.get("deadline") else []
    return typed


NEW: Typed = {"blind": ["yes"], "overlap": ["100"], "kind": ["main"]}
"""Initial values of the form."""


class RoundForm:
    """The values of the form fields."""

    def __init__(self, typed: Typed) -> None:
        self._typed = typed

    @property
    def has_conditions(self) -> bool:
        return any(self.value(name) for name in self._typed if name.startswith("where."))

    def value(self, name: str) -> str:
        return _first_value(self._typed, name)

    def has(self, name: str, value: str) -> bool:
        return value in self._typed.get(name, ())


def _first_value(typed: Typed, name: str) -> str:
    return next(iter(typed.get(name, ())), "").strip()


def _list_values(typed: Typed, name: str) -> list[str]:
    return [value for value in typed.get(name, ()) if value]


def _names(text: str) -> list[str]:
    """Splits names at line ends and commas."""
    return [name for part in re.split(r"[\r\n,]+", text) if (name := part.strip())]


def _share(percent: str) -> float:
    try:
        return float(percent.replace(",", ".")) / 100
    except ValueError:
        raise InputError(f"the overlap is {percent!r}: give a percentage from 0 to 100") from None


_KEPT = ("seed", "practice")
"""Settings of a round that the form does not contain."""


MakeFile = Callable[[CodingSession, str, str, str], RoundFile]


class RoundPages(Pages):
    """Round pages of the lead."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/rounds", self.rounds, methods=["GET"], name="rounds"),
            Route("/rounds/new", self.new, methods=["GET", "POST"], name="round-new"),
            Route("/rounds/{name}", self.round, methods=["GET"], name="round"),
            Route("/rounds/{name}/acts", self.act, methods=["POST"], name="round-act"),
            Route("/rounds/{name}/ratings.{form}", self.ratings, methods=["GET", "POST"], name="ratings-file"),
            Route("/rounds/{name}/decisions.{form}", self.decisions, methods=["GET", "POST"], name="decisions-file"),
        ]

    async def rounds(self, request: Request) -> Response:
        return await self._rounds(request)

    async def round(self, request: Request) -> Response:
        return await self._round(request, request.path_params["name"])

    async def _rounds(self, request: Request, status: int = 200, **more: Any) -> Response:
        rounds = await self.work(self._list_overviews)
        people = await self.work(lambda: list_round_choices(self.session.study).people)
        context = {"rounds": rounds, "people": people, "typed": {}, **more}
        return self.page(request, "rounds.html", context, status)

    def _list_overviews(self) -> list[RoundOverview]:
        with self.session.locked_state() as state:
            return list_round_overviews(self.session.study, state)

    async def _round(self, request: Request, name: str, status: int = 200, **more: Any) -> Response:
        who = require_visitor(request).name
        context = await self.work(lambda: self._read_round(name, who))
        links = _links(request, context["overview"], who)
        return self.page(request, "round.html", {**context, "links": links, "typed": {}, **more}, status)

    def _read_round(self, name: str, who: str) -> dict[str, Any]:
        study, coding = self.session.study, self.session.coding_if_any
        with self.session.locked_state() as state:
            overview = build_round_overview(study, state, name)
            why = explain_no_files(state, name, who, study.settings.study.lead) if overview.status != NOT_OPENED else ""
        fixed = overview.status != NOT_OPENED
        preview = None if fixed else preview_round(study, coding, find_round_settings(study, name))
        return {
            "overview": overview,
            "preview": preview,
            "log": list_round_events(coding, name) if coding and fixed else [],
            "why_no_files": why,
            "people": list_round_choices(study).people,
        }

    async def new(self, request: Request) -> Response:
        """Shows the form of a new round, or of one that was not opened yet."""
        if request.method != "POST":
            changed = request.query_params.get("change", "")
            typed = build_form_values(read_round_settings(self.session.study, changed)) if changed else NEW
            return await self._form(request, typed, changed)
        typed = parse_fields(await request.body())
        changed = typed.get("change", [""])[0]
        who = require_visitor(request).name
        try:
            if typed.get("do", ["add"])[0] == "preview":
                preview = await self.work(lambda: self._preview(typed, changed))
                return await self._form(request, typed, changed, preview=preview)
            name = await self.work(lambda: self._save_round(typed, changed, who))
        except QuaestorError as error:
            status = 503 if is_unavailable(error) else 422
            return await self._form(request, typed, changed, status, refused=str(error))
        return self.go(request, "round", name=name)

    async def _form(self, request: Request, typed: Typed, changed: str, status: int = 200, **more: Any) -> Response:
        choices = await self.work(lambda: list_round_choices(self.session.study, changed))
        context = {"choices": choices, "form": RoundForm(typed), "change": changed, "preview": None, **more}
        return self.page(request, "round_new.html", context, status)

    def _merge_settings(self, typed: Typed, changed: str) -> dict[str, Any]:
        before = read_round_settings(self.session.study, changed) if changed else {}
        return {**{key: before[key] for key in _KEPT if key in before}, **read_settings(typed)}

    def _preview(self, typed: Typed, changed: str) -> RoundPreview:
        study, settings = self.session.study, self._merge_settings(typed, changed)
        would_be, round_settings = preview_study(study, settings, instead_of=changed)
        return preview_round(would_be, self.session.coding_if_any, round_settings)

    def _save_round(self, typed: Typed, changed: str, who: str) -> str:
        settings = self._merge_settings(typed, changed)
        if changed:
            return change_round(self.session.coding, changed, settings, who).round
        return add_round(self.session.study, settings, who).round

    async def act(self, request: Request) -> Response:
        """Handles one action; if it is refused, its page shows the reason and keeps the input."""
        name, who = request.path_params["name"], require_visitor(request).name
        fields = await read_fields(request)
        from_list = fields.get("from") == "rounds"
        try:
            await self.work(lambda: self._act(name, who, fields))
        except QuaestorError as error:
            typed = {**fields, "round": name}
            status = refusal_status(error)
            if from_list:
                return await self._rounds(request, status, refused=str(error), typed=typed)
            return await self._round(request, name, status, refused=str(error), typed=typed)
        gone = fields.get("act") == "remove"
        return self.go(request, "rounds") if from_list or gone else self.go(request, "round", name=name)

    def _act(self, name: str, who: str, fields: Mapping[str, str]) -> None:
        coding, reason = self.session.coding, fields.get("reason", "").strip()
        match fields.get("act", ""):
            case "open":
                round_acts.open_by_name(coding, name, who)
            case "close" | "make final":
                round_acts.close_by_name(coding, name, who, reason, final=bool(fields.get("final")))
            case "reopen":
                round_acts.reopen_by_name(coding, name, who, reason, not_blind=bool(fields.get("not_blind")))
            case "waive":
                round_acts.waive_by_name(coding, name, who, reason)
            case "next set":
                round_acts.next_set_by_name(coding, name, who)
            case "deadline":
                round_acts.deadline_by_name(coding, name, who, fields.get("until", ""))
            case "replace":
                by = fields.get("other", "").strip() or fields.get("by", "")
                round_acts.replace_by_name(coding, name, who, fields.get("rater", ""), by, reason)
            case "remove":
                remove_round(coding, name, who)
            case unknown:
                raise InputError(f"there is no action {unknown!r} here: reload the page")

    async def ratings(self, request: Request) -> Response:
        """Exports the ratings that the visitor may see; asks before the first view of other raters' answers."""
        return await self._file(request, "ratings", build_ratings_file)

    async def decisions(self, request: Request) -> Response:
        return await self._file(request, "decisions", build_decisions_file)

    async def _file(self, request: Request, what: str, make: MakeFile) -> Response:
        name, form, who = request.path_params["name"], request.path_params["form"], require_visitor(request).name
        coding = self.session.coding_if_any
        if coding is None:
            raise StateError(f"the round {name!r} has not been opened: it has no ratings")
        if request.method == "POST":
            await self.work(lambda: record_consented_view(coding, name, who))
        question = await self.work(lambda: find_view_consent(coding, name, who))
        if question is not None:
            return self.page(request, "look.html", {"round": name, "what": what, "consent_needed": question})
        return send_file(await self.work(lambda: make(coding, name, who, form)))


def _links(request: Request, round_overview: RoundOverview, who: str) -> list[tuple[str, str]]:
    """Lists label and path of the other pages of a round that are available now."""
    if round_overview.status == NOT_OPENED:
        return []
    rates = round_overview.status == "open" and who in [seat.rater for seat in round_overview.slots]
    choices = [
        *([("rate", "Code" if round_overview.codes_passages else "Rate")] if rates else []),
        *([("phrases", "Phrases and wording")] if round_overview.phrases else []),
        ("agreement", "Agreement"),
        *([("disagreements", "Disagreements")] if round_overview.status == "closed" else []),
        *(
            [("in-vivo", "In-vivo codes")]
            if round_overview.codes_passages and round_overview.status == "closed"
            else []
        ),
    ]
    rows = []
    for route, label in choices:
        with suppress(NoMatchFound):
            rows.append((label, str(request.url_for(route, name=round_overview.round).path)))
    return rows
