"""Synthetic interviews: the plan of who mentions what, and conversations that follow a guide.

Every coded passage and every name in them is known.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

from quaestor.base.errors import InputError
from quaestor.interviews.model.records import Asks, Guide, GuideQuestion, GuideSection, Voice

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


_SKIPPED, _TWICE, _AFTER, _PROBED, _NAMED = 0.25, 0.4, 0.4, 0.5, 0.6
_TOGETHER = 2
"""The most codes in one turn."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_MOST_WORDS = 200_000


@dataclass(frozen=True)
class PlantedPassage:
    """A passage of a turn with its code."""

    start: int
    end: int
    code: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PlantedName:
    """A name in a turn."""

    start: int
    end: int
    kind: str
    name: str
    """The full name; the turn may contain only a part of it."""


@dataclass(frozen=True)
class PlannedTurn:
    """A turn of the interviewer or the participant."""

    voice: Voice
    sentences: tuple[str, ...]
    question: str
    asks: bool = False
    passages: tuple[PlantedPassage, ...] = ()
    names: tuple[PlantedName, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.sentences)

    @property
    def words(self) -> int:
        return len(self.text.split())


@dataclass(frozen=True)
class SyntheticInterview:
    """A synthetic interview and everything that is planted in it."""

    plan: ParticipantPlan
    interviewer: str
    turns: tuple[PlannedTurn, ...]
    skipped: tuple[str, ...]
    """The questions that are not asked."""

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(passage.code for turn in self.turns for passage in turn.passages)

    @property
    def words(self) -> int:
        return sum(turn.words for turn in self.turns)


def generate_interviews(
    guide: Guide, plan: InterviewPlan, *, seed: int, interviews: int | None = None, words: int | None = None
) -> Iterator[SyntheticInterview]:
    """Generates interviews; by default those that are planned, each as long as it needs to be."""
    number = len(plan.talks) if interviews is None else interviews
    if number < 1:
        raise InputError(f"--interviews is {number}: ask for at least one")
    if words is not None and not 0 < words <= _MOST_WORDS:
        raise InputError(f"--words is {words}: ask for 1 to {_MOST_WORDS:,}")
    known = {question.id for question in guide.questions()}
    unknown = [name for name in (*plan.answers, *plan.plain, *plan.naming) if name not in known]
    if unknown:
        raise InputError(f"the plan answers {unknown[0]!r}, which is not in the guide {guide.id!r}: correct the plan")
    for index in range(number):
        yield _Conversation(
            guide, plan, plan.plan_talk(index, seed), random.Random(f"{seed}/interview/{index}"), words
        ).talk()


def _may_be_skipped(question: GuideQuestion, section: GuideSection) -> bool:
    """Whether a question can be skipped: an optional one without a list, if its section has others."""
    return question.optional and question.asks is not Asks.REFERENCE and len(section.questions) > 1


class _TurnBuilder:
    """Builds a turn sentence by sentence and records the positions of passages and names."""

    def __init__(self, voice: Voice, question: str, asks: bool = False) -> None:
        self.voice, self.question, self.asks = voice, question, asks
        self.sentences: list[str] = []
        self.stretches: list[PlantedPassage] = []
        self.names: list[PlantedName] = []
        self._length = 0

    def say(self, sentence: str, names: Sequence[PlantedName] = ()) -> int:
        """Adds a sentence and returns its start."""
        start = self._length + (1 if self.sentences else 0)
        self.sentences.append(sentence)
        self.names += [PlantedName(name.start + start, name.end + start, name.kind, name.name) for name in names]
        self._length = start + len(sentence)
        return start

    def whole(self) -> PlannedTurn:
        planted = (tuple(self.stretches), tuple(self.names))
        return PlannedTurn(self.voice, tuple(self.sentences), self.question, self.asks, *planted)


