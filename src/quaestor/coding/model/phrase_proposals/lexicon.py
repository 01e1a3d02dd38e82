"""The lexicon for phrase proposals, read from words.toml, and simple rules of English spelling."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

LONGEST_TITLE = 500
ASIDE = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
TOKEN = re.compile(r"[^\W_](?:[\w.+#'’-]*[\w+#])?|[,;:?!()/|&]|(?<=\s)[-–—](?=\s)|\.(?=\s)")
TENSOR_FLOW = re.compile("tensor flow", re.IGNORECASE)
HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
VOWELS = frozenset("aeiou")
IRREGULAR_PLURALS = {
    "axes": "axis", "biases": "bias", "children": "child", "criteria": "criterion", "indices": "index",
    "indexes": "index", "matrices": "matrix", "people": "person", "vertices": "vertex",
}  # fmt: skip
UNCHANGED = frozenset({"bias", "canvas", "pandas", "alias", "series", "keras", "atlas", "gas", "css", "https", "aws"})


@dataclass(frozen=True)
class Lexicon:
    """The lists and tables of words.toml."""

    cues: frozenset[tuple[str, ...]]
    verbs: Mapping[str, str]
    gerunds: Mapping[str, str]
    idioms: Mapping[tuple[str, ...], str]
    verb_pairs: Mapping[tuple[str, ...], str]
    action_nouns: Mapping[str, str]
    aliases: Mapping[str, str]
    full_names: Mapping[str, str]
    compounds: Mapping[str, frozenset[str]]
    roles: Mapping[str, frozenset[str]]
    nouns: Mapping[str, frozenset[str]]
    grammar: Mapping[str, frozenset[str]]
    light_verbs: frozenset[str]
    whole_things: frozenset[str]

    def verb(self, word: str) -> str | None:
        """Returns the base form of a known verb or gerund."""
        return self.verbs.get(word) or self.gerunds.get(word)


@cache
def read_words() -> Lexicon:
    """Reads words.toml; cached."""
    text = resources.files("quaestor.coding.model.phrase_proposals").joinpath("words.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    bases = tables["verbs"].split()
    spelled = {form: base for base in bases for form in _spellings(base)} | tables["irregular_verbs"]
    roles, nouns = _split_sets(tables["roles"]), _split_sets(tables["nouns"])
    return Lexicon(
        cues=frozenset(tuple(cue.split()) for cue in tables["cues"]),
        verbs=spelled,
        gerunds={_gerund(form): base for form, base in spelled.items()},
        idioms=_by_words(tables["idioms"]),
        verb_pairs=_by_words(tables["together"]),
        action_nouns=tables["deeds"],
        aliases=tables["aliases"],
        full_names=tables["full_names"],
        compounds=_split_sets(tables["compounds"]),
        roles=roles,
        nouns=nouns,
        grammar=_split_sets(tables["grammar"]),
        light_verbs=roles["light"] | roles["means"],
        whole_things=nouns["things"] - nouns["parts"],
    )


def singular(noun: str) -> str:
    """Returns the singular of a noun by simple rules."""
    if noun in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[noun]
    if len(noun) < 4 or noun in UNCHANGED or not noun.endswith("s") or noun.endswith(("ss", "us", "is")):
        return noun
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "ches", "shes")):
        return noun[:-2]
    return noun[:-1]


def _spellings(verb: str) -> Iterator[str]:
    yield verb
    if verb.endswith(("ize", "yze")):
        yield verb[:-2] + "se"


def _gerund(verb: str) -> str:
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    if _doubles_last_letter(verb):
        return verb + verb[-1] + "ing"
    return verb + "ing"


def _doubles_last_letter(verb: str) -> bool:
    """Returns whether the gerund doubles the last letter: short syllable, ending consonant, vowel, consonant."""
    if len(verb) < 3 or verb[-1] in "aeiouwxy" or verb[-2] not in VOWELS or verb[-3] in VOWELS:
        return False
    return sum(letter in VOWELS for letter in verb) == 1 or verb.endswith(("set", "get", "put", "fit", "mit"))


def _by_words(table: Mapping[str, str]) -> dict[tuple[str, ...], str]:
    return {tuple(phrase.split()): meaning for phrase, meaning in table.items()}


def _split_sets(table: Mapping[str, str | list[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(part.split() if isinstance(part, str) else part) for name, part in table.items()}


def read_title(title: str, known: Lexicon) -> tuple[str, ...]:
    """Returns the words and punctuation of a title; overlong text is cut off."""
    text = ASIDE.sub(" ", html.unescape(title[:LONGEST_TITLE]))
    text = TENSOR_FLOW.sub("tensorflow", text.replace("::", "."))
    title_words: list[str] = []
    for token in TOKEN.findall(text):
        title_words.extend(_plain_words(token, known))
    return tuple(title_words)


def _plain_words(token: str, known: Lexicon) -> tuple[str, ...]:
    lower = token.lower()
    if lower.isalpha() and (lower == token or token[1:].islower()):
        return (lower,)
    if lower in known.grammar["frameworks"] or lower in known.grammar["boundaries"] or len(lower) == 1:
        return ("-",) if lower in "–—" else (lower,)
    token = token.removesuffix("'s").removesuffix("’s")
    last = token.rsplit(".", 1)[-1]
    if last and not last[0].isdigit():
        token = last
    humps = HUMP.findall(token) if "_" not in token else token.split("_")
    if len(humps) > 1 and "-" not in token and singular(humps[-1].lower()) in known.nouns["things"]:
        return tuple(hump.lower() for hump in humps if hump)
    return (token.lower(),)
