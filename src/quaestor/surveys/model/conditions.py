"""Parses and evaluates conditions on earlier answers: `onnx = yes and not (problems includes none)`.

Syntax: `QUESTION = OPTION`, `QUESTION != OPTION`, `QUESTION includes OPTION`, `QUESTION >= 3` (and `>`, `<`, `<=`),
`QUESTION < 2024-05-31`, `QUESTION.ROW = STEP` in a matrix, `QUESTION answered`; joined by `and`, `or`, `not` and
parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from quaestor.base.errors import InputError

_TOKEN = re.compile(r"""\s*(?:(?P<mark>!=|>=|<=|=|>|<|\(|\))|"(?P<quoted>[^"]*)"|(?P<word>[^\s()=<>!"]+))""")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_COMPARE = ("=", "!=", ">", ">=", "<", "<=", "includes")
_DEEPEST = 50
Said = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Condition:
    """A tree of tests; `words` is the text as written."""

    words: str
    kind: str
    """`test`, `and`, `or` or `not`."""
    parts: tuple[Condition, ...] = ()
    question: str = ""
    row: str = ""
    compare: str = ""
    value: str = ""

    def tests(self) -> Iterator[Condition]:
        """Yields its tests, in the order written."""
        if self.kind == "test":
            yield self
        for part in self.parts:
            yield from part.tests()

    def holds(self, answers: Said) -> bool:
        """Tells whether it holds for these answers; without an answer, only `not` holds."""
        if self.kind == "and":
            return all(part.holds(answers) for part in self.parts)
        if self.kind == "or":
            return any(part.holds(answers) for part in self.parts)
        if self.kind == "not":
            return not self.parts[0].holds(answers)
        return self._tested(answers.get(self.question))

    def _tested(self, answer: Mapping[str, Any] | None) -> bool:
        if not answer:
            return False
        if self.compare == "answered":
            return not self.row or self.row in {**answer.get("rows", {}), **answer.get("texts", {})}
        if self.compare in (">", ">=", "<", "<="):
            return _compared(answer.get("number", answer.get("date")), self.compare, self.value)
        rows = answer.get("rows", {})
        chosen = [rows[self.row]] if self.row in rows else list(answer.get("choices", ()))
        if "number" in answer or "date" in answer:
            return _compared(answer.get("number", answer.get("date")), self.compare, self.value)
        if self.compare == "!=":
            return self.value not in chosen and bool(chosen)
        if self.compare == "includes":
            return self.value in chosen
        return chosen == [self.value]


def read_condition(words: str) -> Condition:
    """Parses a condition; raises InputError if it is malformed."""
    tokens = _tokens(words)
    condition, rest = _either(words, tokens, 0)
    if rest != len(tokens):
        raise InputError(f"the condition {words!r} has unexpected text at {tokens[rest]!r}: join tests with and, or")
    return condition


def rename_in_condition(words: str, question: str, *, row: str = "", option: str = "", to: str) -> str:
    """Returns the text of a condition whose tests of a question name a row, or an option or step, by another code."""
    matches = list(_TOKEN.finditer(words))
    tokens = [next(part for part in match.groups() if part is not None) for match in matches]
    renamed: dict[int, str] = {}
    for place, token in enumerate(tokens[:-1]):
        name, _, named_row = token.partition(".")
        compare = tokens[place + 1]
        if name != question or compare not in (*_COMPARE, "answered"):
            continue
        if row and named_row == row:
            renamed[place] = f"{name}.{to}"
        if option and compare != "answered" and tokens[place + 2 : place + 3] == [option]:
            renamed[place + 2] = to
    for place, code in sorted(renamed.items(), reverse=True):
        match = matches[place]
        start = match.start(match.lastgroup or 0)
        words = words[:start] + code + words[match.end(match.lastgroup or 0) :]
    return words


def simplify(known: bool | Condition, question: str, answer: Mapping[str, Any]) -> bool | Condition:
    """Simplifies a condition after one more question is answered."""
    if isinstance(known, bool):
        return known
    if known.kind == "test":
        return known.holds({question: answer}) if known.question == question else known
    parts = [simplify(part, question, answer) for part in known.parts]
    if known.kind == "not":
        inner = parts[0]
        return not inner if isinstance(inner, bool) else Condition(known.words, "not", (inner,))
    decides = known.kind == "or"
    if any(part is decides for part in parts):
        return decides
    left = tuple(part for part in parts if not isinstance(part, bool))
    if len(left) < 2:
        return left[0] if left else not decides
    return Condition(known.words, known.kind, left)


def _tokens(words: str) -> list[str]:
    parts_found, place = [], 0
    while words[place:].strip():
        match = _TOKEN.match(words, place)
        if match is None:
            raise InputError(f"the condition {words!r} cannot be read at {words[place:].strip()!r}")
        parts_found.append(next(part for part in match.groups() if part is not None))
        place = match.end()
    if not parts_found:
        raise InputError("a condition is empty: write a test such as `QUESTION = ANSWER`, or leave it out")
    return parts_found


def _either(words: str, tokens: list[str], place: int, depth: int = 0) -> tuple[Condition, int]:
    if depth > _DEEPEST:
        raise InputError(f"the condition {words[:60]!r}… is nested too deeply")
    parts, place = _both(words, tokens, place, depth)
    alternatives = [parts]
    while place < len(tokens) and tokens[place] == "or":
        following, place = _both(words, tokens, place + 1, depth)
        alternatives.append(following)
    return _joined(words, "or", alternatives), place


def _both(words: str, tokens: list[str], place: int, depth: int) -> tuple[Condition, int]:
    first, place = _one(words, tokens, place, depth)
    members = [first]
    while place < len(tokens) and tokens[place] == "and":
        following, place = _one(words, tokens, place + 1, depth)
        members.append(following)
    return _joined(words, "and", members), place


def _joined(words: str, by: str, conditions: list[Condition]) -> Condition:
    return conditions[0] if len(conditions) == 1 else Condition(words, by, tuple(conditions))


def _one(words: str, tokens: list[str], place: int, depth: int) -> tuple[Condition, int]:
    if place >= len(tokens):
        raise InputError(f"the condition {words!r} ends where a test is expected")
    if tokens[place] == "not":
        if depth > _DEEPEST:
            raise InputError(f"the condition {words[:60]!r}… is nested too deeply")
        inner, place = _one(words, tokens, place + 1, depth + 1)
        return Condition(words, "not", (inner,)), place
    if tokens[place] == "(":
        inner, place = _either(words, tokens, place + 1, depth + 1)
        if place >= len(tokens) or tokens[place] != ")":
            raise InputError(f"the condition {words!r} has an unclosed parenthesis")
        return inner, place + 1
    return _test(words, tokens, place)


def _test(words: str, tokens: list[str], place: int) -> tuple[Condition, int]:
    question, _, row = tokens[place].partition(".")
    compare = tokens[place + 1] if place + 1 < len(tokens) else ""
    if compare == "answered":
        return Condition(words, "test", question=question, row=row, compare=compare), place + 2
    if compare not in _COMPARE or place + 2 >= len(tokens):
        raise InputError(
            f"the condition {words!r} cannot be read at {tokens[place]!r}: write a test such as `QUESTION = ANSWER`"
        )
    value = tokens[place + 2]
    if compare in (">", ">=", "<", "<=") and _as_ordered(value) is None:
        raise InputError(f"the condition {words!r} compares with {value!r}: use a number, or a date such as 2024-05-31")
    return Condition(words, "test", question=question, row=row, compare=compare, value=value), place + 3


def _as_ordered(text: str) -> tuple[str, float] | None:
    """Returns a number or a date as something that can be compared with its like; None if a text is neither."""
    try:
        if _DATE.fullmatch(text):
            return "date", date.fromisoformat(text).toordinal()
        return "number", float(text)
    except ValueError:
        return None


def _compared(answer: Any, compare: str, value: str) -> bool:
    known, other = _as_ordered(str(answer)), _as_ordered(value)
    if known is None or other is None or known[0] != other[0]:
        return False
    left, right = known[1], other[1]
    return {
        "=": left == right, "!=": left != right, ">": left > right, ">=": left >= right, "<": left < right,
        "<=": left <= right,
    }.get(compare, False)  # fmt: skip
