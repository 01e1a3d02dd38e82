"""The frozen records of coding: codes, codebooks, rounds, ratings and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

ACTIVE, RETIRED, MERGED, SPLIT, WITHDRAWN = "active", "retired", "merged", "split", "withdrawn"
CANNOT_JUDGE = "cannot judge"
KEEP, EXCLUDE = "keep", "exclude"
DRIFT = "drift"
"""The kind of a round that rates items again, to compare each rater with their own earlier ratings."""
EVIDENCE, INTERVIEWS, SURVEYS = "evidence", "interviews", "surveys"
"""Sources of items: the authors of interviews and open answers can withdraw, the authors of other evidence cannot."""

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class CodeFacet:
    """One tree of codes and the names of its levels; codes can refer to codes of other trees."""

    id: str
    title: str = ""
    levels: tuple[str, ...] = ("code",)


@dataclass(frozen=True)
class SplitRule:
    """Assigns ratings of a split code to its parts: by item, else by the first matching rule, else to `otherwise`."""

    items: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    rules: tuple[tuple[str, str, str], ...] = ()  # facet, answer, part
    otherwise: str = ""

    def part(self, item: str, answers: Mapping[str, Any]) -> str:
        if item in self.items:
            return self.items[item]
        for facet, answer, part in self.rules:
            value = answers.get(facet)
            if isinstance(value, Mapping):
                value = value.get("answer") or f"{value.get('verb')} {value.get('object')}"
            if value == answer or (isinstance(value, list | tuple) and answer in map(_read_code, value)):
                return part
        return self.otherwise


def _read_code(value: Any) -> Any:
    """Returns the code of a passage; any other value is a code itself."""
    return value.get("code") if isinstance(value, Mapping) else value


@dataclass(frozen=True)
class Code:
    """One entry of a codebook; its id never changes, so renaming a code keeps its ratings."""

    id: str
    facet: str
    name: str
    parent: str = ""
    definition: str = ""
    use: str = ""
    not_: str = ""
    examples: tuple[str, ...] = ()
    colour: str = ""
    key: str = ""
    across: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    status: str = ACTIVE
    into: str = ""
    """The code that replaced a merged code."""
    origin: str = ""
    """The split code that this code is a part of."""
    split: SplitRule | None = None
    since: int = 0

    @property
    def active(self) -> bool:
        return self.status == ACTIVE


@dataclass(frozen=True)
class Codebook:
    """One version of the codebook."""

    version: int = 0
    name: str = ""
    facets: Mapping[str, CodeFacet] = field(default_factory=dict)
    codes: Mapping[str, Code] = field(default_factory=dict)
    _offered: dict[tuple[str, str | None], list[Code]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    _below: dict[str, list[Code]] = field(default_factory=dict, init=False, compare=False, repr=False)

    def children(self, parent: str, facet: str | None = None) -> list[Code]:
        """Returns the active codes directly below a code, or the roots of a facet; cached."""
        if not self._below:
            for code in self.codes.values():
                if code.active:
                    self._below.setdefault(code.parent, []).append(code)
        return [code for code in self._below.get(parent, ()) if facet is None or code.facet == facet]

    def path(self, code: str) -> tuple[str, ...]:
        """Returns the ids from the root down to a code."""
        path: list[str] = []
        while code:
            path.append(code)
            code = self.codes[code].parent
        return tuple(reversed(path))

    def depth(self, code: str) -> int:
        return len(self.path(code))

    def level(self, code: str) -> str:
        """Returns the name of a code's level, such as phase."""
        entry = self.codes[code]
        levels = self.facets[entry.facet].levels
        return levels[min(self.depth(code), len(levels)) - 1]

    def at_level(self, code: str, level: str) -> str | None:
        """Returns the ancestor of a code (or the code) at a level; None if the code is above that level."""
        return next((ancestor for ancestor in self.path(code) if self.level(ancestor) == level), None)

    def active(self, facet: str, level: str | None = None) -> list[Code]:
        """Returns the codes a rater may choose from, each below its parent; cached, since every rating needs them."""
        if (facet, level) not in self._offered:
            self._offered[facet, level] = [
                code
                for code in self.in_tree_order()
                if code.active and code.facet == facet and (level is None or self.level(code.id) == level)
            ]
        return self._offered[facet, level]

    def in_tree_order(self) -> list[Code]:
        """Returns all codes, each below its parent, and the parts of a split code in its place."""
        order = {code: number for number, code in enumerate(self.codes)}

        def find_place(code: str) -> tuple[int, int]:
            first = code
            while self.codes[first].origin in order:
                first = self.codes[first].origin
            return order[first], order[code]

        return sorted(self.codes.values(), key=lambda code: [find_place(ancestor) for ancestor in self.path(code.id)])

    def path_name(self, code: str) -> str:
        """Returns the names from the root down to a code, such as `model training › loss`."""
        return " › ".join(self.codes[ancestor].name for ancestor in self.path(code))


