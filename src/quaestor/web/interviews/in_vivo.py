"""Words that stood for themselves in a closed round, and the codes that the lead adopts them as."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from quaestor.base.errors import InputError, QuaestorError
from quaestor.base.names import parse_whole_number
from quaestor.coding.rating import require_passages
from quaestor.interviews.coding.in_vivo import NewCode, adopt, codes_to_adopt, in_vivo_of
from quaestor.interviews.repository import Interviews
from quaestor.web.coding.disagreements import page_of
from quaestor.web.error_pages import refusal_status
from quaestor.web.page import Pages, visitor
from quaestor.web.security.forms import fields_of


class InVivoPages(Pages):
    """For the lead alone, once a round is closed."""

    def routes(self) -> Sequence[BaseRoute]:
        return [Route("/rounds/{name}/in-vivo", self.in_vivo, methods=["GET", "POST"], name="in-vivo")]

    def _interviews(self, name: str) -> Interviews:
        require_passages(self.opened.desk.coding, name)
        return self.opened.interviews

    async def in_vivo(self, request: Request) -> Response:
        """All words in vivo, and by form one of them adopted."""
        refused, status = "", 200
        if request.method == "POST":
            fields = await fields_of(request)
            try:
                await self.work(lambda: self._adopt(request, fields))
            except QuaestorError as error:
                refused, status = str(error), refusal_status(error)
            else:
                return self.go(request, "in-vivo", f"page={fields.get('page', '1')}", name=request.path_params["name"])
        return await self._list(request, refused, status)

    async def _list(self, request: Request, refused: str, status: int) -> Response:
        name, who = request.path_params["name"], visitor(request).name
        interviews = await self.work(lambda: self._interviews(name))
        found = await self.work(lambda: in_vivo_of(interviews, name, who))
        rows, place = page_of(request, found)
        codes = await self.work(lambda: codes_to_adopt(interviews.coding, name))
        left = sum(not one.name for one in found)
        context = {"round": name, "rows": rows, "codes": codes, "left": left, "total": len(found), "refused": refused}
        return self.page(request, "in_vivo.html", {**context, **place}, status)

    def _adopt(self, request: Request, fields: dict[str, str]) -> None:
        name = request.path_params["name"]
        start, end = parse_whole_number(fields.get("start", "")), parse_whole_number(fields.get("end", ""))
        if start is None or end is None:
            raise HTTPException(400)
        new = fields.get("new", "").strip()
        code = NewCode(new, fields.get("code", "")) if new else fields.get("code", "")
        if not code and not fields.get("back"):
            raise InputError("nothing was chosen: choose the code that these words count as, or name a new one")
        adopt(self._interviews(name).coding, name, fields.get("item", ""), start, end, code, visitor(request).name)
