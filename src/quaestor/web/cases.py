"""What the pages of disagreements and ties share: the texts of the cases, and what their forms say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import urlencode

from starlette.requests import Request

from quaestor.base.errors import QuaestorError
from quaestor.study.coding import Coding
from quaestor.study.opinions import Chosen
from quaestor.study.reading import Reading
from quaestor.study.settling import without_names
from quaestor.study.sight import Viewer
from quaestor.web.page import Pages, page_asked, visitor

_PAGE = 50
Fields = Mapping[str, Sequence[str]]
_Row = TypeVar("_Row")


class CasePages(Pages):
    """Pages about items in dispute."""

    @property
    def coding(self) -> Coding:
        """The rounds to look at and act on; a study in which nobody has acted gets no journal by being looked at."""
        return self.opened.desk.coding

    async def readings(self, items: Sequence[str]) -> dict[str, Reading]:
        """The items as their authors wrote them."""
        desk = self.opened.desk
        return await self.work(lambda: desk.readings(items))

    async def words(self, name: str, who: Viewer, error: QuaestorError) -> str:
        """Why something was refused, with no name in it that the viewer may not read."""
        return await self.work(lambda: without_names(self.coding, name, who, str(error)))


def viewer(request: Request) -> Viewer:
    found = visitor(request)
    return Viewer(found.name, found.role)


def query_of(**fields: str) -> str:
    """The fields of an address that say something."""
    return urlencode({name: value for name, value in fields.items() if value})


def chosen_in(form: Fields) -> Chosen:
    return Chosen(one_of(form, "answer"), tuple(form.get("other", ())), one_of(form, "instead"))


def typed_in(form: Fields) -> dict[str, Any]:
    """What somebody typed before they were refused, so that nothing is lost."""
    told = {name: one_of(form, name) for name in ("answer", "instead", "how", "reason", "text")}
    return {**told, "others": tuple(form.get("other", ()))}


def one_of(form: Fields, name: str) -> str:
    return form.get(name, ("",))[0]


def page_of(request: Request, rows: Sequence[_Row]) -> tuple[Sequence[_Row], dict[str, int]]:
    """The part of a long list that is asked for, and where that is."""
    page = page_asked(request)
    shown = rows[(page - 1) * _PAGE : page * _PAGE]
    return shown, {"page": page, "pages": max(1, -(-len(rows) // _PAGE))}
