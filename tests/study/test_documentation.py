"""The documentation that ships with the package can be listed, read and searched."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.support.paths import DOCS, ROOT

from quaestor.base.errors import InputError
from quaestor.study.documentation import documentation_folder, find_topic, list_topics, search_topics


def test_every_page_of_the_documentation_is_a_topic_with_a_title() -> None:
    pages = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")}
    assert {topic.name for topic in list_topics()} == pages
    assert all(topic.title and not topic.title.startswith("#") for topic in list_topics())


def test_the_wheel_contains_every_page() -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    included = re.findall(r'^"docs/([^"]+)" = "quaestor/docs/\1"$', text, re.M)
    for topic in list_topics():
        assert any(f"{topic.name}.md" == path or topic.name.startswith(f"{path}/") for path in included), topic.name


@pytest.mark.parametrize("name", ["invite-raters", "how-to/invite-raters", "docs/how-to/invite-raters.md"])
def test_a_topic_is_found_by_its_last_part_its_name_or_its_file(name: str) -> None:
    assert find_topic(name).name == "how-to/invite-raters"


def test_an_unknown_topic_is_answered_with_the_nearest_ones() -> None:
    with pytest.raises(InputError, match="no documentation on 'invite-rater'; nearest topics: invite-raters"):
        find_topic("invite-rater")


def test_a_search_lists_only_pages_with_all_of_its_words_and_the_best_first() -> None:
    matches = search_topics("Kappa interval")
    assert matches
    assert all({"kappa", "interval"} <= set(re.findall(r"\w+", match.topic.text.lower())) for match in matches[:1])
    assert "agreement" in matches[0].topic.name
    assert search_topics("xyzzyquux") == search_topics("  ") == []


def test_the_excerpt_of_a_match_contains_a_word_of_the_search() -> None:
    for match in search_topics("saturation"):
        assert "saturation" in f"{match.heading} {match.excerpt}".lower()


def test_pages_are_read_from_the_repository_if_the_package_is_not_installed() -> None:
    assert documentation_folder() == Path(DOCS)


def test_every_topic_that_a_message_mentions_exists() -> None:
    mentioned = set()
    for file in (ROOT / "src").rglob("*"):
        if file.suffix in (".py", ".html"):
            mentioned |= set(re.findall(r"`quaestor docs ([a-z][\w/-]*)`", file.read_text("utf-8")))
    for name in mentioned:
        find_topic(name)
