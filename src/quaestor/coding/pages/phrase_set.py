"""The page of a set of phrases: counts while raters are still rating, then the phrases of each item compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quaestor.base.errors import InputError, StateError
from quaestor.coding.model.facet_kinds.phrase import PARTS
from quaestor.coding.model.phrases import (
    HYPERNYM,
    SAME_MEANING,
    build_curves,
    find_phrase_facet,
    find_words_before,
    list_phrases,
)
from quaestor.coding.model.records import CANNOT_JUDGE
from quaestor.coding.model.rounds import list_missing
from quaestor.coding.model.state import OPEN, RaterSlot, RoundState, State
from quaestor.coding.model.views import needs_consent
from quaestor.coding.pages.rating_sheet import Desk
from quaestor.coding.rating_files import record_view
from quaestor.coding.session import StudyOrSession, open_coding
from quaestor.render.figures.discrepancy import draw_round_curves
from quaestor.render.figures.export import render_svg
from quaestor.render.figures.records import SetCurve
from quaestor.study.contributions import TextMask

WAIT, ASK, SEE = "wait", "ask", "see"


@dataclass(frozen=True)
class SlotPhrase:
    """The phrase of one rater slot, as written and after unification."""

    who: str
    written: Mapping[str, str]
    now: Mapping[str, str]
    instead: str = ""
    """The text to show if there is no phrase."""


@dataclass(frozen=True)
class UnifyOption:
    """A unification offered as a button."""

    part: str
    words: tuple[str, ...]
    to: str
    rule: str


@dataclass(frozen=True)
class PhraseComparison:
    """An item with its phrases."""

    item: str
    phrases: tuple[SlotPhrase, ...]
    differs: tuple[str, ...]
    """The parts that differ after unification."""
    options: tuple[UnifyOption, ...]

    def words(self, part: str) -> list[str]:
        """Returns the words to unify."""
        return list(
            dict.fromkeys(word for option in self.options if option.part == part for word in (*option.words, option.to))
        )

    @property
    def is_alike(self) -> bool:
        """Whether all phrases are equal, or there is none."""
        return not self.differs and len({bool(phrase.now) for phrase in self.phrases}) < 2


@dataclass(frozen=True)
class WordCount:
    word: str
    count: int
    to: str


@dataclass(frozen=True)
class PhraseSet:
    """What an actor may see of a set and do with it."""

    round: str
    number: int
    current: int
    sets: int
    status: str
    access: str  # wait, ask, see
    obstacle: str
    waiting: tuple[tuple[str, int], ...]
    """How many items each slot still has to rate."""
    rates: bool
    simulated: bool = False
    blindness: str = ""
    sides: tuple[PhraseComparison, ...] = ()
    words: Mapping[str, tuple[WordCount, ...]] | None = None
    curves: tuple[SetCurve, ...] = ()
    can_unify: bool = False
    can_go_on: bool = False

    @property
    def differing(self) -> list[PhraseComparison]:
        return [side for side in self.sides if not side.is_alike]

    @property
    def alike(self) -> list[PhraseComparison]:
        return [side for side in self.sides if side.is_alike]

    @property
    def drawing(self) -> str:
        """Both curves as SVG, coloured by the page."""
        return render_svg(
            draw_round_curves(self.curves, self.round, simulated=self.simulated, blindness=self.blindness)
        )


def build_phrase_set(study: StudyOrSession, name: str, actor: str, number: int | None = None) -> PhraseSet:
    """Returns a set of a round, by default the current one; without the phrases until the actor may see them."""
    with open_coding(study) as coding:
        state = coding.state
        round_state = state.round(name)
        find_phrase_facet(round_state)
        if actor != coding.lead and round_state.slot_of(actor) is None:
            raise StateError(f"{actor!r} does not rate in {name!r} and cannot see its phrases")
        shown = round_state.set if number is None else number
        if not 1 <= shown <= round_state.set:
            raise InputError(f"{name!r} has no set {shown} yet; choose from: 1 to {round_state.set}")
        access, obstacle = _find_access(state, round_state, actor, shown)
        if access == SEE and round_state.status != OPEN:
            record_view(coding, name, actor)
        phrases = PhraseSet(
            round=name,
            number=shown,
            current=round_state.set,
            sets=len(round_state.sets),
            status=round_state.status,
            access=access,
            obstacle=obstacle,
            waiting=_list_waiting(round_state, actor) if round_state.status == OPEN else (),
            rates=round_state.slot_of(actor) is not None,
            blindness=round_state.blindness,
            simulated=any(
                next(iter(rating.values()))[-1].simulated for rating in round_state.ratings.values() if rating
            ),
        )
        return _add_phrases(round_state, actor, phrases) if access == SEE else phrases


def mask_set(phrases: PhraseSet, mask: TextMask) -> PhraseSet:
    """Returns a set with known names masked; only the lead, who sees them, can unify words with names."""
    return replace(
        phrases,
        sides=tuple(
            replace(
                side,
                phrases=tuple(
                    replace(phrase, written=_mask_words(phrase.written, mask), now=_mask_words(phrase.now, mask))
                    for phrase in side.phrases
                ),
                options=tuple(
                    option for option in side.options if not any(mask.find(word) for word in (*option.words, option.to))
                ),
            )
            for side in phrases.sides
        ),
        words={
            part: tuple(replace(count, word=mask.mask(count.word), to=mask.mask(count.to)) for count in counts)
            for part, counts in (phrases.words or {}).items()
        },
    )


def _mask_words(words: Mapping[str, str], mask: TextMask) -> dict[str, str]:
    return {part: mask.mask(word) for part, word in words.items()}


def read_item_titles(desk: Desk, items: Sequence[str]) -> dict[str, str]:
    """Returns the titles of items, read in one batch."""
    return {item: item_text.title for item, item_text in desk.item_texts.get(items).items()}


def _find_access(state: State, round_state: RoundState, actor: str, number: int) -> tuple[str, str]:
    """Returns whether an actor sees a set, must consent first because it is recorded, or waits, and the reason."""
    plan = round_state.plan
    part = round_state.slot_of(actor) is not None or actor == plan.tie_breaker
    if not part or round_state.status != OPEN:
        return (ASK if needs_consent(state, plan.round, actor) else SEE), ""
    if number < round_state.set and number in round_state.compared:
        return SEE, ""  # already compared, and it can no longer be rated
    if plan.blind and not plan.set_size:
        return WAIT, "The words of other raters are shown once the round is closed."
    if plan.blind and list_missing(round_state):
        return WAIT, f"The words of set {round_state.set} can be compared once all raters have finished it."
    return (SEE if round_state.set in round_state.compared else ASK), ""


def _list_waiting(round_state: RoundState, actor: str) -> tuple[tuple[str, int], ...]:
    progress = [(slot, round_state.progress(slot, slot.rater)) for slot in round_state.slots]
    return tuple((_name_slot(round_state, slot, actor), len(own) - own.done) for slot, own in progress)


def _name_slot(round_state: RoundState, slot: RaterSlot, actor: str) -> str:
    """Returns the label of a slot for an actor: names only for a lead who does not rate, never for a rater."""
    if actor in slot.raters:
        return "you"
    if round_state.slot_of(actor) is None and actor != round_state.plan.tie_breaker:
        return slot.label
    return (
        "the other rater" if len(round_state.slots) == 2 else f"rater {chr(ord('A') + round_state.slots.index(slot))}"
    )


def _add_phrases(round_state: RoundState, actor: str, phrase_set: PhraseSet) -> PhraseSet:
    number = phrase_set.number
    # If an earlier set is shown, nothing of the current set may be counted, since it is still being rated.
    now = number == round_state.set
    known = find_words_before(round_state, number + 1)
    so_far = [item for items in round_state.sets[:number] for item in items]
    counts = {
        part: Counter(phrase[part] for phrases in list_phrases(round_state, so_far).values() for phrase in phrases)
        for part in PARTS
    }
    complete = now and round_state.status == OPEN and not list_missing(round_state)
    items = round_state.sets[number - 1]
    return PhraseSet(
        **{
            **vars(phrase_set),
            "sides": tuple(
                _compare_phrases(round_state, actor, item, known, counts if complete else None) for item in items
            ),
            "words": {
                part: tuple(WordCount(word, count, known[part].get(word, word)) for word, count in words.most_common())
                for part, words in counts.items()
            },
            "curves": tuple(curve for curve in build_curves(round_state) if curve.set <= number),
            "can_unify": complete,
            "can_go_on": complete and round_state.set < len(round_state.sets),
        }
    )


def _compare_phrases(
    round_state: RoundState,
    actor: str,
    item: str,
    known: Mapping[str, Mapping[str, str]],
    counts: Mapping[str, Counter[str]] | None,
) -> PhraseComparison:
    facet, slot_phrases = find_phrase_facet(round_state).id, []
    for slot in round_state.slots:
        rating = round_state.rating_in_slot(slot, item)
        answer = rating.answers.get(facet) if rating else None
        if not slot.has(slot.raters[0], item):
            continue
        if not answer or answer == CANNOT_JUDGE:
            slot_phrases.append(
                SlotPhrase(_name_slot(round_state, slot, actor), {}, {}, "cannot judge" if answer else "not rated")
            )
            continue
        now = {part: known[part].get(answer[part], answer[part]) for part in PARTS}
        slot_phrases.append(SlotPhrase(_name_slot(round_state, slot, actor), answer, now))
    phrases = [phrase for phrase in slot_phrases if phrase.now]
    differs = tuple(part for part in PARTS if len({phrase.now[part] for phrase in phrases}) > 1)
    options = (
        tuple(option for part in differs for option in _list_unify_options(part, phrases, counts[part]))
        if counts
        else ()
    )
    return PhraseComparison(item, tuple(slot_phrases), differs, options)


def _list_unify_options(part: str, phrases: Sequence[SlotPhrase], counts: Counter[str]) -> list[UnifyOption]:
    """Returns the unifications to offer: of synonyms the most frequent word stays; a hypernym replaces special words.

    A unified word that nobody wrote is represented by a word that was written.
    """
    written = {
        phrase.now[part]: phrase.now[part] if phrase.now[part] in counts else phrase.written[part] for phrase in phrases
    }
    most = max(counts[word] for word in written)
    frequent = [word for word in written if word in counts and counts[word] == most]

    def build_option(to: str, rule: str) -> UnifyOption:
        return UnifyOption(part, tuple(name for word, name in written.items() if word != to), to, rule)

    return [*(build_option(to, SAME_MEANING) for to in frequent), *(build_option(to, HYPERNYM) for to in written)]
