"""What an edited questionnaire does to earlier answers, before it is opened as a new version.

What the lead calls the same, reworded, gets its earlier code in the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tomlkit

from quaestor.base.names import sort_by_similarity
from quaestor.surveys.model.conditions import rename_in_condition
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_versions import (
    OPTION,
    ROW,
    Merges,
    collect_questions,
    find_doubled_codes,
    merge_answers,
    merge_codes,
    stored_id,
)
from quaestor.surveys.model.questionnaire_file import parse_questionnaire
from quaestor.surveys.model.records import MatrixRow, Option, Question, Questionnaire, Response

UNIT = "unit"
PartKey = tuple[str, str, str]
"""A question, `option`, `row` or `unit`, and the code of the part; of a unit, the unit itself."""
_PartsOf = Callable[[Question], Sequence[Option | MatrixRow]]


@dataclass(frozen=True)
class ReplacedPart:
    """Something that people answered and the new version no longer has, but may have reworded."""

    key: PartKey
    question: str
    """The text of the question."""
    noun: str
    """`option`, `step`, `row` or `unit`."""
    verb: str
    """What people did with it."""
    label: str
    answers: int
    """Number of people who answered with it."""
    candidates: tuple[tuple[str, str], ...]
    """Code and label of what is new in its place, the most likely first; of a unit, the new unit."""

    @property
    def sentence(self) -> str:
        """Asks whether it was only reworded."""
        who = "1 person" if self.answers == 1 else f"{self.answers:,} people"
        labels = [f"“{label}”" for _, label in self.candidates]
        if self.noun == UNIT:
            unit = f"“{self.label}”" if self.label else "no unit"
            return (
                f"{who} {self.verb} “{self.question}” in {unit}; the unit is now {labels[0]}: how are they converted?"
            )
        new = labels[0] if len(labels) == 1 else f"one of {', '.join(labels)}"
        return f"{who} {self.verb} “{self.label}”; is {new} the same {self.noun}, reworded?"


@dataclass(frozen=True)
class VersionEdits:
    """The effects of an edit on earlier answers."""

    replaced: tuple[ReplacedPart, ...] = ()
    """What needs an answer before the new version is opened."""
    notes: tuple[str, ...] = ()
    """What happens without a question."""


@dataclass(frozen=True)
class EditAnswers:
    """The lead's answers about what was replaced."""

    same: Mapping[PartKey, str] = field(default_factory=dict)
    """By earlier part, the code of the new one that is the same; of a unit, the factor that converts it."""
    different: Collection[PartKey] = ()
    """Earlier parts that nothing new is the same as."""

    def is_answered(self, key: PartKey) -> bool:
        return key in self.same or key in self.different


def find_edits(
    versions: Mapping[int, Questionnaire],
    edited: Questionnaire,
    responses: Iterable[Response],
    merges: Merges,
    decided: Collection[PartKey] = (),
) -> VersionEdits:
    """Returns what a new version means for the responses to earlier ones; `decided` was answered before."""
    known = collect_questions(versions, merges)
    now = {question.id: merge_codes(question, merges) for question in edited.questions()}
    if all(_is_unchanged(question.merged.values(), now.get(stored_id(name))) for name, question in known.items()):
        return VersionEdits()
    counts, asked = _count_answers(versions, responses, merges)
    replaced: list[ReplacedPart] = []
    notes: list[str] = []
    for name in dict.fromkeys(map(stored_id, known)):
        older = [question for group in known.values() if group.stored_as == name for question in group.merged.values()]
        if not asked[name]:
            continue
        if name not in now:
            notes.append(f"{name}: no longer asked; its {_answers(asked[name])} in the results.")
        elif (kind_of(now[name]).shape or now[name].kind) != (kind_of(older[0]).shape or older[0].kind):
            notes.append(f"{name}: of another kind now, so its {_answers(asked[name])} in a separate table.")
        else:
            undecided = [part for part in _replaced(older, now[name], counts) if part.key not in decided]
            replaced += undecided
            notes += _notes(older, now[name], counts, undecided)
    notes += find_outdated_factors(versions, edited)
    notes += find_doubled_codes(edited, merges)
    return VersionEdits(tuple(replaced), tuple(notes))


