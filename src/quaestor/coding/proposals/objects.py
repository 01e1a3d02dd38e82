"""The object of a verb: the noun that names the thing, found through parts, containers and prepositions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from quaestor.coding.proposals.words import Words, singular

DEEPEST = 4
COORDINATORS = frozenset({"and", "or", "/", "&", ","})
MODIFIER_ENDINGS = ("able", "ed", "based")


@dataclass(frozen=True)
class Found:
    """An object, where its words end, and whether it stood right after the verb."""

    name: str
    end: int
    direct: bool


@dataclass(frozen=True)
class Group:
    """Nouns and modifiers that stand together, in the singular, and the place after them."""

    nouns: tuple[str, ...]
    end: int


def object_at(start: int, title: Sequence[str], known: Words, depth: int = 0) -> Found | None:
    """The object whose words start here, or after a preposition."""
    group = _joined(group_at(start, title, known), title, known)
    if group.nouns:
        return _thing(group, title, known, depth)
    if depth < DEEPEST and _word(title, group.end) in known.grammar["leading"]:
        found = object_at(group.end + 1, title, known, depth + 1)
        return found and Found(found.name, found.end, direct=False)
    return None


def thing_after(start: int, prepositions: frozenset[str], title: Sequence[str], known: Words) -> Found | None:
    """The first known thing that one of the prepositions leads to."""
    for position in range(start, len(title) - 1):
        if title[position] in prepositions:
            found = object_at(position + 1, title, known, DEEPEST)
            if found and is_thing(found.name, known):
                return found
    return None


def is_thing(name: str, known: Words) -> bool:
    """Whether a name is that of a known thing, not of a part or of something unheard of."""
    return " " in name or name in known.whole_things


def group_at(start: int, title: Sequence[str], known: Words) -> Group:
    """The nouns from here to the next word that cannot be part of them."""
    grammar = known.grammar
    end = start
    nouns: list[str] = []
    while end < len(title):
        word = title[end]
        if word in grammar["boundaries"] or (nouns and _closes(end, title, known)):
            break
        if not (word in grammar["determiners"] or word in grammar["adverbs"] or word[0].isdigit()):
            nouns.append(word)
        end += 1
    while nouns and (nouns[-1] in grammar["frameworks"] or nouns[-1].endswith("ly")):
        nouns.pop()
    kept = [known.aliases.get(noun, noun) for noun in map(singular, nouns) if noun not in grammar["frameworks"]]
    return Group(tuple(kept), end)


def name_of(nouns: tuple[str, ...], known: Words) -> str:
    """The head noun, with the modifiers that name the thing, and without a noun that says nothing more."""
    head = nouns[-1]
    if len(nouns) > 1 and head in known.nouns["wrappers"] and nouns[-2] in known.nouns["wrapped"]:
        return name_of(nouns[:-1], known)
    naming = known.compounds.get(head, frozenset())
    for place in range(len(nouns) - 2, -1, -1):
        if nouns[place] in naming:
            return f"{_modifier(nouns[: place + 1], known)} {head}"
    return known.full_names.get(head, head)


def _modifier(nouns: tuple[str, ...], known: Words) -> str:
    naming = known.compounds.get(nouns[-1], frozenset())
    return f"{nouns[-2]} {nouns[-1]}" if len(nouns) > 1 and nouns[-2] in naming else nouns[-1]


def _word(title: Sequence[str], position: int) -> str:
    return title[position] if position < len(title) else ""


def _joined(group: Group, title: Sequence[str], known: Words) -> Group:
    """Of `trained and untrained models` the second part: the first has no noun of its own."""
    if not group.nouns or _word(title, group.end) not in COORDINATORS:
        return group
    head = group.nouns[-1]
    if head in known.grammar["modifiers"] or head.endswith(MODIFIER_ENDINGS):
        second = group_at(group.end + 1, title, known)
        if len(second.nouns) > 1:
            return Group(group.nouns + second.nouns, second.end)
    return group


def _closes(position: int, title: Sequence[str], known: Words) -> bool:
    """Whether a participle here says something about the nouns before it (`tensor returned by`)."""
    return title[position].endswith("ed") and (_word(title, position + 1) or "?") in known.grammar["boundaries"]


def _thing(group: Group, title: Sequence[str], known: Words, depth: int) -> Found:
    nouns, head = group.nouns, group.nouns[-1]
    name = name_of(nouns, known)
    if name != head:
        return Found(name, group.end, direct=True)
    if head in known.nouns["image_holders"] and "image" in nouns:
        return Found("image", group.end, direct=True)
    whole = _whole(group, title, known, depth)
    return whole or Found(name, group.end, direct=True)


def _whole(group: Group, title: Sequence[str], known: Words, depth: int) -> Found | None:
    """The thing that a part belongs to, or that a container holds."""
    head, after = group.nouns[-1], _word(title, group.end)
    is_part = head in known.nouns["parts"]
    if is_part:
        left = _left_thing(group.nouns, known)
        if left:
            return Found(left, group.end, direct=False)
    passes = after in known.grammar["belonging"] if is_part else head in known.nouns["containers"] and after == "of"
    inner = object_at(group.end + 1, title, known, depth + 1) if passes and depth < DEEPEST else None
    if inner is None and is_part and depth < DEEPEST:
        inner = thing_after(group.end, frozenset({"of", "from", "in"}), title, known)
    return inner and Found(inner.name, inner.end, direct=False)


def _left_thing(nouns: tuple[str, ...], known: Words) -> str | None:
    """Of `saved model input shape` the saved model: the last thing that is not itself a part."""
    for allowed in (known.whole_things, known.nouns["things"]):
        for place in range(len(nouns) - 2, -1, -1):
            if nouns[place] in allowed:
                return name_of(nouns[: place + 1], known)
    return None
