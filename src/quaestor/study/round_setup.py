"""Rounds into the study file and out of it again, while everything else in the file stays as a person wrote it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.files import sole_user, write_whole
from quaestor.base.toml_text import toml_key, toml_value
from quaestor.coding.settings import RoundSettings
from quaestor.study.coding import Where, open_coding, study_of
from quaestor.study.folder import Study
from quaestor.study.rounds import settings_of
from quaestor.study.settings import StudySettings, explain


def checked_round(wanted: Mapping[str, Any]) -> RoundSettings:
    """A round as a study file could define it, looked at by itself; its name can stand in an address."""
    try:
        one = RoundSettings.model_validate(wanted)
    except ValidationError as error:
        raise InputError(explain(error.errors()[0], RoundSettings)) from None
    if one.round != one.round.strip():
        raise InputError(f"the name {one.round!r} begins or ends with a space: leave it out")
    return one


def study_with(study: Study, wanted: Mapping[str, Any], instead_of: str = "") -> tuple[Study, RoundSettings]:
    """The study as it would be with one round more, or another in its place, to look at before anything is written."""
    one, text = checked_round(wanted), _text(study)
    changed = _with_other(study, text, instead_of, block_of(one)) if instead_of else _appended(text, block_of(one))
    return Study(study.root, _read(study, changed, one)), one


def add_round(study: Study, wanted: Mapping[str, Any], actor: str | None = None) -> RoundSettings:
    """Append a round to study.toml; the file is exchanged whole, and only for one that can be read."""
    _require_lead(study, actor)
    one = checked_round(wanted)

    def change(text: str) -> str:
        changed = _appended(text, block_of(one))
        found = _read(study, changed, one)
        if found.rounds[-1] != one:
            raise SettingsError(
                f"{study.file}: the round {one.round!r} would not be read as it was meant: edit it there"
            )
        return changed

    _exchange(study, change)
    return one


def change_round(where: Where, name: str, wanted: Mapping[str, Any], actor: str | None = None) -> RoundSettings:
    """Put another definition in the place of one that was added here and whose round has not opened."""
    one = checked_round(wanted)
    _replace(where, name, block_of(one), actor, one)
    return one


def remove_round(where: Where, name: str, actor: str | None = None) -> None:
    """Take a definition that was added here, and whose round has not opened, out of the study file."""
    _replace(where, name, "", actor, None)


def wanted_of(study: Study, name: str) -> dict[str, Any]:
    """What a round of the study file says, as it would be given to `change_round`."""
    return settings_of(study, name).model_dump(exclude_defaults=True)


def can_be_changed(study: Study, name: str) -> bool:
    """Whether the definition of a round stands in the file as it was added, so that it can be changed from here."""
    one = next((one for one in study.settings.rounds if one.round == name), None)
    return one is not None and _text(study).replace("\r\n", "\n").count(block_of(one)) == 1


def _replace(where: Where, name: str, block: str, actor: str | None, one: RoundSettings | None) -> None:
    with open_coding(where) as coding:
        study = study_of(where)
        _require_lead(study, actor)
        if name in coding.state.rounds:
            raise StateError(f"the round {name!r} has been opened: its plan is fixed")

        def change(text: str) -> str:
            changed = _with_other(study, text, name, block)
            found = _read(study, changed, one)
            expected = [each if each.round != name else one for each in study.settings.rounds]
            if list(found.rounds) != [each for each in expected if each is not None]:
                raise StateError(f"{study.file} has changed meanwhile: load the page again")
            return changed

        _exchange(study, change)


def _with_other(study: Study, text: str, name: str, block: str) -> str:
    """The text with another block in the place of a round's, which must stand there just as it was added."""
    old = _like(text, block_of(settings_of(study, name)))
    if text.count(old) != 1:
        raise StateError(f"the round {name!r} was written or changed by hand: edit it in {study.file}")
    gap = _like(text, "\n")
    if not block and gap + gap + old in text:  # the empty line before it came with it
        return text.replace(gap + old, "")
    return text.replace(old, _like(text, block))


def block_of(one: RoundSettings) -> str:
    """A round as it is written into a study file; the same settings always give the same text."""
    mark = toml_value(one.round)
    said = one.model_dump(exclude_defaults=True)
    lines = [f"# Round {mark}, added from the desk.", "[[rounds]]"]
    lines += [f"{toml_key(key)} = {toml_value(value)}" for key, value in said.items()]
    return "\n".join([*lines, f"# End of round {mark}.", ""])


def _appended(text: str, block: str) -> str:
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    return text + _like(text, gap + block)


def _like(text: str, more: str) -> str:
    """More text with the line endings that a file has."""
    return more.replace("\n", "\r\n") if "\r\n" in text else more


def _read(study: Study, text: str, one: RoundSettings | None) -> StudySettings:
    """What a text says as a study file; where it cannot be, the sentence is about the round that is new in it."""
    try:
        return StudySettings.model_validate(tomllib.loads(text.removeprefix("\ufeff")))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(
            f"{study.file}: a round cannot be added, since {error}: write each round there as [[rounds]] of its own"
        ) from None
    except ValidationError as error:
        words = explain(error.errors()[0], StudySettings)
        if one is None:
            raise SettingsError(f"the study file could not be read without this round: {words}") from None
        place = next((n for n, each in enumerate(study.settings.rounds) if each.round == one.round), None)
        number = place if place is not None and f"rounds[{place}]" in words else len(study.settings.rounds)
        raise SettingsError(words.removeprefix(f"rounds[{number}]").lstrip(".: ")) from None


def _text(study: Study) -> str:
    try:
        return study.file.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SettingsError(f"{study.file} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def _exchange(study: Study, change: Callable[[str], str]) -> None:
    """Read, change and write with nobody else in between; its permissions stay, and a link stays a link."""
    study.evidence.mkdir(exist_ok=True)  # the lock lies among what is generated and not kept in git
    with sole_user(study.evidence, "study.toml"):
        file = study.file.resolve()
        mode = file.stat().st_mode
        write_whole(file, change(_text(study)).encode("utf-8"))
        file.chmod(mode)


def _require_lead(study: Study, actor: str | None) -> None:
    lead = study.settings.study.lead
    if actor not in (None, lead):
        raise StateError(f"{actor!r} is not the lead of the study, who alone can set up rounds: {lead!r} is")
