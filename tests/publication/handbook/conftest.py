"""A small handbook: three levels, hostile words, missing numbers, more posts than are shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from quaestor.publication.handbook.records import Entry, Handbook, Measures, Post
from quaestor.publication.handbook.site import build_handbook

HOSTILE = '</title><script>alert("owned")</script><img src=x onerror=alert(1)> {{ 7 * 7 }} \u202eabc\x00\ud800'
WHOLE = Measures(
    posts=387,
    share=0.1612,
    views=402.0,
    views_low=380.0,
    views_high=450.5,
    score=1.0,
    days=0.0917,
    days_low=0.05,
    days_high=0.13,
    first_answer_days=0.02,
    by_attribute=(("tensorflow", 279), ("pytorch", 102), ("theano", 6)),
    years=((2016, 40, 0.21), (2017, 60, 0.175), (2018, 287, 0.15)),
    trend="The share is falling.",
)


def some_posts(number: int) -> tuple[Post, ...]:
    """Posts in no order, the most viewed one in the middle."""
    return tuple(
        Post(
            item=f"stackoverflow/question/{index}",
            title=f"How to freeze layer {index}?",
            link=f"https://stackoverflow.com/q/{index}",
            author="anonymous",
            licence="CC BY-SA 4.0",
            created="2020-04-24T10:00:00",
            views=1000 + (index * 7919) % number,
            score=index % 5,
            days=0.1 * index,
        )
        for index in range(number)
    )


def code(id: str, name: str, measures: Measures, above: tuple[str, ...] = (), **more: Any) -> Entry:
    level = ("phase", "object", "issue")[len(above)]
    return Entry(id, level, name, (*above, id), measures=measures, posts_total=len(more.get("posts", ())), **more)


def usual_codes() -> list[Entry]:
    data, tensor = ("data",), ("data", "data/tensor")
    rules = {"use": "There is no model.", "not_": "A model is trained.", "examples": ("how to pad sentences",)}
    many = replace(WHOLE, posts=300, days=0.5, views=900.0)
    some = replace(WHOLE, posts=80, days=2.0, views=300.0)
    few = replace(WHOLE, posts=12)
    return [
        code("data", "data processing", WHOLE, definition="Making and reading data.", **rules),
        code("data/tensor", "tensor", many, data, short="D2", posts=some_posts(326), definition="Of any rank."),
        code("data/image", "image", some, data, short="D3", posts=some_posts(3)),
        code("data/label", "label", Measures(posts=7), data, short="D9"),
        code("data/tensor/reshape", "(reshape/squeeze/flatten) tensor", few, tensor, posts=some_posts(12)),
        code("data/tensor/slice", "slice tensor", Measures(), tensor),
    ]


def hostile_codes() -> list[Entry]:
    above = ("training",)
    posts = (
        Post("so/1", HOSTILE, "javascript:alert(1)", HOSTILE, HOSTILE, "yesterday", 10, -3, 0.0),
        Post("so/2", f"quarkword {HOSTILE}", 'https://example.org/?a=1&b="><script>'),
    )
    rules = {"definition": HOSTILE, "use": HOSTILE, "not_": HOSTILE, "examples": (HOSTILE,)}
    odd = Measures(posts=1, by_attribute=((HOSTILE, 1),), years=((2020, 1, None),), trend=HOSTILE)
    return [
        code("training", "model training", replace(WHOLE, posts=120, share=0.05)),
        code("training/loss", "loss", replace(WHOLE, posts=120, days=7.0, views=5000.0), above, posts=posts, **rules),
        code("CON", HOSTILE, odd, above),
        code("con", "con", Measures(posts=0), above),
        code("数据 ../..", "数据", Measures(posts=3, years=((2020, 0, 0.0),)), above),
    ]


def small_book() -> Handbook:
    return Handbook(
        title="A small handbook",
        description="Everything that a page may hold.",
        study="small-study",
        origin="computed",
        origin_note="The numbers are computed from 510 decided posts.",
        levels=("phase", "object", "issue"),
        entries=(*usual_codes(), *hostile_codes()),
        licence_note="Posts are under CC BY-SA.",
        generated_by="Quaestor",
        views_middle=600.0,
        days_middle=0.4,
        attribute="framework",
    )


def printed_book() -> Handbook:
    """What a publication prints: counts of objects, and no posts."""
    book = small_book()
    entries = tuple(
        replace(
            entry,
            posts=(),
            posts_total=0,
            measures=Measures(posts=entry.measures.posts) if entry.level == "object" else Measures(),
        )
        for entry in book.entries
    )
    note = "The numbers are those the publication prints."
    return replace(book, origin="printed", origin_note=note, entries=entries, views_middle=None, days_middle=None)


@pytest.fixture
def book() -> Handbook:
    return small_book()


@pytest.fixture
def printed() -> Handbook:
    return printed_book()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small handbook, built once."""
    folder = tmp_path_factory.mktemp("handbook") / "site"
    build_handbook(small_book(), folder, lambda what, done, total: None)
    return folder
