"""Survey result pages: every number opens its answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Thread
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.templating import Jinja2Templates

from quaestor.base.errors import InputError, QuaestorError, StateError
from quaestor.base.names import parse_whole_number
from quaestor.people.roles import Permission
from quaestor.surveys.lifecycle import Surveys, survey_file
from quaestor.surveys.model.question_results import share_interval
from quaestor.surveys.pages.results import results_page
from quaestor.surveys.results.compute import survey_results
from quaestor.surveys.results.counting import AnswersBehind, CountingCache, ResponseSelection, list_answers_behind
from quaestor.surveys.results.export import svg_of_question
from quaestor.surveys.results.sentences import counted_in_words, which_in_words
from quaestor.web.page import Pages, parse_page_number, require_visitor
from quaestor.web.study_session import StudySession
from quaestor.web.surveys.desk import shared

_ASKED = ("question", "option", "row", "missing", "by", "group")


class SurveyResultPages(Pages):
    """Read-only pages of survey results."""

    def __init__(self, session: StudySession, templates: Jinja2Templates) -> None:
        super().__init__(session, templates)
        self._room = CountingCache()
        self._ahead: Thread | None = None

    def routes(self) -> Sequence[BaseRoute]:
        address = "/surveys/{name}"
        return [
            Route(f"{address}/results", self.results, methods=["GET"], name="survey-results"),
            Route(f"{address}/answers", self.answers, methods=["GET"], name="survey-answers"),
            Route(f"{address}/drawing", self.drawing, methods=["GET"], name="survey-drawing"),
        ]

    def begin(self) -> None:
        """Reads the answers in advance: large surveys take a second or two."""
        self._ahead = Thread(target=self._read_ahead, daemon=True)
        self._ahead.start()

    def close(self) -> None:
        if self._ahead is not None:
            self._ahead.join()

    def _read_ahead(self) -> None:
        with suppress(QuaestorError):  # the page shows the error
            surveys = self.session.surveys_if_any
            if surveys is not None:
                self._room.read_ahead(surveys)

    async def results(self, request: Request) -> Response:
        """Shows every question, optionally compared by the answers to another one."""
        name, by, unfinished, where = self._parse_query(request)
        surveys = await self.work(lambda: self._surveys(name))
        refused, visitor = "", require_visitor(request)
        lead = visitor.name if visitor.can(Permission.LEAD) else ""
        try:
            results = await self.work(
                lambda: results_page(
                    surveys, name, by=by, unfinished=unfinished, room=self._room, where=where, lead=lead
                )
            )
        except InputError as error:
            if not by and not where:
                raise
            refused, by, where = str(error), "", ()
            results = await self.work(
                lambda: results_page(surveys, name, by="", unfinished=unfinished, room=self._room, lead=lead)
            )
        kept: dict[str, object] = {"where": where, **({"unfinished": "1"} if unfinished else {})}

        def behind(**which: object) -> str:
            return urlencode({**{key: value for key, value in which.items() if value}, **kept}, doseq=True)

        context = {
            "page": results, "results": results.results, "by": by, "unfinished": unfinished, "where": where,
            "behind": behind, "refused": refused, "share_interval": share_interval,
            "counted": counted_in_words(results.results), "leads": bool(lead),
            **shared(request, name),
        }  # fmt: skip
        return self.page(request, "survey_results.html", context, 422 if refused else 200)

    async def answers(self, request: Request) -> Response:
        """Lists the responses behind a number, by id."""
        name, _, unfinished, where = self._parse_query(request)
        which, page = _parse_selection(request.query_params), parse_page_number(request)
        answers, words, title = await self.work(lambda: self._list_answers(name, which, page, unfinished, where))
        if page > answers.pages:
            raise HTTPException(404)
        query = [(key, value) for key, value in request.query_params.multi_items() if key != "page"]
        context = {"behind": answers, "words": words, "name": name, "query": urlencode(query), "title": title}
        return self.page(request, "survey_answers.html", context)

    def _list_answers(
        self, name: str, which: ResponseSelection, page: int, unfinished: bool, where: Sequence[str]
    ) -> tuple[AnswersBehind, Sequence[tuple[str, str]], str]:
        surveys = self._surveys(name)
        counted = self._room.counted(surveys, name, unfinished, where)
        return (
            list_answers_behind(surveys, counted, which, page),
            which_in_words(counted, which),
            counted.questionnaire.title,
        )

    async def drawing(self, request: Request) -> Response:
        """Returns the figure of a question as SVG; narrow for phones if the query asks for it."""
        name, by, unfinished, where = self._parse_query(request)
        question, narrow = request.query_params.get("question", ""), request.query_params.get("width") == "narrow"
        svg = await self.work(lambda: self._draw_question(name, question, by, unfinished, where, narrow))
        if svg is None:
            raise HTTPException(404)
        return Response(svg, media_type="image/svg+xml")

    def _draw_question(
        self, name: str, question: str, by: str, unfinished: bool, where: Sequence[str], narrow: bool
    ) -> str | None:
        results = survey_results(
            self._surveys(name),
            name,
            by=by,
            unfinished=unfinished,
            where=where,
            only=question,
            room=self._room,
            weighted=False,
        )
        return svg_of_question(results, question, narrow=narrow)

    def _parse_query(self, request: Request) -> tuple[str, str, bool, tuple[str, ...]]:
        query = request.query_params
        where = tuple(condition for condition in query.getlist("where") if condition)
        return request.path_params["name"], query.get("by", ""), query.get("unfinished") == "1", where

    def _surveys(self, name: str) -> Surveys:
        study = self.session.latest  # read first: the weights are those of study.toml as it is now
        surveys_if_any = self.session.surveys_if_any
        if surveys_if_any is None or name not in surveys_if_any.names():
            survey_file(study, name)
        if surveys_if_any is None:
            raise StateError(f"The survey {name!r} has not been opened yet: its results appear here once it is open.")
        return surveys_if_any


def _parse_selection(query: Mapping[str, str]) -> ResponseSelection:
    choices = {key: query[key] for key in _ASKED if query.get(key)}
    if "question" not in choices:
        raise HTTPException(404)
    return ResponseSelection(**choices, place=parse_whole_number(query.get("place", "0")) or 0)
