"""The kinds of sources a study file may name: the built-in ones, and those that installed packages bring.

A package brings a kind by an entry point of the group `quaestor.sources` that names a class without arguments.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, SerializeAsAny, StringConstraints, WrapValidator
from pydantic_core import PydanticKnownError

from quaestor.base.errors import SettingsError

GROUP = "quaestor.sources"
_BUILT_IN = {
    "stackexchange": "quaestor.evidence.sources.stackexchange.source:StackExchangeSource",
    "table": "quaestor.evidence.sources.tables.source:TableSource",
}

SourceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
"""A source's name is a folder's name too."""


class SourceSettings(BaseModel):
    """What every `[sources.…]` says; a kind of source adds its own keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    path: str


class SourceKind(Protocol):
    """What the study file asks of a kind of source; `evidence` asks for more."""

    @property
    def settings(self) -> type[SourceSettings]: ...


def source_kind_names() -> list[str]:
    return sorted({*_BUILT_IN, *entry_points(group=GROUP).names})


def load_source_kind(name: str) -> Any:
    """The kind of source of that name, loaded where it is first used; raises KeyError where there is none."""
    if name in _BUILT_IN:
        return EntryPoint(name, _BUILT_IN[name], GROUP).load()()
    found = entry_points(group=GROUP)[name]
    try:
        return found.load()()
    except Exception as error:  # the code of a stranger can fail in any way
        raise SettingsError(
            f"the source kind {name!r} cannot be loaded from {found.value} ({error}): update or remove the package"
        ) from error


def _validate_source(value: Any, handler: Any) -> SourceSettings:
    """Settings of the kind that a table names; errors say which key of the table they are about."""
    if isinstance(value, SourceSettings):
        return value
    if not isinstance(value, dict):
        return handler(value)  # type: ignore[no-any-return] # which refuses it
    if "kind" not in value:
        raise PydanticKnownError("union_tag_not_found", {"discriminator": "'kind'"})
    kind = value["kind"]
    if kind not in source_kind_names():
        expected = ", ".join(map(repr, source_kind_names()))
        raise PydanticKnownError(
            "union_tag_invalid", {"discriminator": "'kind'", "tag": str(kind), "expected_tags": expected}
        )
    loaded: SourceKind = load_source_kind(kind)
    return loaded.settings.model_validate(value)


AnySource = SerializeAsAny[Annotated[SourceSettings, WrapValidator(_validate_source)]]
