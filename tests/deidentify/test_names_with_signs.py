"""A known name is found whole whatever signs, scripts and invisible characters it is written with."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from quaestor.deidentify.finder import Finder
from quaestor.deidentify.folded_text import fold
from quaestor.deidentify.name_forms import KINDS, ORGANISATION, KnownName, is_searchable

SHOWN = "[name]"


def finder_for(name: str, kind: str = ORGANISATION) -> Finder:
    return Finder([KnownName("x", kind, (name,), SHOWN)])


def masked(text: str, finder: Finder) -> str:
    for place in reversed(finder.find_sure(text)):
        text = f"{text[: place.start]}{place.shown}{text[place.end :]}"
    return text


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("AT&T", "AT&T"),
        ("AT&T", "AT & T"),
        ("AT&T", "AT&amp;T"),
        ("AT&T", "AT &amp; T"),
        ("AT&T", "AT+T"),
        ("AT&T", "AT and T"),
        ("AT&T", "AT\u00a0&\u00a0T"),
        ("AT&T", "AT＆T"),
        ("AT&T", "at&t"),
        ("AT&amp;T", "AT&T"),
        ("AT&amp;T", "AT&amp;T"),
        ("AT&T Inc.", "AT&T"),
        ("AT&T Inc.", "AT&T Inc."),
        ("Ernst+Young", "Ernst+Young"),
        ("Ernst+Young", "Ernst & Young"),
        ("Ernst and Young", "Ernst & Young"),
        ("Ernst & Young", "Ernst und Young"),
        ("Ernst & Young", "ErnstYoung"),
        ("Ernst & Young", "ernst-and-young"),
        ("Ernst & Young", "Ernst Young"),
        ("Ernst & Anders", "Ernst Anders"),
        ("Hollerith & Daughters", "Hollerith & Daughters"),
        ("Hollerith & Daughters", "Hollerith and Daughters"),
        ("Hollerith & Daughters", "HollerithAndDaughters"),
        ("Hollerith & Daughters", "Hollerith       &\n     Daughters"),
        ("Hollerith & Daughters Ltd", "Hollerith & Daughters"),
        ("Obviax Labs", "Obviax          Labs"),
        ("ABC/XYZ", "ABC/XYZ"),
        ("ABC/XYZ", "ABC / XYZ"),
        ("Node.js", "Node.js"),
        ("St. John", "St. John"),
        ("O'Brien", "O’Brien"),
        ("O'Brien", "O&#x27;Brien"),
        ("O'Brien", "O`Brien"),
        ("O'Brien", "O´Brien"),
        ("K-9", "K-9"),
        ("3M", "3M"),
        ("C3.ai", "C3.ai"),
        ("C#", "C#"),
        ("C++", "C++"),
        ("@Home", "@Home"),
        ("Yahoo!", "Yahoo!"),
        ("Yahoo!", "Yahoo"),
        ("_x_y", "_x_y"),
        ("$hop", "$hop"),
        ("hop", "hop"),
        ("A*B", "A*B"),
        ('Toys"R"Us', 'Toys"R"Us'),
        ('Toys"R"Us', "Toys&quot;R&quot;Us"),
        ("100%Pure", "100%Pure"),
        ("E=mc2", "E=mc2"),
        ("½ Pint", "½ Pint"),
        ("Acme", "Ａｃｍｅ"),
        ("ﬁnance", "finance"),
        ("Åse Ny", "A\u030ase Ny"),
        ("Acme", "Ac\u200bme"),
        ("Acme", "Ac\u00adme"),
        ("राज कुमार", "राज कुमार"),
        ("甲乙", "甲乙"),
    ],
)
def test_a_name_with_signs_is_found_whole(name: str, written: str) -> None:
    finder = finder_for(name)
    for text in (f"We at {written}, now", f"({written})", f"{written}’s", f"{written}™ ", f"_{written}_", written):
        assert masked(text, finder) == text.replace(written, SHOWN), text


def test_an_indic_name_is_found_by_its_parts() -> None:
    assert masked("मैं राज हूँ", finder_for("राज कुमार", "person")) == f"मैं {SHOWN} हूँ"


def test_zero_width_spaces_also_separate_words() -> None:
    assert masked("at\u200bAcme\u200bnow", finder_for("Acme")) == f"at\u200b{SHOWN}\u200bnow"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("H&M", "Hm, I see"),
        ("R&Y", "Randy said"),
        ("C#", "C is older, and vitamin C"),
        ("X Corp", "X is the input"),
        ("Ernst & Young", "Ernst. And young people"),
        ("AT&T", "at the time"),
    ],
)
def test_signs_keep_short_names_from_being_found_in_ordinary_words(name: str, text: str) -> None:
    assert finder_for(name).find_sure(text) == []


@pytest.mark.parametrize("name", ["", " ", "!!!", "-", "🙂🙂", "R", "7", "\u200b", "王", "\u0301"])
def test_a_name_without_letters_or_of_a_single_one_cannot_be_searched_for(name: str) -> None:
    assert not is_searchable(name)


SIGNS = "&+/.'’-@#!_*%:;=~^$\"()[]{}<>|\\?,·–—…™®"
LETTERS = "abcxyzABCXYZéßøŁﬁǅЖжΩω中日한ひاבราजि0159½²Ｂ"
NAMES = st.one_of(
    st.text(st.sampled_from(LETTERS + SIGNS + "  "), min_size=1, max_size=14),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12),
).map(lambda name: " ".join(name.split()))
AROUND = st.one_of(
    st.text(st.sampled_from(SIGNS + " \n\t\u00a0\u200b\u2009🙂"), max_size=8),
    st.text(st.characters(codec="utf-8"), max_size=20),
)


@given(NAMES, st.sampled_from(KINDS), AROUND, AROUND, st.sampled_from(["NFC", "NFD", "as it is"]))
@example("AT&T", "person", "", "", "NFC")
@example("Acme", "organisation", "", "™", "NFC")
@settings(max_examples=600, deadline=None)
def test_any_searchable_name_is_found_and_nothing_of_it_is_left(
    name: str, kind: str, before: str, after: str, form: str
) -> None:
    assume(name.isprintable() and is_searchable(name) and not unicodedata.category(name[0]).startswith("M"))
    letters = {letter for letter in fold(name) if letter.isalnum()}
    assume(letters.isdisjoint(fold(before + after)))
    assume(not before or _separates(before[-1]))
    assume(not after or _separates(after[0]))
    written = unicodedata.normalize(form, name) if form in ("NFC", "NFD") else name
    text, finder = before + written + after, finder_for(name, kind)
    visible = [at for at in range(len(before), len(before + written)) if fold(text[at]).strip()]
    sure = [place for place in finder.find_candidates(text) if place.sure]
    assert any(place.start <= visible[0] and visible[-1] < place.end for place in sure), text
    covered = {at for place in finder.find_sure(text) for at in range(place.start, place.end)}
    assert covered.issuperset(at for at in visible if text[at].isalnum()), text


def _separates(letter: str) -> bool:
    """Whether a character ends the word next to it: it is no letter, no digit and no combining mark."""
    return not letter.isalnum() and not unicodedata.category(letter).startswith("M")
