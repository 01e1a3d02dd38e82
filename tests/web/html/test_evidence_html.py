"""HTML of evidence is cleaned: it cannot run, load, style or mislead, and its text is kept."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.hostile_posts import HostilePost, hostile_posts
from tests.support.paths import ROOT

from quaestor.render.design_tokens import TOKENS
from quaestor.web.html import evidence, highlight
from quaestor.web.html.evidence import clean
from quaestor.web.html.highlight import CLASSES, detect_language, highlight_code

ELEMENTS = {
    "a", "b", "blockquote", "br", "code", "del", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "i", "ins",
    "kbd", "li", "ol", "p", "pre", "s", "samp", "span", "strike", "strong", "sub", "sup", "table", "tbody",
    "td", "tfoot", "th", "thead", "tr", "ul", "var",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "rel", "class"},
    "span": {"class"},
    "p": {"class"},
    "pre": {"tabindex"},
    "div": {"class", "role", "aria-label", "tabindex"},
}
WORDS = {*CLASSES, "image", "scroll", "term", "meaning", "heading", "", "group", "Table", "0"}
LANGUAGES = sorted({*highlight._KEYWORDS, "console", "traceback", "", "unknown"})


class Reader(HTMLParser):
    """Reads what was cleaned with a parser that has nothing to do with the one that cleaned it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.wrong: list[str] = []
        self.text: list[str] = []
        self.code: list[str] = []
        self.names: list[str] = []
        self._in_code = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self._in_code += tag == "pre"
        if tag not in ELEMENTS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            if name not in ATTRIBUTES.get(tag, set()):
                self.wrong.append(f"<{tag} {name}>")
            elif name == "href":
                parts = urlsplit(value or "")
                if parts.scheme not in ("http", "https", "mailto") or "@" in parts.netloc:
                    self.wrong.append(str(value))
            elif name == "rel":
                self.wrong += [] if value == "nofollow noopener noreferrer" else [str(value)]
            elif value not in WORDS:
                self.wrong.append(f"{name}={value}")
        if tag == "a" and not {"href", "rel"} <= {name for name, _ in attrs}:
            self.wrong.append("a link to nowhere")

    def handle_endtag(self, tag: str) -> None:
        self._in_code -= tag == "pre"

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._in_code:
            self.code.append(data)

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(decl)

    def unknown_decl(self, data: str) -> None:
        self.wrong.append(data)

    def handle_pi(self, data: str) -> None:
        self.wrong.append(data)


def code_in(html: str) -> str:
    return "".join(Reader(html).code)


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def test_the_hostile_corpus_has_at_least_60_posts_with_distinct_names() -> None:
    names = [post.name for post in hostile_posts()]
    assert len(names) >= 60
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("below", [1, None])
@pytest.mark.parametrize("post", hostile_posts(), ids=lambda post: post.name)
def test_cleaning_a_hostile_post_keeps_only_its_readable_text(post: HostilePost, below: int | None) -> None:
    cleaned = clean(post.body, post.tags, below)
    read = Reader(cleaned)
    assert read.wrong == []
    assert post.keeps in "".join(read.text)


@pytest.mark.parametrize("post", hostile_posts(), ids=lambda post: post.name)
def test_cleaning_twice_gives_the_same_text_as_cleaning_once(post: HostilePost) -> None:
    once = Reader(clean(post.body, post.tags))
    again = Reader(clean(clean(post.body, post.tags), post.tags))
    assert "".join(again.text) == "".join(once.text)


@given(st.lists(st.sampled_from([*"<>/='\"&;!- a\n\x00", *(post.body for post in hostile_posts())]), max_size=30))
@settings(max_examples=150, deadline=None)
def test_no_combination_of_hostile_fragments_passes_the_cleaning(pieces: list[str]) -> None:
    mixed = "".join(piece if len(piece) < 3 else piece[: 10 * len(pieces)] for piece in pieces)
    assert Reader(clean(mixed)).wrong == []


