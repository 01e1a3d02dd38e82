"""What a study has published, as it lies in its folder."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from quaestor.base.errors import StateError
from quaestor.people.roles import Permission
from quaestor.study.kept_open import KeptOpen
from quaestor.study.results.withheld import refuse_withheld
from quaestor.web.page import visitor
from quaestor.web.thread_pools import run_in_pool


class Published(StaticFiles):
    """A folder of published/, with a page that says why it cannot be read: it is not there yet, or may hold a name."""

    def __init__(self, study: Path, name: str, opened: KeptOpen) -> None:
        folder = study / "published" / name
        super().__init__(directory=folder, html=True, check_dir=False)
        self.config_checked = True  # the folder may come later, and then at any moment
        self._index = folder / "index.html"
        self._name = name
        self._opened = opened

    async def get_response(self, path: str, scope: Scope) -> Response:
        if not self._index.exists():
            raise StateError(f"There is no {self._name} yet: run `quaestor {self._name}` to make it.")
        if not visitor(Request(scope)).can(Permission.LEAD):
            await run_in_pool(lambda: refuse_withheld(self._opened, self._name))
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            raise HTTPException(error.status_code) from None
