"""Answers in dispute as a page puts them side by side: in words, with what each would mean, and a key to choose it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError
from quaestor.coding.answers import choices, written
from quaestor.coding.records import CANNOT_JUDGE, EXCLUDE, KEEP, Codebook, Facet
from quaestor.coding.stretches import codes_in, in_vivo_in, union

_KEYS = "123456789"
NOTHING = "[]"
"""The answer that there is nothing to code, as it is written."""
_SENT = "said-"


@dataclass(frozen=True)
class Voice:
    """One who gave an answer, as the viewer may know them."""

    who: str
    unsure: bool = False
    memo: str = ""
    simulated: bool = False


@dataclass(frozen=True)
class Meaning:
    """What the codebook says of one code."""

    name: str
    group: str
    definition: str
    use: str
    not_: str
    examples: tuple[str, ...]

    @property
    def is_told(self) -> bool:
        return bool(self.definition or self.use or self.not_ or self.examples)


@dataclass(frozen=True)
class Quote:
    """Coded words of a transcript: what they are coded as, and what was said about them."""

    words: str
    name: str
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Opinion:
    """One answer that was given, who gave it, and the key that chooses it; none where nobody can decide that."""

    value: str
    label: str
    key: str = ""
    voices: tuple[Voice, ...] = ()
    meanings: tuple[Meaning, ...] = ()
    quotes: tuple[Quote, ...] = ()
    """Of an answer that codes stretches: the words of each."""


@dataclass(frozen=True)
class Another:
    """An answer that nobody gave and that could be right all the same."""

    value: str
    label: str
    group: str = ""


@dataclass(frozen=True)
class Chosen:
    """What somebody chose in a form: an answer in dispute, or others in its place."""

    answer: str = ""
    others: tuple[str, ...] = ()
    instead: str = ""


@dataclass(frozen=True)
class Question:
    """What a case is about, the answers in dispute and the others there are."""

    facet: str
    kind: str
    question: str
    opinions: tuple[Opinion, ...]
    others: tuple[Another, ...]
    proposed: tuple[tuple[str, str], ...] = ()
    """Of something to confirm: what was proposed."""

    @property
    def distinguishes(self) -> bool:
        """Whether the codebook has anything to say about the answers in dispute."""
        return any(meaning.is_told for opinion in self.opinions for meaning in opinion.meanings)


def question_of(
    facet: Facet,
    book: Codebook,
    given: Iterable[tuple[Any, Voice | None]],
    proposed: Mapping[str, str],
    *,
    judging: bool = False,
) -> Question:
    """A case's question: equal answers stand once, in the order in which they come.

    With `judging`, that one cannot judge may be chosen too: a comment can say so, a decision cannot.
    """
    answers: dict[str, Any] = {}
    voices: dict[str, list[Voice]] = {}
    for answer, voice in given:
        answers.setdefault(written(answer), answer)
        voices.setdefault(written(answer), []).extend([voice] if voice else [])
    keys = iter(_KEYS)
    opinions = tuple(
        Opinion(
            value,
            in_words(facet, book, answer),
            "" if answer == CANNOT_JUDGE else next(keys, ""),
            tuple(voices[value]),
            meanings_of(facet, book, answer),
        )
        for value, answer in answers.items()
    )
    others = [one for one in _others(facet, book, answers.values()) if one.value not in answers]
    if judging:
        others.append(Another(CANNOT_JUDGE, CANNOT_JUDGE))
    return Question(
        facet.id, facet.kind, facet.question or facet.id, opinions, tuple(others), tuple(sorted(proposed.items()))
    )


def in_words(facet: Facet, book: Codebook, answer: Any) -> str:
    """An answer with the names of its codes."""
    if not facet.codes or answer == CANNOT_JUDGE or answer is None:
        return written(answer)
    names = [book.codes[one].name if one in book.codes else one for one in codes_in(answer)]
    if facet.kind == "stretches":
        own = len(in_vivo_in(answer))
        names += [f"{own} in vivo"] if own else []
    return "; ".join(names) or "nothing coded"


def meanings_of(facet: Facet, book: Codebook, answer: Any) -> tuple[Meaning, ...]:
    """What would tell an answer from others, code by code."""
    if not facet.codes or answer == CANNOT_JUDGE:
        return ()
    found = []
    for one in codes_in(answer):
        code = book.codes.get(one)
        if code is not None:
            group = book.path_name(code.parent) if code.parent else ""
            found.append(Meaning(code.name, group, code.definition, code.use, code.not_, code.examples))
    return tuple(found)


def offered(facet: Facet, book: Codebook) -> tuple[Another, ...]:
    """All that can be answered by choosing; nothing where words are asked for."""
    if facet.kind == "keep":
        reasons = [Another(f"{EXCLUDE}: {reason}", f"{EXCLUDE}: {reason}") for reason in facet.reasons]
        return (Another(KEEP, KEEP), *(reasons or [Another(EXCLUDE, EXCLUDE)]))
    if facet.kind == "confirm":
        return (Another("yes", "yes"), Another("no", "no"))
    if facet.kind not in ("single", "multiple"):
        return ()
    found = []
    for value, label in choices(facet, book).items():
        code = book.codes.get(value)
        found.append(Another(value, label, book.codes[code.parent].name if code and code.parent else ""))
    return tuple(found)


def _others(facet: Facet, book: Codebook, given: Iterable[Any]) -> tuple[Another, ...]:
    """What else can be answered; of stretches, with the codes that somebody gave, since only these have a place."""
    if facet.kind != "stretches":
        return offered(facet, book)
    used = sorted({code for answer in given for code in codes_in(answer) if answer != CANNOT_JUDGE})
    named = [book.codes[code] for code in used if code in book.codes]
    found = [Another(one.id, one.name, book.codes[one.parent].name if one.parent else "") for one in named]
    return (*found, Another(NOTHING, "nothing is coded here"))


def sent_for(value: str) -> str:
    """What a form sends back in place of an answer whose words the page does not show; the same answer has the same."""
    return _SENT + hashlib.sha256(value.encode()).hexdigest()[:32]


def chosen_answer(facet: Facet, chosen: Chosen, given: Iterable[Any]) -> Any:
    """The answer that a form stands for; one in dispute exactly as it was given. Refuses two at once, and none."""
    others = [one.strip() for one in chosen.others if one.strip()]
    if chosen.answer and others:
        first = "one in dispute" if chosen.answer.startswith(_SENT) else repr(chosen.answer)
        raise InputError(
            f"Two answers were chosen, {first} and {'; '.join(others)!r}: clear one of them and send again."
        )
    if chosen.answer:
        meant = next((one for one in given if chosen.answer in (written(one), sent_for(written(one)))), chosen.answer)
        if meant == chosen.answer and chosen.answer.startswith(_SENT):
            raise InputError("The answer that was chosen has changed since this page was opened: choose again.")
        return meant
    if not others:
        raise InputError("No answer was chosen: choose one of those in dispute, or another one.")
    if facet.kind == "multiple":
        return others
    if facet.kind == "stretches" and others != [CANNOT_JUDGE]:
        if NOTHING in others and len(others) > 1:
            raise InputError("Codes were chosen, and that nothing is coded: clear one of them and send again.")
        return [] if others == [NOTHING] else union([one for one in given if one != CANNOT_JUDGE], others)
    instead = chosen.instead.strip()
    return f"no: {instead}" if facet.kind == "confirm" and others[0] == "no" and instead else others[0]