@given(
    st.text(alphabet=st.characters(exclude_characters="\r\x00", exclude_categories=["Cs"]), max_size=300),
    st.sampled_from(["", "lang-py", "lang-js", "lang-bash", "lang-html", "lang-yaml", "lang-none"]),
    st.sampled_from([(), ("python",), ("c++",), ("sql",), ("r",)]),
)
@settings(max_examples=200, deadline=None)
def test_syntax_highlighting_never_changes_the_code(code: str, classes: str, tags: tuple[str, ...]) -> None:
    assert code_in(clean(f'<pre class="{classes}"><code>{escaped(code)}</code></pre>', tags)) == code


@given(
    st.lists(
        st.sampled_from(["'", '"', "\\", "\n", "#", "/*", "*/", ">>> ", "def f", "1e", "é", "<", "&", "$x", '"""'])
    )
)
@settings(max_examples=100, deadline=None)
def test_highlighting_in_any_language_keeps_the_code_unchanged(pieces: list[str]) -> None:
    code = "".join(pieces)
    for language in LANGUAGES:
        read = Reader(highlight_code(code, language))
        assert "".join(read.text) == code, language
        assert read.wrong == []


def test_blank_lines_and_indentation_of_code_are_kept() -> None:
    assert code_in(clean("<pre>\n\n  a\n\tb \n\n</pre>")) == "\n  a\n\tb \n\n", "the first line break is HTML's own"
    assert code_in(clean("<pre><code>\n  a\n</code></pre>")) == "\n  a\n"
    assert code_in(clean("<pre>\n\na <b>bold</b>\n</pre>")) == "\na bold\n"


@pytest.mark.parametrize(
    ("code", "classes", "tags", "language"),
    [
        ("x", "lang-py prettyprint-override", (), "python"),
        ("x = 1", "lang-none", ("python",), ""),
        ("x = f(1)", "", ("tensorflow", "keras"), "python"),
        ("auto x = f(1);", "", ("tensorflow", "c++"), "c"),
        ("const x = f(1)", "", ("tensorflow.js",), "javascript"),
        ("Epoch 1 of 5 done\nloss 0.3", "", ("python",), ""),
        ("from torch import nn\n", "", (), "python"),
        ("#include <vector>\nint main() {}", "", (), "c"),
        ('{"a": 1, "b": [2]}', "", (), "json"),
        ("pip install torch==1.0", "", (), "shell"),
        ("some words, and (more) of them", "", (), ""),
        ("Traceback (most recent call last):\n  x", "", ("java",), "traceback"),
        (">>> f(1)\n2", "lang-py", (), "console"),
        ("x = f(1)", "lang-klingon", ("python",), "python"),
    ],
)
def test_the_language_of_code_comes_from_the_post_or_is_unknown(
    code: str, classes: str, tags: tuple[str, ...], language: str
) -> None:
    assert detect_language(code, classes, tags) == language


def test_python_tokens_are_highlighted_by_their_kind() -> None:
    html = highlight_code("@cached\ndef load(path):  # all\n    return open('a') if path is None else 0x1F\n", "python")
    for kind, text in (
        ("name", "@cached"),
        ("keyword", "def"),
        ("name", "load"),
        ("comment", "# all"),
        ("keyword", "return"),
        ("string", "'a'"),
        ("keyword", "None"),
        ("number", "0x1F"),
    ):
        assert f'<span class="code-{kind}">{text}</span>' in html


def test_consoles_and_tracebacks_have_prompts_and_errors_highlighted() -> None:
    console = highlight_code(">>> import torch\n>>> torch.ones(2)\ntensor([1., 1.])\n$ pip list\n", "console")
    assert console.count("code-prompt") == 3
    assert "\ntensor([1., 1.])\n" in console
    failed = highlight_code('Traceback (most recent call last):\n  File "a.py", line 3\nValueError: no\n', "traceback")
    assert '<span class="code-string">"a.py"</span>, line <span class="code-number">3</span>' in failed
    assert '<span class="code-error">ValueError: no\n</span>' in failed


def test_text_direction_characters_in_code_are_isolated_and_marked() -> None:
    code = "if admin:\u202e # \u2066 return"
    html = clean(f"<pre><code>{code}</code></pre><p><code>a\u202eb</code></p><p>\u202eprose</p>")
    assert html.count("code-turn") == 3
    assert code_in(html) == code


