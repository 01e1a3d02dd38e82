"""What a study has published, as it lies in its folder."""

from __future__ import annotations

from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from quaestor.base.errors import StateError


class Published(StaticFiles):
    """A folder of published/, with a page that says how to make it where it is not there yet."""

    def __init__(self, study: Path, name: str) -> None:
        folder = study / "published" / name
        super().__init__(directory=folder, html=True, check_dir=False)
        self.config_checked = True  # the folder may come later, and then at any moment
        self._index = folder / "index.html"
        self._name = name

    async def get_response(self, path: str, scope: Scope) -> Response:
        if not self._index.exists():
            raise StateError(f"There is no {self._name} yet: run `quaestor {self._name}` to make it.")
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            raise HTTPException(error.status_code) from None
