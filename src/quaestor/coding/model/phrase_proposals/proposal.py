"""What a question wants done, and to what: the verb and the object that its title proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quaestor.coding.proposals.objects import COORDINATORS, Found, group_at, is_thing, name_of, object_at, thing_after
from quaestor.coding.proposals.titles import read_title
from quaestor.coding.proposals.words import Words, singular, words

Certainty = Literal["plain", "guess"]
LONGEST_CUE = 3
ADJECTIVE_ENDINGS = ("al", "ic", "ive", "ous", "wise", "ed")


@dataclass(frozen=True)
class Proposal:
    """A phrase for a rater to accept or mend; `guess` says that more than the plain reading was needed."""

    verb: str
    object: str
    certainty: Certainty


@dataclass(frozen=True)
class Clause:
    """A verb that was found, and where its object may start."""

    verb: str
    start: int
    certainty: Certainty


def propose(title: str) -> Proposal | None:
    """The phrase of a question, or nothing where the title does not show one."""
    known = words()
    title_words = read_title(title, known)
    clause = _first_clause(title_words, known)
    if clause is None:
        return None
    clause = _meant(clause, title_words, known)
    return _deed(clause, title_words, known) or _plain(clause, title_words, known)


def first_verb(title: str) -> Proposal | None:
    """The baseline: the first known verb after "how to", and the next word that may be a noun."""
    known = words()
    title_words = read_title(title, known)
    start = _after_cue(title_words, frozenset({("how", "to")}))
    no_noun = known.grammar["boundaries"] | known.grammar["determiners"] | known.grammar["adverbs"]
    for position in range(start or len(title_words), len(title_words)):
        verb = known.verbs.get(title_words[position])
        if verb:
            nouns = (word for word in title_words[position + 1 :] if word not in no_noun and not word[0].isdigit())
            noun = next(nouns, None)
            return Proposal(verb, singular(noun), "plain") if noun else None
    return None


def _after_cue(title: Sequence[str], cues: frozenset[tuple[str, ...]]) -> int | None:
    for position in range(len(title)):
        for length in range(2, LONGEST_CUE + 1):
            if tuple(title[position : position + length]) in cues:
                return position + length
    return None


def _first_clause(title: Sequence[str], known: Words) -> Clause | None:
    start = _after_cue(title, known.cues)
    if start is not None:
        return _clause_at(start, title, known)
    start = _skip_adverbs(0, title, known)
    if start < len(title) and known.verb(title[start]):
        return Clause(known.verb(title[start]) or "", start + 1, "guess")
    return None


def _clause_at(start: int, title: Sequence[str], known: Words) -> Clause | None:
    """The verb where one must stand; a word that is no known verb is taken for one there, as a guess."""
    start = _skip_adverbs(start, title, known)
    for length in (3, 2):
        idiom = known.idioms.get(tuple(title[start : start + length]))
        if idiom:
            return Clause(idiom, start + length, "plain")
    if start >= len(title):
        return None
    word = title[start]
    verb = known.verb(word) or known.verb(word.replace("-", ""))
    if verb:
        return Clause(verb, start + 1, "plain")
    is_no_verb = word in known.grammar["boundaries"] or singular(word) in known.nouns["things"]
    return None if is_no_verb or not word.isalpha() else Clause(word, start + 1, "guess")


def _skip_adverbs(start: int, title: Sequence[str], known: Words) -> int:
    while start < len(title) and _is_adverb(title[start], known):
        start += 1
    return start


def _is_adverb(word: str, known: Words) -> bool:
    return word in known.grammar["adverbs"] or (word.endswith("ly") and word not in known.verbs)


def _meant(clause: Clause, title: Sequence[str], known: Words) -> Clause:
    """The clause that is meant where the first verb only leads to it."""
    if clause.verb in known.roles["means"]:
        return _aim(clause, title, known) or clause
    return _verb_after(clause, title, known) or _pair(clause, title, known) or clause


def _verb_after(clause: Clause, title: Sequence[str], known: Words) -> Clause | None:
    """The second verb of `keep adding rows` and, where a determiner shows that it is one, of `do retrain a model`."""
    if clause.start + 1 >= len(title):
        return None
    after, next_word = title[clause.start], title[clause.start + 1]
    verb = None
    if clause.verb in known.roles["before_gerund"] and after not in known.deeds:
        verb = known.gerunds.get(after)
    if next_word in known.grammar["determiners"] and clause.verb in known.saying_little:
        verb = verb or known.verbs.get(after)
    return Clause(verb, clause.start + 1, "guess") if verb else None


def _aim(clause: Clause, title: Sequence[str], known: Words) -> Clause | None:
    """The verb after `use … to` or `use … for`."""
    for position in range(clause.start, len(title) - 1):
        if title[position] in {"?", "-", ";", "."}:
            break
        if title[position] in {"to", "for"}:
            after = _skip_adverbs(position + 1, title, known)
            forms = known.verbs if title[position] == "to" else known.gerunds
            verb = forms.get(title[after]) if after < len(title) else None
            if verb:
                return Clause(verb, after + 1, "guess")
    return _verb_after(clause, title, known)


def _pair(clause: Clause, title: Sequence[str], known: Words) -> Clause | None:
    """Of `load and predict` the second verb; of `slice and sum` the first, with the object they share."""
    if clause.start + 2 >= len(title) or title[clause.start] not in COORDINATORS:
        return None
    second = _skip_adverbs(clause.start + 1, title, known)
    verb = known.verbs.get(title[second]) if second < len(title) else None
    if verb and verb != "use" and clause.verb in known.roles["before_another"]:
        return Clause(verb, second + 1, "guess")
    return Clause(clause.verb, second + 1, "guess")


def _deed(clause: Clause, title: Sequence[str], known: Words) -> Proposal | None:
    """`do gradient clipping` is clip, gradient; `add padding to an image` is pad, image: the noun says what is done."""
    group = group_at(clause.start, title, known)
    if not group.nouns or " " in name_of(group.nouns, known):
        return None
    deed = group.nouns[-1]
    verb = known.together.get((clause.verb, deed))
    if verb is None and clause.verb in known.saying_little:
        verb = known.deeds.get(deed)
    if verb is None:
        return None
    before = [place for place, noun in enumerate(group.nouns[:-1]) if noun in known.nouns["things"]]
    if before:
        return Proposal(verb, name_of(group.nouns[: before[-1] + 1], known), "guess")
    found = thing_after(group.end, known.grammar["leading"], title, known) or _next_object(group.end, title, known)
    if found:
        return Proposal(verb, found.name, "guess")
    beside = group.nouns[-2] if len(group.nouns) > 1 else ""
    return Proposal(verb, beside, "guess") if beside and not beside.endswith(ADJECTIVE_ENDINGS) else None


def _next_object(position: int, title: Sequence[str], known: Words) -> Found | None:
    if position < len(title) and title[position] in known.grammar["leading"]:
        return object_at(position + 1, title, known)
    return None


def _plain(clause: Clause, title: Sequence[str], known: Words) -> Proposal | None:
    found = object_at(clause.start, title, known)
    if found is None:
        return None
    receiver = _receiver(clause.verb, found, title, known)
    if receiver:
        return Proposal(clause.verb, receiver, "guess")
    plain = clause.verb not in known.saying_little and found.direct and is_thing(found.name, known)
    return Proposal(clause.verb, found.name, clause.certainty if plain else "guess")


def _receiver(verb: str, found: Found, title: Sequence[str], known: Words) -> str | None:
    """What something is fed into, where that takes input, or what something is put on."""
    if verb in known.roles["attaching"]:
        receiver = thing_after(found.end, frozenset({"to"}), title, known)
        return receiver.name if receiver else None
    if verb in known.roles["giving"]:
        receiver = thing_after(found.end, frozenset({"to", "into", "in", "through"}), title, known)
        if receiver and receiver.name.rsplit(" ", 1)[-1] in known.roles["receivers"]:
            return receiver.name
    return None
