"""Problems and warnings of a guide, each in one sentence, before the first interview."""

from __future__ import annotations

import pytest
from tests.support.small_interviews import SMALL

from quaestor.base.errors import Problem
from quaestor.interviews.model.guide_checks import find_problems
from quaestor.interviews.model.guide_file import parse_guide

BESIDE = ("guide.md", "agreement.md")


def problems_after(*changes: tuple[str, str], files: tuple[str, ...] = BESIDE) -> list[Problem]:
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return find_problems(parse_guide(text, "guide"), files)


def test_a_valid_guide_has_no_problems() -> None:
    assert problems_after() == []


GRAVE = {
    "budgets": (("minutes=5", "minutes=4.5"), "guide", "take 9.5 minutes in total, but the guide says 10"),
    "section ids": (("#legitimacy minutes", "#practice minutes"), "section practice", "two sections have this id"),
    "question ids": (("#illegal", "#stages"), "question stages", "two questions have this id"),
    "untouched": ((".guided research=legitimacy", ".guided"), "research question legitimacy", "no question covers it"),
    "unknown": (
        (".guided research=legitimacy", ".guided research=legitimacy,practise"),
        "question illegal",
        "'practise' is not in the front matter; there are: practice or legitimacy",
    ),
    "no items": ((".guided", ".reference"), "question illegal", "a reference question without items"),
    "item codes": (("{#time}", "{#data}"), "question factors", "two of its items have the code 'data'"),
    "two openings": (("minutes=5}", "minutes=5 .opening}"), "section practice", "two sections are marked .opening"),
    "agreement": (('"agreement.md"', '"other.md"'), "guide", "the consent form other.md is not in its folder"),
    "agreement elsewhere": (('"agreement.md"', '"../agreement.md"'), "guide", "is not in its folder"),
}
ODD = {
    "asked twice": (
        ("## When do you call a model illegal?", "## WHICH stages  does your work have?"),
        "question illegal",
        "also in the section practice, as stages",
    ),
    "no opening": ((" .opening", ""), "guide", "no section marked .opening has a script"),
    "silent closing": (("Thank you: this helps.", ""), "guide", "no section marked .closing has a script"),
    "no agreement": (('agreement = "agreement.md"\n', ""), "guide", "it names no consent form"),
    "long script": (("We begin", "We begin " + "and " * 800), "section practice", "takes about 6.2 of its 5 minutes"),
    "misplaced": (("minutes=5}", "minutes=5}\nSo.\n# Now {#now minutes=0}\nSo.\n"), "section now", "it has no time"),
}


@pytest.mark.parametrize("words", ["Which stages does your work have", "“Which stages, does your work have?”"])
def test_questions_that_differ_only_in_punctuation_are_duplicates(words: str) -> None:
    (problem,) = problems_after(("When do you call a model illegal?", words))
    assert (problem.where, problem.grave) == ("question illegal", False)
    assert "also in the section practice, as stages" in problem.words


def test_questions_that_differ_in_a_spoken_sign_are_different() -> None:
    asked = (
        ("Which stages does your work have?", "Do you use C#?"),
        ("When do you call a model illegal?", "Do you use C++?"),
    )
    assert problems_after(*asked) == []


@pytest.mark.parametrize(("change", "where", "said"), GRAVE.values(), ids=GRAVE)
def test_a_serious_problem_prevents_use_of_a_guide(change: tuple[str, str], where: str, said: str) -> None:
    assert [problem.where for problem in problems_after(change) if problem.grave and said in problem.words] == [where]


@pytest.mark.parametrize(("change", "where", "said"), ODD.values(), ids=ODD)
def test_a_warning_does_not_prevent_use_of_a_guide(change: tuple[str, str], where: str, said: str) -> None:
    problems = problems_after(change)
    assert [problem.where for problem in problems if said in problem.words] == [where]
    assert not any(problem.grave for problem in problems if said in problem.words)


def test_a_section_without_minutes_gives_a_warning() -> None:
    problems = problems_after((" minutes=5}", "}"))
    assert Problem("section practice", "it has no time: add minutes=5, or what it takes", grave=False) in problems
    assert [problem.where for problem in problems if problem.grave] == ["guide"]


def test_a_misplaced_opening_or_closing_is_reported() -> None:
    early = problems_after(
        ("#welcome minutes=1 .opening", "#welcome minutes=1 .closing"),
        ("minutes=1 .closing}\nThank you:", "minutes=1 .opening}\nThank you:"),
    )
    assert [(one.where, one.words) for one in early] == [
        ("section thanks", "it is marked .opening but is not the first section: move it"),
        ("section welcome", "it is marked .closing but is not the last section: move it"),
    ]


def test_a_guide_without_questions_and_an_empty_section_are_reported() -> None:
    empty = parse_guide("+++\nminutes = 1\n+++\n# A {#a minutes=1}\n", "guide")
    said = [problem.words.split(":")[0] for problem in find_problems(empty)]
    assert "it has no questions" in said
    assert "it is empty" in said


def test_every_problem_states_a_remedy() -> None:
    for change, _, _ in (*GRAVE.values(), *ODD.values()):
        for one in problems_after(change):
            what, _, remedy = one.words.partition(": ")
            assert what, one
            assert remedy, one
            assert "\n" not in one.words
