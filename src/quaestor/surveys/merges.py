"""Counts options or rows of different versions together, on record, and separates them again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from quaestor.base.errors import InputError, StateError
from quaestor.base.names import sort_by_similarity, suggest
from quaestor.coding.model.state import State
from quaestor.coding.session import require_lead
from quaestor.store.records import NewAct
from quaestor.surveys.lifecycle import MERGE_ACT, UNMERGE_ACT, Surveys, fieldings
from quaestor.surveys.model.question_versions import OPTION, ROW, Merges, counted_code, find_doubled_codes
from quaestor.surveys.model.records import MatrixRow, Option, Question


@dataclass(frozen=True)
class MergedPart:
    """An option or row that is counted as another one."""

    question: str
    part: str
    """`option` or `row`; a step of a scale is an option."""
    code: str
    into: str
    label: str
    into_label: str


@dataclass(frozen=True)
class EarlierPart:
    """An option or row that the newest version no longer has, and those that it could be counted as."""

    question: str
    part: str
    code: str
    label: str
    candidates: tuple[tuple[str, str], ...]
    """Code and label, the most similar first."""


def list_earlier_parts(surveys: Surveys, name: str) -> list[EarlierPart]:
    """Returns what can be merged: parts of older versions, each with the parts that no version offers next to it."""
    merges, versions = surveys.fielding(name).merges, surveys.versions(name)
    questions = dict.fromkeys(
        question.id for version in reversed(versions.values()) for question in version.questions()
    )
    return [
        earlier
        for question in questions if len(versions) > 1
        for part in (OPTION, ROW)
        for earlier in _list_earlier_parts(_questions(surveys, name, question), part, merges)
    ]  # fmt: skip


def _list_earlier_parts(questions: Sequence[Question], part: str, merges: Merges) -> Iterator[EarlierPart]:
    """Yields the parts of all versions of a question, newest first, that the newest one lacks."""
    labels = {known.code: known.label for question in reversed(questions) for known in _parts(question, part)}
    counted_as = {code: counted_code(merges, questions[0].id, part, code) for code in labels}
    offered = [{counted_as[known.code] for known in _parts(question, part)} for question in questions]
    newest = {known.code for known in _parts(questions[0], part)}
    for code, label in labels.items():
        if code in newest or counted_as[code] != code:
            continue
        others = [
            other
            for other in labels
            if counted_as[other] != code and not any({code, counted_as[other]} <= codes for codes in offered)
        ]
        order = sort_by_similarity(label, [labels[other] for other in others])
        others.sort(key=lambda other: order.index(labels[other]))
        if others:
            candidates = tuple((other, labels[other]) for other in others)
            yield EarlierPart(questions[0].id, part, code, label, candidates)


def list_merges(surveys: Surveys, name: str) -> list[MergedPart]:
    """Returns the merges that are in effect."""
    merges = surveys.fielding(name).merges
    return [
        MergedPart(
            question, part, code, into, *(_label(surveys, name, question, part, which) for which in (code, into))
        )
        for (question, part, code), into in sorted(merges.items())
    ]


def merge_parts(
    surveys: Surveys, name: str, question: str, code: str, into: str, part: str = "", actor: str | None = None
) -> MergedPart:
    """Counts an option, step or row as another one of the same question, in every version."""
    lead = require_lead(surveys.coding, actor, "merge options")
    part = part or _find_part(surveys, name, question, code)
    for known in (code, into):
        _require_part(surveys, name, question, part, known)
    payload = {"survey": name, "question": question, "part": part, "code": code, "into": into}

    def merge(state: State) -> NewAct:
        fielding = fieldings(state.unhandled_acts).get(name)
        merges = fielding.merges if fielding else {}
        if (question, part, code) in merges:
            raise StateError(f"{code!r} of {question!r} is already counted as {merges[question, part, code]!r}")
        _check_versions(surveys, name, merges, payload)
        return NewAct(MERGE_ACT, lead, payload)

    surveys.coding.act(merge)
    merged_now = {(merged.question, merged.part, merged.code): merged for merged in list_merges(surveys, name)}
    return merged_now[question, part, code]


def undo_merge(
    surveys: Surveys, name: str, question: str, code: str, part: str = "", actor: str | None = None
) -> MergedPart:
    """Counts a merged option, step or row separately again."""
    lead = require_lead(surveys.coding, actor, "separate options")
    merges = [merged for merged in list_merges(surveys, name) if merged.question == question and merged.code == code]
    chosen = next((merged for merged in merges if part in ("", merged.part)), None)
    if chosen is None:
        known = ", ".join(f"{merged.question}.{merged.code}" for merged in list_merges(surveys, name)) or "nothing"
        raise InputError(f"{code!r} of {question!r} is not merged with another option; merged in {name!r}: {known}")
    payload = {"survey": name, "question": question, "part": chosen.part, "code": code, "into": chosen.into}

    def separate(state: State) -> NewAct:
        fielding = fieldings(state.unhandled_acts).get(name)
        if fielding is None or (question, chosen.part, code) not in fielding.merges:
            raise StateError(f"{code!r} of {question!r} is not merged any more")
        return NewAct(UNMERGE_ACT, lead, payload)

    surveys.coding.act(separate)
    return chosen


def _check_versions(
    surveys: Surveys, name: str, merges: Mapping[tuple[str, str, str], str], payload: Mapping[str, str]
) -> None:
    """Raises StateError if a version offers both: an answer could then contain one option twice."""
    question, part, code, into = (payload[key] for key in ("question", "part", "code", "into"))
    if counted_code(merges, question, part, into) == counted_code(merges, question, part, code):
        raise StateError(f"{code!r} and {into!r} of {question!r} are already counted together")
    after = {**merges, (question, part, code): into}
    for version, questionnaire in surveys.versions(name).items():
        for _ in find_doubled_codes(questionnaire, after):
            raise StateError(
                f"version {version} of {name!r} offers {code!r} and {into!r} next to each other in {question!r}: "
                "only options of different versions can be merged"
            )


def _find_part(surveys: Surveys, name: str, question: str, code: str) -> str:
    """Returns what a code is; if both a step and a row have it, it is the step."""
    options = {option.code for asked in _questions(surveys, name, question) for option in asked.options}
    rows = {row.code for asked in _questions(surveys, name, question) for row in asked.rows}
    return ROW if code in rows - options else OPTION


def _require_part(surveys: Surveys, name: str, question: str, part: str, code: str) -> None:
    known = dict.fromkeys(known.code for asked in _questions(surveys, name, question) for known in _parts(asked, part))
    if code not in known:
        raise InputError(f"no version of {question!r} has the {part} {code!r}, available: {suggest(code, known)}")


def _questions(surveys: Surveys, name: str, question: str) -> list[Question]:
    """Returns a question in every version that has it, newest first."""
    versions = list(reversed(surveys.versions(name).values()))
    questions = [asked for questionnaire in versions if (asked := questionnaire.question(question)) is not None]
    if not questions:
        known = {asked.id for questionnaire in versions for asked in questionnaire.questions()}
        raise InputError(f"the survey {name!r} has no question {question!r}, available: {suggest(question, known)}")
    return questions


def _parts(question: Question, part: str) -> tuple[Option, ...] | tuple[MatrixRow, ...]:
    return question.rows if part == ROW else question.options


def _label(surveys: Surveys, name: str, question: str, part: str, code: str) -> str:
    questions = _questions(surveys, name, question)
    return next((known.label for asked in questions for known in _parts(asked, part) if known.code == code), code)