class _Conversation:
    """Generates a conversation."""

    def __init__(
        self, guide: Guide, plan: InterviewPlan, who: ParticipantPlan, dice: random.Random, words: int | None
    ) -> None:
        self.guide, self.plan, self.who, self.dice = guide, plan, who, dice
        self.turns: list[PlannedTurn] = []
        self._words = 0
        self._plain: dict[str, list[str]] = {}
        self._used: dict[str, list[str]] = {}
        optional = [
            question.id for part in guide.sections for question in part.questions if _may_be_skipped(question, part)
        ]
        self.skipped = tuple(name for name in optional if dice.random() < _SKIPPED)
        self.asked = [question for question in guide.questions() if question.id not in self.skipped]
        self.share = None if words is None else words / len(self.asked)

    def talk(self) -> SyntheticInterview:
        planted = self._assign_codes()
        for section in self.guide.sections:
            before = [self.plan.note] if not self.turns else []
            before += [" ".join(section.script.split())] if section.script else []
            for question in section.questions:
                if question.id not in self.skipped:
                    self._ask(question, before)
                    self._answer(question, planted.get(question.id, []))
                    before = []
        return SyntheticInterview(self.who, self.plan.interviewer, tuple(self.turns), self.skipped)

    def _assign_codes(self) -> dict[str, list[tuple[str, CodeDetails]]]:
        """Assigns codes to questions: every code at least once, and each of a code's details exactly once."""
        assigned: dict[str, list[tuple[str, CodeDetails]]] = {}
        for code in self.who.codes:
            fitting = [question.id for question in self.asked if code in self.plan.answers.get(question.id, ())]
            variants = self.who.details.get(code, ())
            if variants:
                for index, details in enumerate(variants):
                    assigned.setdefault(fitting[index % len(fitting)], []).append((code, details))
                continue
            for index, name in enumerate(fitting[:_TOGETHER]):
                if index == 0 or self.dice.random() < _TWICE:
                    assigned.setdefault(name, []).append((code, {}))
        return assigned

    def _add(self, turn: _TurnBuilder) -> None:
        self.turns.append(turn.whole())
        self._words += self.turns[-1].words

    def _ask(self, question: GuideQuestion, before: Sequence[str]) -> None:
        turn = _TurnBuilder(Voice.INTERVIEWER, question.id, asks=True)
        lead = self._draw_filler("leading") if self.turns and not before else ""
        for sentence in (lead, *before, question.text):
            if sentence:
                turn.say(sentence)
        self._add(turn)

    def _answer(self, question: GuideQuestion, planted: Sequence[tuple[str, CodeDetails]]) -> None:
        began = self._words
        left = list(planted)
        probes = list(question.probes)
        turn = self._turn(question.id, [left.pop(0) for _ in range(min(len(left), self.dice.randint(1, _TOGETHER)))])
        for place, pattern in enumerate(self.plan.naming.get(question.id, ())):
            if place == 0 or self.dice.random() < _NAMED:
                turn.say(*self._fill(pattern))
        self._add(turn)
        if question.items:
            self._read_out(question)
        while left or (probes and self.dice.random() < _PROBED):
            self._listen(question.id, probes)
            now = [left.pop(0) for _ in range(min(len(left), self.dice.randint(1, _TOGETHER)))]
            self._add(self._turn(question.id, now))
        again = [(code, details) for code, details in planted if not details]
        while self.share is not None and self._words - began < self.share:
            self._listen(question.id, [])
            some = [self.dice.choice(again)] if again and self.dice.random() < _PROBED else []
            self._add(self._turn(question.id, some))

    def _listen(self, question: str, probes: list[str]) -> None:
        turn = _TurnBuilder(Voice.INTERVIEWER, question)
        turn.say(probes.pop(0) if probes and self.dice.random() < _PROBED else self._draw_filler("listening"))
        self._add(turn)

    def _turn(self, question: str, planted: Sequence[tuple[str, CodeDetails]]) -> _TurnBuilder:
        turn = _TurnBuilder(Voice.PARTICIPANT, question)
        stock = self.plan.plain.get(question, ())
        plain = self._plain.setdefault(question, self.dice.sample(stock, len(stock)))
        if plain and (not planted or len(plain) == len(self.plan.plain[question])):
            turn.say(self._fill(plain.pop())[0])
        for code, details in planted:
            self._plant(turn, code, details)
        if not turn.sentences:
            turn.say(self._draw_filler("small"))
        if self.dice.random() < _AFTER:
            turn.say(self._draw_filler("after"))
        return turn

    def _plant(self, turn: _TurnBuilder, code: str, code_details: CodeDetails) -> None:
        words, _ = self._fill(self._draw(f"code/{code}", self.plan.sentences[code]), code_details)
        before = self._draw_filler("before") if self.dice.random() < _AFTER else ""
        if not before or before.endswith("."):
            if before:
                turn.say(before)
            words = words[0].upper() + words[1:]
            begins = turn.say(f"{words}.")
        else:
            begins = turn.say(f"{before} {words}.") + len(before) + 1
        turn.stretches.append(PlantedPassage(begins, begins + len(words), code, code_details))

    def _read_out(self, question: GuideQuestion) -> None:
        """Adds the turns in which the list of items is read out and the participant chooses some."""
        listed = _TurnBuilder(Voice.INTERVIEWER, question.id)
        listed.say(self._draw_filler("listed"))
        listed.say(f"{'; '.join(item.label for item in question.items)}.")
        self._add(listed)
        named = [_ORDINALS[place] for place, item in enumerate(question.items) if item.code in self.who.ticks]
        turn = _TurnBuilder(Voice.PARTICIPANT, question.id)
        turn.say(f"Of these, the {', the '.join(named)}." if named else "None of these, really.")
        for other in self.who.other:
            turn.say(f"What is missing there: {other[0].lower()}{other[1:]}.")
        self._add(turn)

    def _fill(self, pattern: str, code_details: CodeDetails | None = None) -> tuple[str, list[PlantedName]]:
        """Fills the slots of a sentence and returns it with the names it contains."""
        about = {"role": self.who.role, "years": str(self.who.years), "field": self.who.field}
        known = {**about, "frameworks": self.who.frameworks, **(code_details or {})}
        text, names = "", []
        for literal, slot, _, _ in Formatter().parse(pattern):
            text += literal
            if slot and slot in self.who.names:
                whole = self.dice.choice(self.who.names[slot])
                form = whole.split()[0] if slot == "person" and self.dice.random() < _NAMED / 2 else whole
                names.append(PlantedName(len(text), len(text) + len(form), slot, whole))
                text += form
            elif slot:
                text += known[slot] if slot in known else self.dice.choice(self.plan.words[slot])
        return text, names

    def _draw_filler(self, name: str) -> str:
        return self._draw(f"filler/{name}", self.plan.fillers[name])

    def _draw(self, key: str, sentences: Sequence[str]) -> str:
        """Returns one of the sentences; none is repeated before all were used."""
        left = self._used.setdefault(key, [])
        if not left:
            left += self.dice.sample(sentences, len(sentences))
        return left.pop()
