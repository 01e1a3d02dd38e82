"""Proposes a phrase, verb and object, from the title of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from quaestor.coding.model.phrase_proposals.lexicon import Lexicon, read_title, read_words, singular

Certainty = Literal["plain", "guess"]
LONGEST_CUE = 3
ADJECTIVE_ENDINGS = ("al", "ic", "ive", "ous", "wise", "ed")
DEEPEST = 4
COORDINATORS = frozenset({"and", "or", "/", "&", ","})
MODIFIER_ENDINGS = ("able", "ed", "based")


@dataclass(frozen=True)
class PhraseProposal:
    """A proposed phrase; its certainty is `guess` if the title does not state it directly."""

    verb: str
    object: str
    certainty: Certainty


@dataclass(frozen=True)
class Clause:
    """A verb of the title and the position where its object may start."""

    verb: str
    start: int
    certainty: Certainty


def propose(title: str) -> PhraseProposal | None:
    """Returns the phrase of a title, or None if it has none."""
    known = read_words()
    title_words = read_title(title, known)
    clause = _first_clause(title_words, known)
    if clause is None:
        return None
    clause = _find_meant_clause(clause, title_words, known)
    return _propose_action(clause, title_words, known) or _propose_plain(clause, title_words, known)


def find_cue_end(title: Sequence[str], cues: frozenset[tuple[str, ...]]) -> int | None:
    for position in range(len(title)):
        for length in range(2, LONGEST_CUE + 1):
            if tuple(title[position : position + length]) in cues:
                return position + length
    return None


def _first_clause(title: Sequence[str], known: Lexicon) -> Clause | None:
    start = find_cue_end(title, known.cues)
    if start is not None:
        return _clause_at(start, title, known)
    start = _skip_adverbs(0, title, known)
    if start < len(title) and known.verb(title[start]):
        return Clause(known.verb(title[start]) or "", start + 1, "guess")
    return None


def _clause_at(start: int, title: Sequence[str], known: Lexicon) -> Clause | None:
    """Returns the verb at a position that requires one; an unknown word is accepted as a guess."""
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


def _skip_adverbs(start: int, title: Sequence[str], known: Lexicon) -> int:
    while start < len(title) and _is_adverb(title[start], known):
        start += 1
    return start


def _is_adverb(word: str, known: Lexicon) -> bool:
    return word in known.grammar["adverbs"] or (word.endswith("ly") and word not in known.verbs)


def _find_meant_clause(clause: Clause, title: Sequence[str], known: Lexicon) -> Clause:
    """Returns the clause that the first verb only introduces, or the clause itself."""
    if clause.verb in known.roles["means"]:
        return _find_aim(clause, title, known) or clause
    return _find_second_verb(clause, title, known) or _find_pair(clause, title, known) or clause


def _find_second_verb(clause: Clause, title: Sequence[str], known: Lexicon) -> Clause | None:
    """Finds the second verb in `keep adding rows` and, before a determiner, in `do retrain a model`."""
    if clause.start + 1 >= len(title):
        return None
    after, next_word = title[clause.start], title[clause.start + 1]
    verb = None
    if clause.verb in known.roles["before_gerund"] and after not in known.action_nouns:
        verb = known.gerunds.get(after)
    if next_word in known.grammar["determiners"] and clause.verb in known.light_verbs:
        verb = verb or known.verbs.get(after)
    return Clause(verb, clause.start + 1, "guess") if verb else None


def _find_aim(clause: Clause, title: Sequence[str], known: Lexicon) -> Clause | None:
    """Finds the verb after `use … to` or `use … for`."""
    for position in range(clause.start, len(title) - 1):
        if title[position] in {"?", "-", ";", "."}:
            break
        if title[position] in {"to", "for"}:
            after = _skip_adverbs(position + 1, title, known)
            forms = known.verbs if title[position] == "to" else known.gerunds
            verb = forms.get(title[after]) if after < len(title) else None
            if verb:
                return Clause(verb, after + 1, "guess")
    return _find_second_verb(clause, title, known)


def _find_pair(clause: Clause, title: Sequence[str], known: Lexicon) -> Clause | None:
    """Returns the second verb of `load and predict`, but the first of `slice and sum`, with the shared object."""
    if clause.start + 2 >= len(title) or title[clause.start] not in COORDINATORS:
        return None
    second = _skip_adverbs(clause.start + 1, title, known)
    verb = known.verbs.get(title[second]) if second < len(title) else None
    if verb and verb != "use" and clause.verb in known.roles["before_another"]:
        return Clause(verb, second + 1, "guess")
    return Clause(clause.verb, second + 1, "guess")


def _propose_action(clause: Clause, title: Sequence[str], known: Lexicon) -> PhraseProposal | None:
    """Proposes a phrase from a noun of action: `do gradient clipping` is clip, gradient."""
    group = read_noun_group(clause.start, title, known)
    if not group.nouns or " " in build_name(group.nouns, known):
        return None
    deed = group.nouns[-1]
    verb = known.verb_pairs.get((clause.verb, deed))
    if verb is None and clause.verb in known.light_verbs:
        verb = known.action_nouns.get(deed)
    if verb is None:
        return None
    before = [number for number, noun in enumerate(group.nouns[:-1]) if noun in known.nouns["things"]]
    if before:
        return PhraseProposal(verb, build_name(group.nouns[: before[-1] + 1], known), "guess")
    title_object = find_known_object(group.end, known.grammar["leading"], title, known) or _read_next_object(
        group.end, title, known
    )
    if title_object:
        return PhraseProposal(verb, title_object.name, "guess")
    neighbour = group.nouns[-2] if len(group.nouns) > 1 else ""
    return PhraseProposal(verb, neighbour, "guess") if neighbour and not neighbour.endswith(ADJECTIVE_ENDINGS) else None


def _read_next_object(position: int, title: Sequence[str], known: Lexicon) -> TitleObject | None:
    if position < len(title) and title[position] in known.grammar["leading"]:
        return read_object(position + 1, title, known)
    return None


def _propose_plain(clause: Clause, title: Sequence[str], known: Lexicon) -> PhraseProposal | None:
    title_object = read_object(clause.start, title, known)
    if title_object is None:
        return None
    receiver = _find_receiver(clause.verb, title_object, title, known)
    if receiver:
        return PhraseProposal(clause.verb, receiver, "guess")
    plain = clause.verb not in known.light_verbs and title_object.direct and is_known_object(title_object.name, known)
    return PhraseProposal(clause.verb, title_object.name, clause.certainty if plain else "guess")


def _find_receiver(verb: str, object_found: TitleObject, title: Sequence[str], known: Lexicon) -> str | None:
    """Finds the object that receives something: what data is fed into, or what something is attached to."""
    if verb in known.roles["attaching"]:
        receiver = find_known_object(object_found.end, frozenset({"to"}), title, known)
        return receiver.name if receiver else None
    if verb in known.roles["giving"]:
        receiver = find_known_object(object_found.end, frozenset({"to", "into", "in", "through"}), title, known)
        if receiver and receiver.name.rsplit(" ", 1)[-1] in known.roles["receivers"]:
            return receiver.name
    return None


@dataclass(frozen=True)
class TitleObject:
    """An object of the title, the position after it, and whether it directly follows the verb."""

    name: str
    end: int
    direct: bool


@dataclass(frozen=True)
class NounGroup:
    """Adjacent nouns and modifiers in the singular, and the position after them."""

    nouns: tuple[str, ...]
    end: int


def read_object(start: int, title: Sequence[str], known: Lexicon, depth: int = 0) -> TitleObject | None:
    """Reads the object that starts at a position, or after a preposition there."""
    group = _join_coordinated(read_noun_group(start, title, known), title, known)
    if group.nouns:
        return _resolve_object(group, title, known, depth)
    if depth < DEEPEST and _word(title, group.end) in known.grammar["leading"]:
        inner = read_object(group.end + 1, title, known, depth + 1)
        return inner and TitleObject(inner.name, inner.end, direct=False)
    return None


def find_known_object(
    start: int, prepositions: frozenset[str], title: Sequence[str], known: Lexicon
) -> TitleObject | None:
    """Finds the first known object after one of the prepositions."""
    for position in range(start, len(title) - 1):
        if title[position] in prepositions:
            candidate = read_object(position + 1, title, known, DEEPEST)
            if candidate and is_known_object(candidate.name, known):
                return candidate
    return None


def is_known_object(name: str, known: Lexicon) -> bool:
    """Returns whether a name is a known object and not only a part of one."""
    return " " in name or name in known.whole_things


def read_noun_group(start: int, title: Sequence[str], known: Lexicon) -> NounGroup:
    """Reads the nouns from a position to the next word that cannot belong to them."""
    grammar = known.grammar
    end = start
    nouns: list[str] = []
    while end < len(title):
        word = title[end]
        if word in grammar["boundaries"] or (nouns and _ends_group(end, title, known)):
            break
        if not (word in grammar["determiners"] or word in grammar["adverbs"] or word[0].isdigit()):
            nouns.append(word)
        end += 1
    while nouns and (nouns[-1] in grammar["frameworks"] or nouns[-1].endswith("ly")):
        nouns.pop()
    kept = [known.aliases.get(noun, noun) for noun in map(singular, nouns) if noun not in grammar["frameworks"]]
    return NounGroup(tuple(kept), end)


def build_name(nouns: tuple[str, ...], known: Lexicon) -> str:
    """Returns the head noun with the modifiers that belong to its name; skips nouns that add nothing."""
    head = nouns[-1]
    if len(nouns) > 1 and head in known.nouns["wrappers"] and nouns[-2] in known.nouns["wrapped"]:
        return build_name(nouns[:-1], known)
    naming = known.compounds.get(head, frozenset())
    for position in range(len(nouns) - 2, -1, -1):
        if nouns[position] in naming:
            return f"{_build_modifier(nouns[: position + 1], known)} {head}"
    return known.full_names.get(head, head)


def _build_modifier(nouns: tuple[str, ...], known: Lexicon) -> str:
    naming = known.compounds.get(nouns[-1], frozenset())
    return f"{nouns[-2]} {nouns[-1]}" if len(nouns) > 1 and nouns[-2] in naming else nouns[-1]


def _word(title: Sequence[str], position: int) -> str:
    return title[position] if position < len(title) else ""


def _join_coordinated(group: NounGroup, title: Sequence[str], known: Lexicon) -> NounGroup:
    """Joins `trained and untrained models`, whose first part has no noun of its own."""
    if not group.nouns or _word(title, group.end) not in COORDINATORS:
        return group
    head = group.nouns[-1]
    if head in known.grammar["modifiers"] or head.endswith(MODIFIER_ENDINGS):
        second = read_noun_group(group.end + 1, title, known)
        if len(second.nouns) > 1:
            return NounGroup(group.nouns + second.nouns, second.end)
    return group


def _ends_group(position: int, title: Sequence[str], known: Lexicon) -> bool:
    """Returns whether a participle here describes the nouns before it (`tensor returned by`)."""
    return title[position].endswith("ed") and (_word(title, position + 1) or "?") in known.grammar["boundaries"]


def _resolve_object(group: NounGroup, title: Sequence[str], known: Lexicon, depth: int) -> TitleObject:
    nouns, head = group.nouns, group.nouns[-1]
    name = build_name(nouns, known)
    if name != head:
        return TitleObject(name, group.end, direct=True)
    if head in known.nouns["image_holders"] and "image" in nouns:
        return TitleObject("image", group.end, direct=True)
    whole = _find_whole(group, title, known, depth)
    return whole or TitleObject(name, group.end, direct=True)


def _find_whole(group: NounGroup, title: Sequence[str], known: Lexicon, depth: int) -> TitleObject | None:
    """Finds the object that a part belongs to or a container contains."""
    head, after = group.nouns[-1], _word(title, group.end)
    is_part = head in known.nouns["parts"]
    if is_part:
        left = _find_left_object(group.nouns, known)
        if left:
            return TitleObject(left, group.end, direct=False)
    passes = after in known.grammar["belonging"] if is_part else head in known.nouns["containers"] and after == "of"
    inner = read_object(group.end + 1, title, known, depth + 1) if passes and depth < DEEPEST else None
    if inner is None and is_part and depth < DEEPEST:
        inner = find_known_object(group.end, frozenset({"of", "from", "in"}), title, known)
    return inner and TitleObject(inner.name, inner.end, direct=False)


def _find_left_object(nouns: tuple[str, ...], known: Lexicon) -> str | None:
    """Finds the last known object that is not a part: in `saved model input shape`, the saved model."""
    for allowed in (known.whole_things, known.nouns["things"]):
        for position in range(len(nouns) - 2, -1, -1):
            if nouns[position] in allowed:
                return build_name(nouns[: position + 1], known)
    return None
