"""The plan of synthetic interviews: the participants, the codes each mentions, and the sentences they use."""

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
    """A participant and the codes they mention."""

    role: str
    years: int
    field: str
    frameworks: str
    name: str
    """An invented name."""
    names: Stock = dataclasses.field(default_factory=dict)
    """The names they mention, by kind: organisations, persons, products, addresses, numbers."""
    codes: tuple[str, ...] = ()
    details: Mapping[str, tuple[CodeDetails, ...]] = dataclasses.field(default_factory=dict)
    """The fields of codes that have any, such as an indicator's threshold or a defect's case."""
    ticks: tuple[str, ...] = ()
    """The items they choose when the list is read out."""
    other: tuple[str, ...] = ()


@dataclass(frozen=True)
class InterviewPlan:
    """The planned participants and the stock of sentences."""

    guide: str
    interviewer: str
    note: str
    """Said first: that the interview is synthetic."""
    answers: Stock
    """The codes that can answer each question."""
    sentences: Stock
    """The sentences for each code."""
    plain: Stock
    """The sentences for each question that have no code."""
    naming: Stock
    """The sentences for each question that contain names."""
    fillers: Stock
    words: Stock
    talks: tuple[ParticipantPlan, ...]

    @property
    def codes(self) -> frozenset[str]:
        """All codes that participants mention."""
        return frozenset(code for talk in self.talks for code in talk.codes)

    def plan_talk(self, index: int, seed: int) -> ParticipantPlan:
        """Returns a planned participant, or beyond the plan an invented one who mentions no new code."""
        if index < len(self.talks):
            return self.talks[index]
        dice = random.Random(f"{seed}/talk/{index}")
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
    """Parses the [interviews] table of a plan file."""
    try:
        stocks = {
            name: {key: tuple(words) for key, words in document[name].items()}
            for name in ("answers", "sentences", "plain", "naming", "fillers", "words")
        }
        talks = tuple(_parse_participant(talk) for talk in document["talks"])
        plan = InterviewPlan(document["guide"], document["interviewer"], document["note"], **stocks, talks=talks)
    except KeyError as missing:
        raise InputError(f"{where} lacks {missing} in [interviews]: add it") from None
    answerable = {code for codes in plan.answers.values() for code in codes}
    for code in sorted(plan.codes):
        if code not in plan.sentences or code not in answerable:
            raise InputError(f"{where} plants {code!r} without a sentence or a question for it: add them")
    return plan


def _parse_participant(talk: Mapping[str, Any]) -> ParticipantPlan:
    names = {kind: tuple(forms) for kind, forms in talk["names"].items()}
    details = {code: _parse_details(entries) for code, entries in talk.items() if code not in _OWN}
    about = (str(talk["role"]), int(talk["years"]), str(talk["field"]), str(talk["frameworks"]), str(talk["name"]))
    choices = (tuple(talk.get("ticks", ())), tuple(talk.get("other", ())))
    return ParticipantPlan(*about, names, tuple(talk["codes"]), details, *choices)


def _parse_details(entries: Sequence[Mapping[str, Any]]) -> tuple[CodeDetails, ...]:
    return tuple({name: str(words) for name, words in entry.items()} for entry in entries)