def test_very_long_code_is_not_highlighted() -> None:
    assert "code-" in clean("<pre class='lang-py'>" + "import x\n" * 2_000 + "</pre>")
    assert "code-" not in clean("<pre class='lang-py'>" + "import x\n" * 3_000 + "</pre>")


@pytest.mark.parametrize(
    "bomb",
    [
        "<div>" * 200_000,
        "<ul><li>" * 125_000,
        "<blockquote><p>" * 70_000,
        "<b>" * 330_000,
        "<table><tr><td>" * 66_000,
        "<a href=https://good.example/>" * 33_000,
        "<p>" + "".join(f"<b x{number}>" for number in range(90)) + "</p>" + "<p>x</p>" * 5_000,
        "<pre>" * 200_000,
        "<" * 1_000_000,
        "<x" * 500_000,
        "<!--" * 250_000,
        "&" * 1_000_000,
        "<svg><g>" * 125_000,
        "<pre class=lang-py>" + "\n" * 90_000,
        "<pre class=lang-java>" + '"\\' * 9_000,
    ],
    ids=lambda bomb: bomb[:20].strip(),
)
def test_a_megabyte_of_any_input_gives_output_of_bounded_length(bomb: str) -> None:
    """Without the bounds the first of these takes ten minutes, and the seventh makes half a million elements."""
    cleaned = clean(bomb)
    assert len(cleaned) < 1_000_000
    assert Reader(cleaned).wrong == []


def test_a_shortened_post_says_so_and_unusual_markup_is_shown_as_text() -> None:
    assert "The rest of this post is left out" in clean("<p>word</p>" * 10_000)
    assert "&lt;div&gt;&lt;div&gt;" in clean("<div>" * 500)
    assert "<div>" not in clean("<div>" * 500)


def test_a_lone_surrogate_is_replaced() -> None:
    assert clean("<p>a\ud800b</p>") == "<p>a\ufffdb</p>"


def test_an_image_becomes_a_link_with_its_description() -> None:
    link = '<a class="image" href="https://i.stack.imgur.com/a.png" rel="nofollow noopener noreferrer">'
    assert clean('<img src="https://i.stack.imgur.com/a.png" alt="the loss">') == f"{link}image: the loss</a>"
    assert clean('<img src="https://i.stack.imgur.com/a.png" alt="enter image description here">') == f"{link}image</a>"
    inner = clean('<a href="https://good.example/"><img src="https://i.stack.imgur.com/a.png" alt="b"></a>')
    assert inner.count("<a ") == 1
    assert 'href="https://good.example/"' in inner


@pytest.mark.parametrize(
    ("below", "levels"),
    [(1, ["h2", "h3", "h3", "h2"]), (3, ["h4", "h5", "h5", "h4"]), (6, ["h6"] * 4), (None, ["p"] * 4)],
)
def test_headings_in_a_post_are_below_the_page_headings_without_skipped_levels(
    below: int | None, levels: list[str]
) -> None:
    assert Reader(clean("<h2>a</h2><h5>b</h5><h4>c</h4><h1>d</h1>", below=below)).names == levels


def test_a_cleaned_post_is_cached() -> None:
    evidence._cached_clean.cache_clear()
    assert clean("<p>a</p>", ["python"]) == clean("<p>a</p>", ("python",))
    assert evidence._cached_clean.cache_info().hits == 1


def shades(value: str) -> tuple[str, str]:
    light, dark = re.fullmatch(r"light-dark\((#\w+), (#\w+)\)", value).groups()  # type: ignore[union-attr]
    return light, dark


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_every_colour_of_code_has_enough_contrast_in_light_and_dark() -> None:
    tokens = dict(re.findall(r"--([\w-]+): (light-dark\([^)]+\))", TOKENS.read_text("utf-8")))
    css = (ROOT / "src" / "quaestor" / "web" / "static" / "code.css").read_text("utf-8")
    coloured = dict(re.findall(r"^\.(code-\w+) \{ color: var\(--([\w-]+)\)", css, re.MULTILINE))
    assert set(coloured) == CLASSES - {"code-turn"}
    for name, token in coloured.items():
        for ink, paper in zip(shades(tokens[token]), shades(tokens["paper"]), strict=True):
            high, low = sorted((luminance(ink), luminance(paper)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, name