def find_outdated_factors(versions: Mapping[int, Questionnaire], edited: Questionnaire) -> Iterator[str]:
    """Yields a sentence for each factor that belongs to the unit of an earlier version, left there when it changed."""
    for now in edited.questions():
        older = [question for version in versions.values() if (question := version.question(now.id)) is not None]
        for unit, factor in now.convert.items():
            units_with_it = [question.unit for question in older if question.convert.get(unit) == factor]
            if units_with_it and now.unit not in units_with_it:
                units = f"{unit or 'no unit'} to {units_with_it[-1] or 'no unit'}"
                yield (
                    f"{now.id}: the factor {factor:.6g} converts {units}, but the unit is now {now.unit or 'none'}: "
                    f"change convert.{unit} or remove it."
                )


def _is_unchanged(older: Iterable[Question], now: Question | None) -> bool:
    def signature(question: Question) -> tuple[object, ...]:
        options = [(option.code, option.label) for option in question.options]
        rows = [(row.code, row.label) for row in question.rows]
        return question.kind, question.text, question.unit, tuple(options), tuple(rows)

    return now is not None and all(signature(question) == signature(now) for question in older)


def _count_answers(
    versions: Mapping[int, Questionnaire], responses: Iterable[Response], merges: Merges
) -> tuple[Counter[PartKey], Counter[str]]:
    """Returns how many people answered with each part, and each question."""
    counts: Counter[PartKey] = Counter()
    asked: Counter[str] = Counter()
    for response in responses:
        questionnaire = versions[response.version]
        for name, answer in merge_answers(questionnaire, response.answers, merges).items():
            question = questionnaire.question(name)
            if not answer or question is None:
                continue
            asked[name] += 1
            rows = answer.get("rows", {})
            options = {*answer.get("choices", ()), *answer.get("ranks", ()), *rows.values()}
            counts.update((name, OPTION, code) for code in options)
            counts.update((name, ROW, code) for code in rows)
            if "number" in answer:
                counts[name, UNIT, question.unit] += 1
    return counts, asked


def _replaced(older: Sequence[Question], now: Question, counts: Counter[PartKey]) -> Iterator[ReplacedPart]:
    for part, noun, verb, parts_of in _kinds_of_parts(now):
        before = _newest_labels(older, parts_of)
        current = {known.code for known in parts_of(now)}
        new = [known for known in parts_of(now) if known.code not in before]
        for code, known in before.items():
            count = counts[now.id, part, code]
            if code not in current and new and count:
                order = _likely_first(known, new, older[0], now, parts_of)
                yield ReplacedPart((now.id, part, code), now.text, noun, verb, known.label, count, order)
    for unit in dict.fromkeys(question.unit for question in older):
        count = counts[now.id, UNIT, unit]
        if unit != now.unit and unit not in now.convert and count:
            candidates = ((now.unit, now.unit or "none"),)
            yield ReplacedPart((now.id, UNIT, unit), now.text, UNIT, "answered", unit, count, candidates)


def _kinds_of_parts(question: Question) -> Iterator[tuple[str, str, str, _PartsOf]]:
    """Yields `option` and `row`, what they are called, what people do with them, and how they are listed."""
    kind = kind_of(question)
    yield OPTION, kind.option_word, "ranked" if kind.part == "rank" else "chose", lambda known: known.options
    yield ROW, ROW, "answered", lambda known: known.rows


def _newest_labels(older: Sequence[Question], parts_of: _PartsOf) -> dict[str, Option | MatrixRow]:
    """Returns the parts of all earlier versions by code, each as in the newest version that has it."""
    parts: dict[str, Option | MatrixRow] = {}
    for question in older:
        for part in parts_of(question):
            parts.setdefault(part.code, part)
    return parts


def _likely_first(
    removed: Option | MatrixRow, new: Sequence[Option | MatrixRow], older: Question, now: Question, parts_of: _PartsOf
) -> tuple[tuple[str, str], ...]:
    """Returns new parts: first one in the same place, then by how similar the label is."""
    codes = [part.code for part in parts_of(older)]
    place = codes.index(removed.code) if removed.code in codes else -1
    there = parts_of(now)[place].code if 0 <= place < len(parts_of(now)) else ""
    similar = sort_by_similarity(removed.label, [part.label for part in new])
    ordered = sorted(new, key=lambda part: (part.code != there, similar.index(part.label)))
    return tuple((part.code, part.label) for part in ordered)