@dataclass(frozen=True)
class CodeInVersion:
    """The code of a rating under some version of the codebook; if there is none, `why` gives the reason."""

    code: str | None
    why: str = ""


@dataclass(frozen=True)
class Difference:
    """One difference between two versions of the codebook."""

    code: str
    what: str  # added, renamed, redefined, moved, merged, split, retired, restored, withdrawn
    before: str = ""
    after: str = ""


@dataclass(frozen=True)
class Facet:
    """One question asked of each item of a round."""

    id: str
    kind: str  # single, multiple, keep, text, phrase, confirm, stretches
    question: str = ""
    codes: str = ""
    level: str = ""
    options: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    scale: str = "nominal"
    required: bool = True
    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The names of the fields of a passage, by the id of its code."""
    ask_if: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """By earlier facet of the round, the answers under which this one is asked; all conditions must hold."""

    def list_fields(self, code: str) -> tuple[str, ...]:
        """Returns the names of the fields of a passage with this code."""
        return next((names for with_code, names in self.fields if with_code == code), ())


@dataclass(frozen=True)
class Practice:
    """A practice item: the right answers and why they are right."""

    item: str
    answers: Mapping[str, Any]
    feedback: str = ""


@dataclass(frozen=True)
class RoundPlan:
    """The plan of a round, fixed when it opens."""

    round: str
    kind: str
    items: tuple[str, ...]
    facets: tuple[Facet, ...]
    raters: tuple[str, ...]
    codebook: int = 0
    overlap: float = 1.0
    seed: int = 1
    blind: bool = True
    statistic: str = "kappa"
    measured: str = ""
    threshold: float | None = None
    after: str = ""
    tie_breaker: str = ""
    settle: str = "discussion"
    instructions: str = ""
    practice: tuple[Practice, ...] = ()
    deadline: str = ""
    set_size: int = 0
    proposals: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    origin: str = ""
    """The source of the items: a feature whose authors can withdraw, or `EVIDENCE`; empty in older plans."""
    selection: str = ""
    """How the items were selected, in words; empty in older plans."""

    def facet(self, name: str) -> Facet:
        return next(facet for facet in self.facets if facet.id == name)

    def sets(self) -> list[tuple[str, ...]]:
        """Returns the items of each set; items that do not fill a set of their own join the last one."""
        if not self.set_size:
            return [self.items]
        count = max(1, len(self.items) // self.set_size)
        starts = [number * self.set_size for number in range(count)]
        return [
            self.items[start : (start + self.set_size) if number < count - 1 else None]
            for number, start in enumerate(starts)
        ]


@dataclass(frozen=True)
class Rating:
    """One rater's independent answers about one item; never changed, only superseded."""

    number: int
    round: str
    item: str
    rater: str
    answers: Mapping[str, Any]
    time: str
    codebook: int
    unsure: tuple[str, ...] = ()
    memo: str = ""
    seconds: float = 0.0
    simulated: bool = False
    imported: bool = False


@dataclass(frozen=True)
class Comment:
    """A comment on a disagreement."""

    number: int
    item: str
    facet: str
    actor: str
    text: str
    time: str
    answer: Any = None
    """The answer of a tie-breaker's independent comment."""
    simulated: bool = False


@dataclass(frozen=True)
class Decision:
    """The final answer of an item."""

    number: int
    item: str
    facet: str
    answer: Any
    how: str  # agreement, single, discussion, one-person, tie-breaker, together, decided outside Quaestor
    actor: str
    time: str
    reason: str = ""
    source: str = ""
    simulated: bool = False
    assents: tuple[str, ...] = ()
    """The people who assented to a decision by discussion; empty if it was recorded before assents were."""


