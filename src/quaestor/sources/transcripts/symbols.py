"""Symbols of Word documents: characters by their place in a font, said as the characters they show."""

from __future__ import annotations

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_GREEK = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ"
_SIGNS = {0xA3: "≤", 0xB3: "≥", 0xB1: "±", 0xB4: "×", 0xB9: "≠", 0xBB: "≈", 0xA5: "∞", 0xAC: "←", 0xAE: "→", 0xD7: "⋅"}
_DRAWN = {0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0xDF: "←", 0xE0: "→", 0xFB: "✗", 0xFC: "✓"}
_SHOWN = {
    "symbol": {**{ord(letter): greek for letter, greek in zip(_LETTERS, _GREEK, strict=True)}, **_SIGNS},
    "wingdings": _DRAWN,
}
_PLACES = range(0xF000, 0xF100)
"""Where Word puts the places of a font that has its own."""


def symbol(font: str, char: str) -> str:
    """What a symbol shows; where its font is not known, the character as it is written, and nothing for none."""
    try:
        code = int(char, 16)
        found = chr(code)
    except (ValueError, OverflowError):
        return ""
    place = code - _PLACES.start if code in _PLACES else code
    known = _SHOWN.get(font.strip().lower(), {}).get(place, found)
    return known if known.isprintable() or code in _PLACES else ""
