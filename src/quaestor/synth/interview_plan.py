"""What is planted in synthetic interviews: who takes part, what each speaks of, and in which sentences."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from quaestor.base.errors import InputError

Stock = Mapping[str, tuple[str, ...]]
CodeDetails = Mapping[str, str]
_SOUNDS = ("zor", "qua", "brum", "vex", "til", "oth", "drin", "plo", "mur", "kel", "wum", "yax", "fro", "gly")
_OWN = ("role", "years", "field", "frameworks", "name", "names", "codes", "ticks", "other")
_FEWEST_CODES = 0.6


@dataclass(frozen=True)
class ParticipantPlan:
    """One participant, and what they speak of."""

    role: str
    years: int
    field: str
    frameworks: str
    name: str
    """Made up of sounds, and nobody's."""
    names: Stock = dataclasses.field(default_factory=dict)
    """What they name, by its kind: organisations, persons, products, addresses, numbers."""
    codes: tuple[str, ...] = ()
    details: Mapping[str, tuple[CodeDetails, ...]] = dataclasses.field(default_factory=dict)
    """What is said of a code that asks for more: an indicator and its threshold, a defect and its case."""
    ticks: tuple[str, ...] = ()
    """Items that they refer to when the list is read out."""
    other: tuple[str, ...] = ()


@dataclass(frozen=True)
class InterviewPlan:
    """The talks and the stock of sentences they are made of."""

    guide: str
    interviewer: str
    note: str
    """Said first: that nobody said any of it."""
    answers: Stock
    """By question the codes that can be an answer to it."""
    sentences: Stock
    """By code what is said."""
    plain: Stock
    """By question what is said and stands for no code."""
    naming: Stock
    """By question sentences that name somebody or something."""
    fillers: Stock
    words: Stock
    talks: tuple[ParticipantPlan, ...]

    @property
    def codes(self) -> frozenset[str]:
        """All codes that somebody speaks of."""
        return frozenset(code for talk in self.talks for code in talk.codes)

    def plan_talk(self, place: int, seed: int) -> ParticipantPlan:
        """Who comes at a place; after the last one, somebody who says nothing that was not said before."""
        if place < len(self.talks):
            return self.talks[place]
        dice = random.Random(f"{seed}/talk/{place}")
        like = dice.choice(self.talks)
        known = sorted(self.codes)
        codes = dice.sample(known, dice.randint(round(len(known) * _FEWEST_CODES), len(known)))
        details = {code: detail for talk in self.talks for code, detail in talk.details.items()}
        name = " ".join("".join(dice.sample(_SOUNDS, 3)).capitalize() for _ in range(2))
        names = {**like.names, "email": (f"{name.replace(' ', '.').lower()}@nowhere.example",)}
        return ParticipantPlan(
            like.role, dice.randint(1, 20), like.field, like.frameworks, name, names, tuple(codes),
            {code: details[code] for code in codes if code in details}, like.ticks, like.other,
        )  # fmt: skip


def parse_plan(document: Mapping[str, Any], where: str) -> InterviewPlan:
    """A plan as a file has it under [interviews]."""
    try:
        stocks = {
            name: {key: tuple(words) for key, words in document[name].items()}
            for name in ("answers", "sentences", "plain", "naming", "fillers", "words")
        }
        talks = tuple(_talk(talk) for talk in document["talks"])
        plan = InterviewPlan(document["guide"], document["interviewer"], document["note"], **stocks, talks=talks)
    except KeyError as missing:
        raise InputError(f"{where} does not say {missing} of its interviews: add it") from None
    fitting = {code for codes in plan.answers.values() for code in codes}
    for code in sorted(plan.codes):
        if code not in plan.sentences or code not in fitting:
            raise InputError(f"{where} plants {code!r} without a sentence or a question for it: add them")
    return plan


def _talk(talk: Mapping[str, Any]) -> ParticipantPlan:
    names = {kind: tuple(forms) for kind, forms in talk["names"].items()}
    details = {code: _told(entries) for code, entries in talk.items() if code not in _OWN}
    about = (str(talk["role"]), int(talk["years"]), str(talk["field"]), str(talk["frameworks"]), str(talk["name"]))
    ticked = (tuple(talk.get("ticks", ())), tuple(talk.get("other", ())))
    return ParticipantPlan(*about, names, tuple(talk["codes"]), details, *ticked)


def _told(entries: Sequence[Mapping[str, Any]]) -> tuple[CodeDetails, ...]:
    return tuple({name: str(words) for name, words in entry.items()} for entry in entries)