@dataclass(frozen=True)
class ProposedDecision:
    """A decision by discussion that waits for the assent of everybody involved."""

    number: int
    answer: Any
    how: str
    reason: str
    actor: str
    time: str
    simulated: bool = False
    assents: tuple[str, ...] = ()


ACCEPTED, DECLINED = "accepted", "declined"
"""What the lead decides about a proposed code, or MERGED: it means an existing one."""


@dataclass(frozen=True)
class CodeProposal:
    """A code that a rater proposes while rating an item; the rating itself has a code of the codebook."""

    number: int
    item: str
    facet: str
    actor: str
    time: str
    name: str
    """Empty once the text was erased because a participant withdrew."""
    definition: str = ""
    parent: str = ""
    outcome: str = ""
    """ACCEPTED, MERGED or DECLINED; empty until the lead decides."""
    code: str = ""
    """The code that it became."""
    reason: str = ""


@dataclass(frozen=True)
class Disagreement:
    """An item on which raters disagree; the answers are in the order of the rater slots."""

    item: str
    facet: str
    answers: tuple[tuple[str, Any], ...]
    comments: tuple[Comment, ...] = ()
    tie_comment: Comment | None = None
    decision: Decision | None = None
    words_only: bool = False
    """Whether all raters gave the same codes and differ only in the fields of a passage."""
    proposal: ProposedDecision | None = None


@dataclass(frozen=True)
class Unification:
    """Words that raters replaced with one word after a set of phrases."""

    number: int
    set: int
    part: str  # verb, object
    words: tuple[str, ...]
    to: str
    rule: str  # same meaning, hypernym
    actor: str
    reason: str = ""
    simulated: bool = False


@dataclass(frozen=True)
class ActSummary:
    """An act without its content: who did what in which round."""

    number: int
    time: str
    kind: str
    actor: str
    round: str
    count: int = 0
    """How many items a decision settled."""
    survey: str = ""


@dataclass(frozen=True)
class RaterView:
    """All that a rater may see of a round while it is open."""

    round: str
    kind: str
    rater: str
    instructions: str
    facets: tuple[Facet, ...]
    codebook: Codebook
    practice: tuple[Practice, ...]
    deadline: str
    set: int
    sets: int
    items: tuple[str, ...]
    ratings: Mapping[str, Rating]
    proposals: Mapping[str, Mapping[str, str]]
    words: Mapping[str, Mapping[str, str]]
    status: str
    again: tuple[str, ...] = ()
    """Items to rate again because their phrase was unclear."""

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(item for item in self.items if item not in self.ratings or item in self.again)


@dataclass(frozen=True)
class TieCase:
    """A disagreement as the tie-breaker sees it: the answers without the raters' names."""

    item: str
    facet: str
    answers: tuple[Any, ...]
    comment: Comment | None = None
    settled: bool = False
    proposal: ProposedDecision | None = None
    """The decision that waits for the tie-breaker's assent."""

    @property
    def is_done(self) -> bool:
        """Whether the tie-breaker has nothing left to do here."""
        return self.proposal is None and (self.settled or self.comment is not None)


@dataclass(frozen=True)
class Passage:
    """A coded passage of a turn of a transcript, as character offsets into the recorded text.

    It contains none of the words, so that deleting the file of an interview removes them from the study.
    """

    start: int
    end: int
    code: str = ""
    """Empty if the words of the passage are themselves the code (in vivo)."""
    memo: str = ""
    fields: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    """The fields of the code, such as the threshold of an indicator."""
    link: str = ""
    """Shared by parts in several turns that were coded as one passage; several links are separated by spaces."""

    @property
    def in_vivo(self) -> bool:
        return not self.code

    def payload(self) -> dict[str, Any]:
        """Returns the passage as it is stored in an answer."""
        more = {"code": self.code, "memo": self.memo, "fields": dict(self.fields), "link": self.link}
        return {"start": self.start, "end": self.end} | {name: value for name, value in more.items() if value}


def read_passages(answer: Any) -> tuple[Passage, ...]:
    """Returns the passages of an answer; none if the rater could not judge."""
    if not isinstance(answer, list | tuple):
        return ()
    return tuple(Passage(**{**passage, "fields": dict(passage.get("fields", {}))}) for passage in answer)
