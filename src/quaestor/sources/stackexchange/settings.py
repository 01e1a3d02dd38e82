"""What a study file may say about a Stack Exchange dump."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints


class StackExchangeSettings(BaseModel):
    """Where the dump is, which site it is, and which tags are wanted (none given: the whole dump)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["stackexchange"]
    path: str
    site: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]*$")] | None = None
    tags: tuple[Annotated[str, StringConstraints(pattern=r"^[^\s<>|]+$")], ...] = ()
