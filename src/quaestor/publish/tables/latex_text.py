"""Text for LaTeX: ASCII alone, in fonts that every installation has, so that it is set as it was meant or named."""

from __future__ import annotations

import re
import unicodedata

from quaestor.publish.tables.layout import one_line


def _math(command: str) -> str:
    return rf"\ensuremath{{{command}}}"


_GREEK = [
    "alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
    "xi", "omicron", "pi", "rho", "varsigma", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega",
]  # fmt: skip
_GREEK_AS_LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧ", "ABEZHIKMNOPTX", strict=True))
_GREEK_CAPITALS = ["Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"]

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\texttt{\char34}", "`": r"\texttt{\char96}",
    # Words joined by strokes are long: a line may end after one.
    "/": r"/\allowbreak{}",
    # At the beginning of a row these would belong to the end of the row before.
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
_PUNCTUATION = {
    "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,", "\u2007": r"\phantom{0}", "\u200b": "", "\u200c": "", "\u200d": "",
    "\u2060": "", "\ufeff": "", "\u00ad": r"\-", "\ufe0f": "", "‐": "-", "‑": r"\mbox{-}",
    "‒": r"\textendash{}", "–": r"\textendash{}", "—": r"\textemdash{}",
    "―": r"\textemdash{}", "‘": r"\textquoteleft{}", "’": r"\textquoteright{}", "‚": "{,}",
    "“": r"\textquotedblleft{}", "”": r"\textquotedblright{}", "„": "{,}{,}", "…": r"\ldots{}",
    "•": r"\textbullet{}", "§": r"\S{}", "¶": r"\P{}", "†": r"\dag{}", "‡": r"\ddag{}", "©": r"\copyright{}",
    "®": r"\textsuperscript{R}", "™": r"\textsuperscript{TM}", "£": r"\pounds{}", "€": "EUR", "¡": r"\textexclamdown{}",
    "¿": r"\textquestiondown{}",
    "ª": r"\textsuperscript{a}", "º": r"\textsuperscript{o}", "\ufffd": r"{[}U+FFFD{]}",
}  # fmt: skip
_LETTERS = {
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "å": r"\aa{}", "Å": r"\AA{}",
}  # fmt: skip
_MATHEMATICS = {
    sign: _math(command)
    for sign, command in {
        "−": "-", "×": r"\times", "÷": r"\div", "±": r"\pm", "∓": r"\mp", "·": r"\cdot", "⋅": r"\cdot", "≤": r"\leq",
        "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "≪": r"\ll", "≫": r"\gg",
        "«": r"\ll", "»": r"\gg", "‹": "<", "›": ">",
        "∞": r"\infty", "∈": r"\in", "∉": r"\notin", "∪": r"\cup", "∩": r"\cap",
        "⊂": r"\subset", "⊆": r"\subseteq", "∅": r"\emptyset", "∧": r"\wedge", "∨": r"\vee", "¬": r"\neg",
        "∀": r"\forall", "∃": r"\exists", "→": r"\rightarrow", "←": r"\leftarrow", "↔": r"\leftrightarrow",
        "↑": r"\uparrow", "↓": r"\downarrow", "⇒": r"\Rightarrow", "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow",
        "√": r"\surd", "✓": r"\surd", "✔": r"\surd", "✗": r"\times", "✘": r"\times", "∑": r"\sum", "∏": r"\prod",
        "∂": r"\partial", "∇": r"\nabla", "∫": r"\int", "°": r"^\circ", "′": r"'", "″": r"''", "µ": r"\mu",
        "ϵ": r"\epsilon", "ϑ": r"\vartheta", "ϕ": r"\phi", "⁰": "^0", "¹": "^1", "²": "^2", "³": "^3", "⁴": "^4",
        "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9", "⁺": "^+", "⁻": "^-", "₀": "_0", "₁": "_1", "₂": "_2",
        "₃": "_3", "₄": "_4", "₅": "_5", "₆": "_6", "₇": "_7", "₈": "_8", "₉": "_9", "¼": r"\frac14",
        "½": r"\frac12", "¾": r"\frac34", "★": r"\star", "☆": r"\star", "◦": r"\circ", "○": r"\bigcirc",
        "●": r"\bullet", "△": r"\triangle", "⟨": r"\langle", "⟩": r"\rangle",
    }.items()
}  # fmt: skip
_SIGNS = {
    **{chr(0x3B1 + place): _math(rf"\{name}") for place, name in enumerate(_GREEK) if name != "omicron"},
    "ο": "o",
    **_GREEK_AS_LATIN,
    **{sign: _math(rf"\{name}") for sign, name in zip("ΓΔΘΛΞΠΣΥΦΨΩ", _GREEK_CAPITALS, strict=True)},
    **_SPECIAL,
    **_PUNCTUATION,
    **_LETTERS,
    **_MATHEMATICS,
}
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0323": "d", "\u0327": "c", "\u0331": "b",
}  # fmt: skip
_DOTLESS = {"i": r"\i", "j": r"\j"}
_LIGATURE = re.compile(r"(?<=([-',]))(?=\1)")


def latex_text(text: str) -> str:
    """The text so that LaTeX prints it; what its fonts lack becomes its name, such as [U+1F600]."""
    # Two signs in a row may make a third: -- is a dash, '' a quotation mark.
    apart = _LIGATURE.sub("\x00", unicodedata.normalize("NFC", one_line(text)))
    return "".join(map(_sign, apart))


def latex_address(address: str) -> str:
    r"""An address within \href, wherever that stands."""
    return re.sub(r"[%#&_]", r"\\\g<0>", address)


def _sign(sign: str) -> str:
    if sign == "\x00":
        return "{}"
    if sign in _SIGNS:
        return _SIGNS[sign]
    if " " <= sign <= "\x7e":
        return sign
    base, *marks = list(unicodedata.normalize("NFD", sign))
    if len(marks) == 1 and marks[0] in _ACCENTS and base.isascii() and base.isalpha():
        return rf"\{_ACCENTS[marks[0]]}{{{_DOTLESS.get(base, base)}}}"
    plain = unicodedata.normalize("NFKC", sign)
    if plain != sign and plain.isascii() and plain.isprintable():
        return "".join(map(_sign, plain))
    return f"{{[}}U+{ord(sign):04X}{{]}}"
