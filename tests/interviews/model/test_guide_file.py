"""Guide files are parsed back unchanged, and unreadable ones are refused with their line."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.guide_text import guide_text
from tests.support.paths import DOCS
from tests.support.small_interviews import SMALL

from quaestor.base.errors import InputError
from quaestor.interviews.model.guide_checks import find_problems
from quaestor.interviews.model.guide_file import KEYS, LONGEST, OPTIONAL, PARTS, parse_guide, read_guide_text
from quaestor.interviews.model.records import Asks, Guide, GuideQuestion, GuideSection, ReferenceItem

FRONT = "+++\nminutes = 5\n+++\n"
ONE = f"{FRONT}# First {{#first minutes=5}}\n"

ids = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,8}", fullmatch=True)
words = (
    st.text(alphabet=st.sampled_from("aZ?.:,é😀א #{}=\"'\\-*+>[]_\u2028"), max_size=20)
    .map(lambda text: "w" + text.strip() + "?")
    .map(lambda text: " ".join(text.split()))
)
notes = st.lists(words, max_size=3).map("\n".join)
scripts = st.lists(st.one_of(words, st.just(""), words.map(lambda text: f"- {text}")), max_size=4).map(
    lambda lines: "\n".join(lines).strip("\n")
)


@st.composite
def questions(draw: st.DrawFn) -> GuideQuestion:
    asks = draw(st.sampled_from(Asks))
    items = draw(st.lists(st.builds(ReferenceItem, ids, words), max_size=3)) if asks is Asks.REFERENCE else []
    other = asks is Asks.REFERENCE and draw(st.booleans())
    probes, research = draw(st.lists(words, max_size=3)), draw(st.lists(ids, max_size=3, unique=True))
    return GuideQuestion(
        draw(ids), draw(words), asks, draw(st.booleans()), tuple(probes), draw(notes), tuple(items), other,
        tuple(research),
    )  # fmt: skip


@st.composite
def sections(draw: st.DrawFn) -> GuideSection:
    minutes, part = draw(st.floats(0, 90)), draw(st.sampled_from(["", "opening", "closing"]))
    asked = draw(st.lists(questions(), max_size=3))
    return GuideSection(draw(ids), draw(words), minutes, tuple(asked), draw(scripts), draw(notes), part)


guides = st.builds(
    Guide,
    ids,
    words,
    st.floats(1, 300),
    st.lists(sections(), min_size=1, max_size=3).map(tuple),
    words,
    st.dictionaries(ids, words, max_size=3),
    st.sampled_from(["en", "de", "ar"]),
)


@given(guides)
@settings(max_examples=60, deadline=None)
def test_a_written_guide_is_parsed_back_unchanged(guide: Guide) -> None:
    text = guide_text(guide)
    assert parse_guide(text, guide.id) == guide
    assert parse_guide("\ufeff" + text.replace("\n", "\r\n"), guide.id) == guide


HOSTILE = st.lists(
    st.one_of(
        st.sampled_from(SMALL.splitlines()),
        st.text(alphabet=st.sampled_from("#{}[]().>-*+ =.a1\t\x00\x1b\u2028\r\ud800é"), max_size=12),
    ),
    max_size=12,
).map(lambda lines: SMALL + "\n".join(lines))


@given(HOSTILE)
@settings(max_examples=100, deadline=None)
def test_any_text_is_parsed_or_refused_in_one_sentence(text: str) -> None:
    try:
        guide = parse_guide(text, "guide")
    except InputError as error:
        assert re.match(r"guide\.md(, line \d+)?", str(error))
        assert "\n" not in str(error)
        assert "\x1b" not in str(error)
    else:
        assert parse_guide(guide_text(guide), "guide") == guide


def test_all_parts_of_a_guide_are_parsed() -> None:
    guide = parse_guide(SMALL, "guide")
    assert (guide.title, guide.minutes, guide.agreement) == ("How developers judge models", 10, "agreement.md")
    assert [(section.id, section.minutes, section.part) for section in guide.sections] == [
        ("welcome", 1, "opening"), ("practice", 5, ""), ("legitimacy", 3, ""), ("thanks", 1, "closing"),
    ]  # fmt: skip
    assert (guide.opening, guide.closing) == ("Thank you for your time.", "Thank you: this helps.")
    assert guide.sections[0].note == "Start the recording."
    stages, factors, illegal = guide.questions()
    assert (stages.asks, stages.probes, stages.optional) == (Asks.OPEN, ("Which one takes longest?",), False)
    assert (factors.asks, factors.optional, factors.other) == (Asks.REFERENCE, True, True)
    assert factors.items == (ReferenceItem("data", "Size of the data"), ReferenceItem("time", "Training time"))
    assert (illegal.note, illegal.research) == ("Ask for a number.", ("legitimacy",))


def test_probes_can_be_numbered() -> None:
    text = f"{ONE}## Why {{#q}}\n3.5 layers?\n1. a probe\n   that goes on\n2) another\n3. [ ] an item {{#i}}\n"
    (asked,) = parse_guide(text, "guide").questions()
    assert (asked.text, asked.probes) == ("Why 3.5 layers?", ("a probe that goes on", "another"))
    assert asked.items == (ReferenceItem("i", "an item"),)


def test_continuation_lines_belong_to_the_line_above() -> None:
    text = f"{ONE}## A long\nquestion? {{#q}}\n"
    with pytest.raises(InputError, match=r"line 5.* has no id"):
        parse_guide(text, "guide")
    text = f"{ONE}## A long {{#q}}\nquestion?\n- a probe\n  that goes on\n- [ ] an item\n  of two lines {{#two}}\n"
    (asked,) = parse_guide(text, "guide").questions()
    assert asked.text == "A long question?"
    assert asked.probes == ("a probe that goes on",)
    assert asked.items == (ReferenceItem("two", "an item of two lines"),)


def test_a_heading_can_be_indented_as_in_markdown() -> None:
    text = f"{ONE}    # to be said\n   ## Why? {{#why}}\n"
    (section,) = parse_guide(text, "guide").sections
    assert section.script == "    # to be said"
    assert [question.id for question in section.questions] == ["why"]


def test_line_numbers_in_errors_match_those_of_an_editor() -> None:
    text = ONE.replace("\n", "\r\n") + "said\u2028on\r\n## Nothing in braces?\r\n"
    with pytest.raises(InputError, match=r"^guide\.md, line 6: 'Nothing in braces\?' has no id"):
        parse_guide(text, "guide")


REFUSED = {
    "": r"does not begin with \+\+\+",
    "+++\nminutes = 3\n": r"\+\+\+ of line 1 is never closed",
    "+++\nminutes = 3\ntitle = \n+++\n": r"the front matter is not valid TOML: .*line 3",
    "+++\ntitle = 'a'\n+++\n": "minutes is missing: give the length",
    "+++\nminutes = true\n+++\n": "minutes is True",
    "+++\nminutes = nan\n+++\n": "minutes is nan",
    "+++\nminutes = 3\nminute = 3\n+++\n": "'minute' is not a key of the front matter; choose from: minutes",
    "+++\nminutes = 3\ntitle = 4\n+++\n# A {#a}": "title is 4: write a text in quotes",
    '+++\nminutes = 3\ntitle = "\\u001b[2J"\n+++\n# A {#a}': r"title: there is an invisible character \(U\+001B\)",
    "+++\nminutes = 3\nresearch = 'a'\n+++\n# A {#a}": r"\[research\] is not a table of texts",
    "+++\nminutes = 3\n[research]\n'a b' = 'c'\n+++\n# A {#a}": r"\[research\]: the id 'a b' may only contain",
    FRONT: "has no section: write one as # Title",
    f"{FRONT}hello\n": "line 4: 'hello' is before the first section",
    f"{FRONT}## Why? {{#a}}\n": "line 4: a question is before the first section",
    f"{FRONT}#  \n": "line 4: write a section as # Title",
    f"{FRONT}### Deep {{#a}}\n": "line 4: write a section as # Title",
    f"{FRONT}# A\n": "line 4: 'A' has no id",
    f"{FRONT}# A {{#A}}\n": "line 4: the id 'A' may only contain lowercase letters",
    f"{FRONT}# A {{#a #b}}\n": "line 4: there are two ids in braces: keep a or b",
    f"{FRONT}# A {{#a minutes=1 minutes=2}}\n": "line 4: minutes= is given twice",
    f"{FRONT}# A {{#a minutes=long}}\n": "line 4: give the length of 'A'",
    f"{FRONT}# A {{#a minutes=-1}}\n": "line 4: give the length of 'A'",
    f"{FRONT}# A {{#a minutes=inf}}\n": "line 4: give the length of 'A'",
    f"{FRONT}# A {{#a nonsense}}\n": "line 4: 'nonsense' in braces is not #id",
    f"{FRONT}# A {{#a .optional}}\n": "line 4: 'optional' is not allowed here; choose from: opening",
    f"{FRONT}# A {{#a .opening .closing}}\n": "line 4: a section is said first or last",
    f"{ONE}## Why? {{#a minutes=3}}\n": "line 5: 'minutes' is not allowed here; choose from: research",
    f"{ONE}## Why? {{#a .open .brief}}\n": "line 5: a question can be asked in only one way: keep open or brief",
    f"{ONE}## Why? {{#a .brief}}\n- [ ] item\n": "line 5: items to tick .* need .reference instead of .brief",
    f"{ONE}## Why? {{#a}}\n- [ ]\n": "line 6: an item to tick has no text",
    f"{ONE}## Why? {{#a}}\n-\n": "line 6: a probe has no text",
    f"{ONE}## Why? {{#a}}\n- [ ] item {{.open}}\n": "line 6: 'open' is not allowed here",
    f"{ONE}## Why? {{#a}}\n- a probe\nand then\n": "line 7: 'and then' is not a probe",
    f"{ONE}bell\x07\n": r"line 5: there is an invisible character \(U\+0007\)",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items(), ids=range(len(REFUSED)))
def test_an_unreadable_guide_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        parse_guide(text, "guide")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "line", ["# a" + " " * 60_000 + "b", "## q {#q}\n" + "a\n" * 60_000, "- [ ]" + " {" * 60_000, "#" * 60_000]
)
def test_a_pathological_line_is_parsed_quickly(line: str) -> None:
    """Sizes at which a reader that goes back and forth would take minutes."""
    with suppress(InputError):
        parse_guide(f"{ONE}{line}\n", "guide")


def test_a_guide_over_the_size_limit_is_refused() -> None:
    with pytest.raises(InputError, match="more than 1,000,000 characters"):
        parse_guide("+" * (LONGEST + 1), "guide")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "guide.md"
    path.write_bytes(b"+++\n\xff\xfe")
    with pytest.raises(InputError, match="not a UTF-8 text"):
        read_guide_text(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_guide_text(tmp_path)


def test_a_guide_that_cannot_be_parsed_back_is_not_written() -> None:
    strange = Guide("guide", "Title", 5, (GuideSection("a", "A", 5, script="# no words to say"),))
    with pytest.raises(InputError):
        guide_text(strange)


REFERENCE = DOCS / "reference" / "interview-guide.md"


def test_the_reference_lists_every_key_and_class() -> None:
    page = REFERENCE.read_text("utf-8")
    for key in KEYS:
        assert f"`{key}`" in page or f"`[{key}]`" in page, key
    for word in (*PARTS, *Asks, OPTIONAL):
        assert f"| `.{word}` |" in page, word


def test_the_example_guide_in_the_reference_has_no_problems() -> None:
    (text,) = re.findall(r"```markdown\n(.*?)```", REFERENCE.read_text("utf-8"), flags=re.DOTALL)
    assert find_problems(parse_guide(text, "guide"), ("agreement.md",)) == []
