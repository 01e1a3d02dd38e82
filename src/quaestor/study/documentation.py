"""The documentation that ships with the package: its topics, and a search over them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.names import join_with_or, sort_by_similarity

_SECTIONS = {"": "Tutorials", "how-to": "How to", "reference": "Reference", "decisions": "Decisions"}
"""By folder, the heading of its pages, in this order."""
_TITLE_WEIGHT, _HEADING_WEIGHT = 20, 5
_EXCERPT = 160
_MARKUP = re.compile(r"[`*_|>#]|\[|\]\([^)]*\)")


@dataclass(frozen=True)
class Topic:
    """One page of the documentation."""

    name: str
    """Its path below the documentation, without `.md`."""
    title: str
    section: str
    text: str
    """The page in Markdown."""


@dataclass(frozen=True)
class TopicMatch:
    """A page that contains every word of a search, and the line that fits best."""

    topic: Topic
    heading: str
    excerpt: str


def documentation_folder() -> Path:
    """Returns the folder of the pages: inside the installed package, else in the repository."""
    installed = Path(str(resources.files("quaestor"))) / "docs"
    return installed if installed.is_dir() else Path(__file__).resolve().parents[3] / "docs"


@cache
def list_topics() -> tuple[Topic, ...]:
    """Lists every page in the order of the table of contents."""
    root = documentation_folder()
    topics = []
    for folder, section in _SECTIONS.items():
        for file in sorted((root / folder).glob("*.md")):
            text = file.read_text("utf-8")
            title = text.partition("\n")[0].lstrip("# ").strip()
            name = file.relative_to(root).with_suffix("").as_posix()
            topics.append(Topic(name, title, section, text))
    return tuple(topics)


def find_topic(name: str) -> Topic:
    """Returns a page by its name or the last part of it; raises InputError with the nearest names."""
    topic_name = name.strip().strip("/").removesuffix(".md").removeprefix("docs/")
    by_name = {topic.name: topic for topic in list_topics()}
    by_last_part = {topic.name.rpartition("/")[2]: topic for topic in list_topics()}
    topic = by_name.get(topic_name) or by_last_part.get(topic_name)
    if topic is None:
        nearest = join_with_or(sort_by_similarity(topic_name, by_last_part)[:5])
        raise InputError(f"there is no documentation on {name!r}; nearest topics: {nearest}; list all: `quaestor docs`")
    return topic


def search_topics(query: str) -> list[TopicMatch]:
    """Returns the pages that contain every word of the query, best match first."""
    words = query.casefold().split()
    if not words:
        return []
    matches = []
    for topic in list_topics():
        if all(word in topic.text.casefold() for word in words):
            scored = [(_score(heading, line, words), heading, line) for heading, line in _read_lines(topic)]
            _, heading, line = max(scored, key=lambda entry: entry[0])
            in_title = sum(word in topic.title.casefold() for word in words)
            total = _TITLE_WEIGHT * in_title + sum(score for score, _, _ in scored)
            matches.append((total, TopicMatch(topic, heading, _shorten(line, words))))
    return [match for _, match in sorted(matches, key=lambda pair: -pair[0])]


def _read_lines(topic: Topic) -> Iterator[tuple[str, str]]:
    """Yields the lines of a page without markup, each with its heading."""
    heading = topic.title
    for line in topic.text.splitlines():
        plain = " ".join(_MARKUP.sub(" ", line).split())
        if line.startswith("#"):
            heading = plain
        if plain:
            yield heading, plain


def _score(heading: str, line: str, words: list[str]) -> int:
    in_line = sum(word in line.casefold() for word in words)
    in_heading = sum(word in heading.casefold() for word in words)
    return in_line + _HEADING_WEIGHT * in_heading if in_line else 0


def _shorten(line: str, words: list[str]) -> str:
    """Returns the part of a line around the first matching word."""
    positions = [at for word in words if (at := line.casefold().find(word)) >= 0]
    start = max(0, min(positions, default=0) - _EXCERPT // 2)
    end = start + _EXCERPT
    return ("…" if start else "") + line[start:end].strip() + ("…" if end < len(line) else "")
