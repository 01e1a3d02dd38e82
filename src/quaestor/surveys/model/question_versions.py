"""The questions of all versions of a questionnaire: what is counted together, and what each version offered.

Results and exports both use this, so that they agree on who was shown an option, a step or a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.records import Answer, EarlierLabel, MatrixRow, Option, Page, Question, Questionnaire

OPTION, ROW = "option", "row"
Merges = Mapping[tuple[str, str, str], str]
"""By question id, `option` or `row`, and code: the code that it is counted as."""
_AT = "@"
"""A character that no id contains."""
Part = TypeVar("Part", Option, MatrixRow)


@dataclass(frozen=True)
class QuestionVersions:
    """A question over all versions that are counted together, with every option and row that any of them has."""

    question: Question
    pages: Mapping[int, tuple[Page, Question]]
    """By version: its page, and the question as that version asks it."""
    merged: Mapping[int, Question]
    """By version, newest first: the question with the codes that its options and rows are counted as."""
    factors: Mapping[int, float] = field(default_factory=dict)
    """By version, if not 1: what its numbers are multiplied by, because its unit was another one."""

    @property
    def stored_as(self) -> str:
        """Returns the id under which its answers are stored."""
        return stored_id(self.question.id)

    def offers(self, version: int, code: str) -> bool:
        """Tells whether a version has the part of an answer that is exported or counted on its own."""
        question = self.merged[version]
        return not code or any(part.code == code for part in kind_of(question).counted_parts(question))

    def offers_step(self, version: int, code: str) -> bool:
        return self.merged[version].option(code) is not None

    def earlier_labels(self) -> Iterator[EarlierLabel]:
        """Yields every wording that the newest version of a question, an option or a row no longer has."""
        yield from _earlier("", "", self.question.text, {v: question.text for v, question in self.merged.items()})
        for option in self.question.options:
            labels = {v: known.label for v, question in self.merged.items() if (known := question.option(option.code))}
            yield from _earlier(OPTION, option.code, option.label, labels)
        for row in self.question.rows:
            labels = {
                version: known.label
                for version, question in self.merged.items()
                for known in question.rows
                if known.code == row.code
            }
            yield from _earlier(ROW, row.code, row.label, labels)


def collect_questions(
    versions: Mapping[int, Questionnaire], merges: Merges | None = None
) -> dict[str, QuestionVersions]:
    """Returns every question of any version by its name: in the order of the newest, then those only older ones have.

    The name is the question's id, or `ID@N` if newer versions ask a question under this id that cannot be counted
    together with it: of another kind, on another scale, or in another unit without a conversion.
    """
    groups: dict[str, list[tuple[str, list[Question]]]] = {}
    pages: dict[str, dict[int, tuple[Page, Question]]] = {}
    merged: dict[str, dict[int, Question]] = {}
    for version in sorted(versions, reverse=True):
        for page in versions[version].pages:
            for question in page.questions:
                counted_as = merge_codes(question, merges or {})
                name = _find_name(groups.setdefault(question.id, []), counted_as, version)
                pages.setdefault(name, {})[version] = (page, question)
                merged.setdefault(name, {})[version] = counted_as
    return {name: _join(name, pages[name], merged[name]) for name in pages}


def _find_name(groups: list[tuple[str, list[Question]]], question: Question, version: int) -> str:
    """Returns the name of a question, and adds it to the group of versions with which it is counted."""
    for name, group in groups:
        if _shape(group[0]) == _shape(question) and kind_of(question).is_counted_with(question, group):
            group.append(question)
            return name
    name = f"{question.id}{_AT}{version}" if groups else question.id
    groups.append((name, [question]))
    return name


def _shape(question: Question) -> str:
    return kind_of(question).shape or question.kind


def _join(name: str, pages: Mapping[int, tuple[Page, Question]], merged: Mapping[int, Question]) -> QuestionVersions:
    questions = list(merged.values())
    newest = questions[0]
    joined = replace(
        newest,
        id=name,
        options=join_parts([question.options for question in questions]),
        rows=join_parts([question.rows for question in questions]),
    )
    factors = {
        version: newest.convert[question.unit]
        for version, question in merged.items()
        if question.unit != newest.unit and question.unit in newest.convert
    }
    return QuestionVersions(joined, pages, merged, factors)


def join_parts(versions: Sequence[Sequence[Part]]) -> tuple[Part, ...]:
    """Returns every option or row, in the order of the newest version; one that was removed keeps its place.

    It comes after the part that preceded it in its own version, or before the one that followed it.
    """
    order = [part.code for part in versions[0]]
    parts = {part.code: part for part in versions[0]}
    for older in versions[1:]:
        codes = [part.code for part in older]
        for place, part in enumerate(older):
            known = parts.get(part.code)
            if known is not None:
                parts[part.code] = replace(known, text=known.text or part.text)
                continue
            before = [code for code in codes[:place] if code in parts]
            after = [code for code in codes[place + 1 :] if code in parts]
            index = order.index(before[-1]) + 1 if before else order.index(after[0]) if after else len(order)
            order.insert(index, part.code)
            parts[part.code] = part
    return tuple(parts[code] for code in order)


def stored_id(name: str) -> str:
    """Returns the id under which the answers of a question with this name are stored."""
    return name.partition(_AT)[0]


def counted_code(merges: Merges, question: str, part: str, code: str) -> str:
    """Returns the code that an option or row is counted as."""
    while (question, part, code) in merges:
        code = merges[question, part, code]
    return code


def merge_codes(question: Question, merges: Merges) -> Question:
    """Returns a question whose options and rows have the codes that they are counted as."""
    if not any(name == question.id for name, _, _ in merges):
        return question

    def merge(part: str, parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(replace(known, code=counted_code(merges, question.id, part, known.code)) for known in parts)

    return replace(
        question,
        options=merge(OPTION, question.options),
        rows=merge(ROW, question.rows),
        centre=counted_code(merges, question.id, OPTION, question.centre),
        attention=counted_code(merges, question.id, OPTION, question.attention),
    )


def find_doubled_codes(questionnaire: Questionnaire, merges: Merges) -> Iterator[str]:
    """Yields a sentence for each two options or rows of a questionnaire that merges count as one.

    An answer could then contain one option twice.
    """
    for question in questionnaire.questions():
        for part, parts in ((OPTION, question.options), (ROW, question.rows)):
            first: dict[str, str] = {}
            for known in parts:
                counted_as = counted_code(merges, question.id, part, known.code)
                if counted_as in first and known.code != first[counted_as]:
                    yield f"{question.id} offers {first[counted_as]!r} and {known.code!r}, which are counted as one."
                first.setdefault(counted_as, known.code)


def merge_answer(question: Question, answer: Answer, merges: Merges) -> Answer:
    """Returns an answer with the codes that its options and rows are counted as."""

    def option(code: str) -> str:
        return counted_code(merges, question.id, OPTION, code)

    def row(code: str) -> str:
        return counted_code(merges, question.id, ROW, code)

    merged = dict(answer)
    for key in ("choices", "ranks"):
        if key in merged:
            merged[key] = [option(code) for code in merged[key]]
    if "rows" in merged:
        merged["rows"] = {row(code): option(step) for code, step in merged["rows"].items()}
    if "texts" in merged:
        is_text_of_row = bool(question.rows)
        texts = merged["texts"].items()
        merged["texts"] = {(row if is_text_of_row else option)(code): text for code, text in texts}
    return merged


def merge_answers(questionnaire: Questionnaire, answers: Mapping[str, Answer], merges: Merges) -> dict[str, Answer]:
    """Returns the answers of a response with the codes that their options and rows are counted as."""
    merged = dict(answers)
    for name in {question for question, _, _ in merges} & set(answers):
        question = questionnaire.question(name)
        if question is not None:
            merged[name] = merge_answer(question, answers[name], merges)
    return merged


def _earlier(part: str, code: str, now: str, labels: Mapping[int, str]) -> Iterator[EarlierLabel]:
    for earlier in dict.fromkeys(labels.values()):
        if earlier != now:
            versions = tuple(sorted(version for version, label in labels.items() if label == earlier))
            yield EarlierLabel(now, earlier, versions, part, code)
