"""Renames a rater or tie-breaker: an act of the journal, after which all views show the new name."""

from __future__ import annotations

import tomlkit

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import suggest
from quaestor.coding.model.state import State
from quaestor.coding.session import StudyOrSession, find_study, open_coding, require_lead
from quaestor.people.directory import require_valid_name
from quaestor.people.membership import list_people, open_directory, people_path
from quaestor.people.roles import Role
from quaestor.store.records import NewAct
from quaestor.study.folder import Study, edit_study_file


def rename_rater(study_or_session: StudyOrSession, old: str, new: str, actor: str | None = None) -> None:
    """Records the new name of a rater or tie-breaker and writes it to study.toml and to their account.

    The act is recorded first, so that an interrupted renaming can be repeated. Earlier acts keep the name of their
    time.
    """
    study, new = find_study(study_or_session), new.strip()
    require_valid_name(new)
    with open_coding(study_or_session) as coding:
        who = require_lead(coding, actor, "rename a rater")

        def build_act(state: State) -> NewAct | None:
            if state.new_names.get(old) == new:  # repeated after an interruption
                return None
            _require_free(study, state, old, new)
            return NewAct("person.rename", who, {"person": old, "to": new})

        coding.act(build_act)
    edit_study_file(study, lambda text: _rename_in_file(text, old, new))
    if people_path(study).exists():
        with open_directory(study) as directory:
            directory.rename(old, new)


def _require_free(study: Study, state: State, old: str, new: str) -> None:
    rounds = study.settings.rounds
    named = {name for settings in rounds for name in (*settings.raters, settings.tie_breaker) if name}
    recorded = {
        name
        for round_state in state.rounds.values()
        for name in (round_state.plan.tie_breaker, *(rater for slot in round_state.slots for rater in slot.raters))
        if name
    }
    lead, people = study.settings.study.lead, list_people(study)
    if lead in (old, new):
        raise InputError(f"{lead!r} is the lead: rename only raters and tie-breakers, and to another name")
    if old not in named | recorded:
        options = suggest(old, sorted(named | recorded)) or "none"
        raise InputError(f"no round has a rater or tie-breaker {old!r}; choose from: {options}")
    if any(account.name == old and account.role is Role.INTERVIEWER for account in people.accounts):
        raise StateError(f"{old!r} is an interviewer, whose notes are signed with that name: it cannot be changed")
    used = {*named, *recorded, *state.new_names, *(account.name for account in people.accounts)}
    if new in used | {invitation.name for invitation in people.invitations}:
        raise InputError(f"the name {new!r} is or was used in this study: choose another")


def _rename_in_file(text: str, old: str, new: str) -> str:
    document = tomlkit.parse(text)
    for settings in document.get("rounds", ()):
        raters = settings.get("raters", [])
        for place, rater in enumerate(raters):
            if rater == old:
                raters[place] = new
        if settings.get("tie_breaker") == old:
            settings["tie_breaker"] = new
    return tomlkit.dumps(document)
