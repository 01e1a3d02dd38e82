"""Contents of a handbook: plain values, already measured."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.publication.results.joint_display import JointDisplay

HOUR = 1 / 24


@dataclass(frozen=True)
class Post:
    """One post behind a code; its texts come from the public and are never trusted."""

    item: str
    title: str
    link: str = ""
    author: str = ""
    licence: str = ""
    created: str | None = None
    """The date of the question, as `2020-04-24`; a time after it is not shown."""
    views: int | None = None
    score: int | None = None
    days: float | None = None
    """Days to the accepted answer."""


@dataclass(frozen=True)
class Measures:
    """The numbers of one code; None where unknown."""

    posts: int | None = None
    share: float | None = None
    """Share of all posts of the study, between 0 and 1."""
    views: float | None = None
    """The median, as are score, days and first_answer_days; low and high are its 95% interval."""
    views_low: float | None = None
    views_high: float | None = None
    score: float | None = None
    days: float | None = None
    days_low: float | None = None
    days_high: float | None = None
    first_answer_days: float | None = None
    by_attribute: tuple[tuple[str, int], ...] = ()
    """Posts by value of the handbook's attribute."""
    years: tuple[tuple[int, int, float | None], ...] = ()
    """Year, posts of this code, and their share of that year's posts."""
    trend: str = ""
    """A sentence on the trend of the share."""


@dataclass(frozen=True)
class Entry:
    """One code and its content."""

    id: str
    level: str
    name: str
    path: tuple[str, ...]
    """The ids from the root down to this code, itself last."""
    definition: str = ""
    use: str = ""
    not_: str = ""
    examples: tuple[str, ...] = ()
    measures: Measures = Measures()
    posts: tuple[Post, ...] = ()
    posts_total: int = 0
    """Number of posts if `posts` holds only some of them."""
    short: str = ""
    """How the code is cited, such as D1."""

    @property
    def parent(self) -> str | None:
        return self.path[-2] if len(self.path) > 1 else None


@dataclass(frozen=True)
class Handbook:
    """A whole handbook; entries are in codebook order."""

    title: str
    description: str
    study: str
    origin: str
    """`computed`, `printed` or `synthetic`."""
    origin_note: str
    """One sentence: where the numbers come from."""
    levels: tuple[str, ...]
    entries: tuple[Entry, ...]
    licence_note: str
    generated_by: str
    views_middle: float | None = None
    """A code of the second level with more views than this is popular."""
    days_middle: float | None = None
    """A code of the second level with more days than this is hard."""
    steps: tuple[float, ...] = (HOUR, 2 * HOUR, 4 * HOUR, 12 * HOUR)
    """Four increasing numbers of days that separate the colours of the map."""
    joint: JointDisplay | None = None
    """The strands compared code by code, if the study has several."""
    attribute: str = ""
    """The attribute by which the posts of each code are counted, such as the framework."""


@dataclass(frozen=True)
class BuiltHandbook:
    """Result of a build."""

    pages: int
    searchable: int
    """Number of pages in the search index."""