def _notes(
    older: Sequence[Question], now: Question, counts: Counter[PartKey], undecided: Sequence[ReplacedPart]
) -> Iterator[str]:
    keys = {part.key for part in undecided}
    candidates = {(part.key[1], code) for part in undecided for code, _ in part.candidates}
    if older[0].text != now.text:
        yield f"{now.id}: the text changed; earlier answers are counted with new ones, and both texts are shown."
    is_same_scale = not now.rows or all(kind_of(now).is_counted_with(question, [now]) for question in older)
    for part, noun, _, parts_of in _kinds_of_parts(now):
        if part == OPTION and not is_same_scale and not keys:
            yield f"{now.id}: steps were replaced, so it is another scale; earlier answers stay in a separate table."
            continue
        before = _newest_labels(older, parts_of)
        newest = {known.code for known in parts_of(older[0])}
        current = {known.code: known for known in parts_of(now)}
        for code, known in before.items():
            count = counts[now.id, part, code]
            if code in current and current[code].label != known.label and count:
                labels = f"“{known.label}” now reads “{current[code].label}”"
                yield f"{now.id}: {labels}; its {_answers(count)}, and both wordings are shown."
            elif code in newest and code not in current and count and (now.id, part, code) not in keys:
                yield f"{now.id}: the {noun} “{known.label}” is gone; its {_answers(count)} in its place."
        for code, known in current.items():
            if code not in before and (part, code) not in candidates:
                yield f"{now.id}: the {noun} “{known.label}” is new; it is counted of those who are offered it."
    for unit in dict.fromkeys(question.unit for question in older):
        count = counts[now.id, UNIT, unit]
        if unit == now.unit or not count or (older[0].unit, older[0].convert) == (now.unit, now.convert):
            continue
        if unit in now.convert:
            numbers = "1 number" if count == 1 else f"{count:,} numbers"
            yield f"{now.id}: {numbers} in {unit or 'no unit'} count times {now.convert[unit]:.6g}."
        elif (now.id, UNIT, unit) not in keys:
            before_it = f"the unit was “{unit}”" if unit else "there was no unit"
            counted = "1 answer is" if count == 1 else f"{count:,} answers are"
            yield f"{now.id}: {before_it}; its {counted} counted separately."


def _answers(count: int) -> str:
    return "1 answer stays" if count == 1 else f"{count:,} answers stay"


def write_same_parts(text: str, name: str, same: Mapping[PartKey, str]) -> str:
    """Returns a questionnaire in which each new part has the code of the earlier one that it is the same as.

    Conditions and the like that name the new code get the earlier one too. A unit gets the factor that converts the
    earlier one. The rest of the text stays as it is.
    """
    questionnaire, document = parse_questionnaire(text, name), tomlkit.parse(text)
    tables = {str(question["id"]): question for page in document["pages"] for question in page.get("questions", ())}
    for (question_id, part, earlier), new in same.items():
        question, table = questionnaire.question(question_id), tables[question_id]
        if question is None:
            continue
        if part == UNIT:
            table.setdefault("convert", tomlkit.inline_table())[earlier] = new
            continue
        codes = [known.code for known in (question.rows if part == ROW else question.options)]
        listed = table["rows" if part == ROW else "options"]
        listed[codes.index(new)] = _with_code(listed[codes.index(new)], earlier)
        _rename_code(document, table, (question_id, part, new), earlier)
    return tomlkit.dumps(document)


def _with_code(part: Any, code: str) -> Any:
    """Returns an option or row with a code; one that is only a label, in one language or several, becomes a table."""
    if isinstance(part, dict) and ("label" in part or "code" in part):
        part["code"] = code
        return part
    table = tomlkit.inline_table()
    table["code"] = code
    table["label"] = part
    return table


def _rename_code(document: Any, table: Any, key: PartKey, earlier: str) -> None:
    """Replaces a code wherever the questionnaire names it."""
    question, part, new = key
    for setting in ("centre", "attention"):
        if part == OPTION and table.get(setting) == new:
            table[setting] = earlier
    pages = list(document["pages"])
    conditions = [(shown, "show_if") for page in pages for shown in (page, *page.get("questions", ()))]
    conditions += [(quota, "of") for quota in document["survey"].get("quotas", ())]
    for holder, setting in conditions:
        words = holder.get(setting)
        if words is not None:
            codes = {"row": new} if part == ROW else {"option": new}
            renamed = rename_in_condition(str(words), question, **codes, to=earlier)
            if renamed != words:
                holder[setting] = renamed
