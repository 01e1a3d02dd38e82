"""A handbook of 5,000 pages: how long it takes to build with its search index, and to answer a search in Chromium."""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from pathlib import Path

from quaestor.publication.handbook.records import Entry, Handbook, Measures, Post
from quaestor.publication.handbook.site import build_handbook

PHASES, OBJECTS, ISSUES = 10, 40, 4587
POSTS = 20
QUERIES = 50
SYLLABLES = [
    first + second for first in "bdfgklmnprstvz" for second in ("a", "e", "i", "o", "u", "an", "er", "is", "or")
]

# What a person feels: from the keystroke until results stand in the page, and until the whole text has been searched.
MEASURE = """async (text) => {
  const input = document.querySelector('#search-text'), list = document.querySelector('.search-results');
  const started = performance.now();
  const until = async (key) => {
    while (list.dataset[key] !== text) await new Promise((resolve) => setTimeout(resolve, 1));
    return performance.now() - started;
  };
  input.value = text;
  input.dispatchEvent(new Event('input', { bubbles: true }));
  return [await until('shown'), await until('text')];
}"""


def main(folder: Path, options: argparse.Namespace) -> None:
    site = folder / "handbook"
    shutil.rmtree(site, ignore_errors=True)
    book = _book()
    started = time.perf_counter()
    built = build_handbook(book, site, lambda what, done, total: None)
    seconds = time.perf_counter() - started
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6
    print(f"{built.pages:,} pages with search index, {size:.0f} MB: {seconds:.1f} s   bar 30 s")
    times = _search_times(site, book)
    if times:
        print(
            f"{len(times)} searches in Chromium, each for new words, until there are results: "
            f"{_spread([first for first, _ in times])}   bar 100 ms\n"
            f"   until the whole text has been searched: {_spread([whole for _, whole in times])}"
        )


def _spread(times: list[float]) -> str:
    return f"median {statistics.median(times):.0f} ms, 95th percentile {statistics.quantiles(times, n=20)[-1]:.0f} ms"


def _search_times(site: Path, book: Handbook) -> list[tuple[float, float]]:
    from playwright.sync_api import sync_playwright
    from tests.support.browser import FLAGS, find_browser

    path = find_browser()
    if path is None:
        print("no Chromium on this machine: the search was not measured")
        return []
    chance = random.Random(7)
    titles = [post.title.removesuffix("?").split() for entry in book.entries[-QUERIES:] for post in entry.posts[:1]]
    texts = [f"how to {' '.join(chance.sample(words[2:], 2))}" for words in titles]
    with _served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page()
        page.goto(address)
        page.locator("#search-text").focus()
        page.evaluate(MEASURE, "how")  # the index is fetched when the box gets the focus, before anything is typed
        times = [tuple(page.evaluate(MEASURE, text)) for text in texts]
        browser.close()
    return times


class _Quiet(SimpleHTTPRequestHandler):
    """A server like others: it keeps connections open and sends small answers at once."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextmanager
def _served(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site))) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Words:
    """Words that are as unevenly common as those of a language: the second half as often as the first, and so on."""

    def __init__(self, chance: random.Random, number: int = 6000) -> None:
        self._chance = chance
        self._all = sorted({"".join(chance.choices(SYLLABLES, k=chance.randint(2, 3))) for _ in range(number)})
        chance.shuffle(self._all)
        self._weights = list(accumulate(1 / place for place in range(1, len(self._all) + 1)))

    def some(self, number: int) -> str:
        return " ".join(self._chance.choices(self._all, cum_weights=self._weights, k=number))


def _book() -> Handbook:
    """As many codes as make 5,000 pages with home, contents and about; every number is made up."""
    chance = random.Random(5)
    words = _Words(chance)
    objects = [(f"phase-{number % PHASES}", f"object-{number}") for number in range(PHASES * OBJECTS)]
    behind: dict[str, list[Post]] = {}
    issues = []
    for number in range(ISSUES):
        path = (*objects[number % len(objects)], f"issue-{number}")
        posts = [_post(chance, words, f"{number}-{post}") for post in range(POSTS)]
        for code in path:
            behind.setdefault(code, []).extend(posts)
        issues.append(path)
    paths = [*((f"phase-{number}",) for number in range(PHASES)), *objects, *issues]
    return Handbook(
        title="A large handbook",
        description="Made up for the race.",
        study="bench",
        origin="synthetic",
        origin_note="Every number is made up.",
        levels=("phase", "object", "issue"),
        entries=tuple(_entry(chance, words, path, behind[path[-1]]) for path in paths),
        licence_note="Every post is made up.",
        generated_by="make bench",
        views_middle=500.0,
        days_middle=0.5,
    )


def _entry(chance: random.Random, words: _Words, path: tuple[str, ...], posts: list[Post]) -> Entry:
    days = chance.lognormvariate(-2, 1.5)
    measures = Measures(
        posts=len(posts),
        share=0.01,
        views=float(chance.randrange(100, 5000)),
        views_low=90.0,
        views_high=6000.0,
        score=1.0,
        days=days,
        days_low=days / 2,
        days_high=days * 2,
        first_answer_days=days / 3,
        frameworks=(("tensorflow", 30), ("pytorch", 9), ("theano", 1)),
        years=tuple((year, chance.randrange(40), chance.random()) for year in range(2014, 2024)),
        trend="The share goes nowhere.",
    )
    return Entry(
        id=path[-1],
        level=("phase", "object", "issue")[len(path) - 1],
        name=words.some(3),
        path=path,
        definition=words.some(14),
        use=words.some(14),
        not_=words.some(14),
        examples=(words.some(6), words.some(6)),
        measures=measures,
        posts=tuple(posts),
        posts_total=len(posts),
    )


def _post(chance: random.Random, words: _Words, item: str) -> Post:
    views = int(chance.paretovariate(1) * 100)
    title = f"How to {words.some(7)}?"
    return Post(item, title, f"https://example.org/{item}", "nobody", "CC BY-SA 4.0", "2020-04-24", views, 1, 0.3)
