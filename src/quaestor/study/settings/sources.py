"""Kinds of sources for study files: declared by features or by installed packages.

A package adds a kind with an entry point of the group `quaestor.sources` that names a class without arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict, SerializeAsAny, StringConstraints, WrapValidator
from pydantic_core import PydanticKnownError

from quaestor.base.errors import SettingsError
from quaestor.study import feature_modules

GROUP = "quaestor.sources"

SourceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=100)]
"""A source's name is also the name of a folder."""


class SourceSettings(BaseModel):
    """Settings of every `[sources.…]`; each kind adds its own keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str
    path: str


class OpenAnswerSettings(SourceSettings):
    """Open answers of a survey, to some of its questions or to all with text fields."""

    kind: Literal["open-answers"]
    path: Literal["answers.db"] = "answers.db"
    survey: str
    questions: tuple[str, ...] = ()


class TurnSettings(SourceSettings):
    """What participants said in the interviews of the study, turn by turn."""

    kind: Literal["interviews"]
    path: Literal["interviews.db"] = "interviews.db"


_LIVE_KINDS: dict[str, type[SourceSettings]] = {"open-answers": OpenAnswerSettings, "interviews": TurnSettings}
"""The settings of live sources are here, because loading their features takes a second."""
COPIES_FOLDERS = {"open-answers": "evidence/open-answers", "interviews": "evidence/interviews"}
"""By kind: the folder with tables to which earlier versions copied the items of a live source."""


class SourceKind(Protocol):
    """The part of a source kind that the study file needs; `evidence` needs more."""

    @property
    def settings(self) -> type[SourceSettings]: ...


def _declared_kinds() -> Iterator[tuple[str, str]]:
    """Yields kinds declared by features; loads a feature only when earlier ones did not match."""
    for module in feature_modules.FEATURES:
        yield from feature_modules.load_feature(module).source_kinds.items()


def source_kind_names() -> list[str]:
    return sorted({*dict(_declared_kinds()), *_LIVE_KINDS, *entry_points(group=GROUP).names})


def load_source_kind(name: str) -> Any:
    """Loads a kind of source on first use; raises KeyError if unknown."""
    declared = next((target for kind, target in _declared_kinds() if kind == name), None)
    if declared is not None:
        return EntryPoint(name, declared, GROUP).load()()
    entry_point = entry_points(group=GROUP)[name]
    try:
        return entry_point.load()()
    except Exception as error:  # third-party code can raise anything
        raise SettingsError(
            f"the source kind {name!r} cannot be loaded from {entry_point.value} ({error}): update or remove it"
        ) from error


def _validate_source(value: Any, handler: Any) -> SourceSettings:
    """Validates settings by the kind named in the table; errors name the key of the table."""
    if isinstance(value, SourceSettings):
        return value
    if not isinstance(value, dict):
        return handler(value)  # type: ignore[no-any-return] # raises the validation error
    if "kind" not in value:
        raise PydanticKnownError("union_tag_not_found", {"discriminator": "'kind'"})
    kind = value["kind"]
    if kind in _LIVE_KINDS:
        return _LIVE_KINDS[kind].model_validate(value)
    try:
        loaded: SourceKind = load_source_kind(kind)
    except KeyError:
        expected = ", ".join(map(repr, source_kind_names()))
        raise PydanticKnownError(
            "union_tag_invalid", {"discriminator": "'kind'", "tag": str(kind), "expected_tags": expected}
        ) from None
    return loaded.settings.model_validate(value)


AnySource = SerializeAsAny[Annotated[SourceSettings, WrapValidator(_validate_source)]]
