"""The pay of respondents: counts and money for the lead, addresses for the payer alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.numbers import whole_number
from quaestor.people.roles import Permission
from quaestor.study.surveys.claims import Card, Payment, cards, export_cards, mark_paid, payments, release
from quaestor.study.surveys.status import status_of
from quaestor.web.forms import fields_of
from quaestor.web.page import Pages, visitor
from quaestor.web.refusals import refusal_status

_SHOWN = 100


class PayPages(Pages):
    """Who is to be paid, without a word about what they answered."""

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route("/pay", self.pay, methods=["GET"], name="claims"),
            Route("/pay/{name}/acts", self.act, methods=["POST"], name="claims-act"),
            Route("/pay/{name}/cards.csv", self.file, methods=["POST"], name="claims-file"),
        ]

    async def pay(self, request: Request) -> Response:
        return await self._pay(request)

    async def _pay(self, request: Request, status: int = 200, **more: Any) -> Response:
        pays = visitor(request).can(Permission.PAY)
        found = await self.work(lambda: self._found(pays))
        return self.page(request, "claims.html", {"payments": found, "pays": pays, "shown": _SHOWN, **more}, status)

    def _found(self, pays: bool) -> list[tuple[Payment, list[Card], str]]:
        """Addresses are opened for whoever pays, and for nobody else."""
        surveys = self.opened.surveys_if_any
        if surveys is None:
            return []
        return [
            (one, cards(surveys, one.survey) if pays else [], status_of(surveys, one.survey).status)
            for one in payments(surveys)
        ]

    async def act(self, request: Request) -> Response:
        """Release cards, or mark them paid."""
        fields, name = await fields_of(request), request.path_params["name"]
        try:
            await self.work(lambda: self._act(name, fields, visitor(request).name))
        except QuaestorError as error:
            return await self._refused(request, name, error)
        return self.go(request, "claims")

    def _act(self, name: str, fields: Mapping[str, str], who: str) -> None:
        match fields.get("act", ""):
            case "release":
                most = fields.get("most", "").strip()
                if most and whole_number(most) is None:
                    raise InputError(f"{most[:60]!r} is no number of cards: write digits, such as 20")
                release(self.opened.surveys, name, whole_number(most), who)
            case "paid":
                seen = whole_number(fields.get("count", ""))
                if seen is None:
                    raise InputError("it is not said how many cards are paid: load the page again")
                mark_paid(self.opened.surveys, name, seen)
            case unknown:
                raise InputError(f"nothing is called {unknown!r} here: load the page again")

    async def file(self, request: Request) -> Response:
        """The addresses as a file; each is in one such file unless it is asked for again."""
        fields, name = await fields_of(request), request.path_params["name"]
        try:
            text = await self.work(lambda: export_cards(self.opened.surveys, name, fields.get("again") == "yes"))
        except QuaestorError as error:
            return await self._refused(request, name, error)
        headers = {"Content-Disposition": 'attachment; filename="cards.csv"'}
        return Response(text, media_type="text/csv", headers=headers)

    async def _refused(self, request: Request, name: str, error: QuaestorError) -> Response:
        return await self._pay(
            request, refusal_status(error), refused=f"{str(error)[:1].upper()}{str(error)[1:]}", about=name
        )
