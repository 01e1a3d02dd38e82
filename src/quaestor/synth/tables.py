"""Builds the rows of the seven tables other than posts, each in a plausible proportion to the posts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from quaestor.synth.phrases import GENERAL_WORDS, SENTENCES
from quaestor.synth.post_layout import BLOCK, SyntheticPosts, compute_ids
from quaestor.synth.posts import choose_owners
from quaestor.synth.questions import Times
from quaestor.synth.tagging import Tagging
from quaestor.synth.texts import escape, write_sentence
from quaestor.synth.xml_rows import TableRows, delay_times, format_optional, list_licences, write_times

_PLACES = (
    "Lyon, France",
    "Kyoto, 日本",
    "São Paulo, Brazil",
    "Zürich, Switzerland",
    "Nairobi, Kenya",
    "Oslo, Norway",
)
_HANDLES = (
    "quiet_lambda",
    "kernel-panda",
    "byteweaver",
    "nullpointer",
    "λ-cat",
    "tensor_tea",
    "slowloop",
    "étoile",
)
_BADGES = (
    "Teacher",
    "Student",
    "Editor",
    "Supporter",
    "Scholar",
    "Popular Question",
    "Notable Question",
    "python",
)
_VOTES = ((2, 0.78), (3, 0.1), (5, 0.08), (16, 0.04))
_DAY = 86_400_000


@dataclass(frozen=True)
class Dump:
    """The input of every table of a dump."""

    layout: SyntheticPosts
    tagging: Tagging
    seed: int


TableBuilder = Callable[[Dump], TableRows]


def build_comments(dump: Dump) -> TableRows:
    """Builds as many comments as each post's comment count."""
    layout, seed = dump.layout, dump.seed
    pattern = b'  <row Id="%d" PostId="%d" Score="%d" Text="%b" CreationDate="%b" UserId="%d" ContentLicense="%b" />\n'
    texts = _sentences(SENTENCES["remarks"], layout.posts, seed)

    def blocks() -> Iterator[list[bytes]]:
        rng = np.random.default_rng([seed, 2])
        written = 0
        for start in range(0, layout.posts, BLOCK):
            counts = layout.comments[start : start + BLOCK]
            ranks = np.repeat(np.arange(start, start + len(counts)), counts)
            created = delay_times(_created(layout, ranks), 3, rng)
            columns = (
                range(written + 1, written + len(ranks) + 1),
                compute_ids(ranks).tolist(),
                np.minimum(rng.geometric(0.7, len(ranks)) - 1, 500).tolist(),
                _pick(texts, len(ranks), rng),
                write_times(created),
                choose_owners(ranks, layout, rng).tolist(),
                list_licences(created),
            )
            yield [pattern % row for row in zip(*columns, strict=True)]
            written += len(ranks)

    return TableRows("Comments", int(layout.comments.sum()), blocks())


def build_users(dump: Dump) -> TableRows:
    """Builds the users who can own a post, in the order in which they joined."""
    layout, seed = dump.layout, dump.seed
    pattern = (
        b'  <row Id="%d" Reputation="%d" CreationDate="%b" DisplayName="%b" LastAccessDate="%b"%b'
        b' AboutMe="%b" Views="%d" UpVotes="%d" DownVotes="%d" AccountId="%d" />\n'
    )
    about = [
        b"",
        *(escape(f"<p>{text}</p>\n") for text in ("I like small programs.", "Größere Projekte & 🐍.")),
    ]
    places = [b"", *(b' Location="%b"' % escape(place) for place in _PLACES)]

    def blocks() -> Iterator[list[bytes]]:
        rng = np.random.default_rng([seed, 3])
        for start in range(0, layout.users, BLOCK):
            numbers = np.arange(start, min(start + BLOCK, layout.users))
            joined = _created(layout, numbers * layout.posts // layout.users)
            known = _pick([escape(handle) for handle in _HANDLES], len(numbers), rng)
            columns = (
                (numbers + 1).tolist(),
                np.minimum(rng.pareto(0.8, len(numbers)) * 20 + 1, 1_300_000).astype(np.int64).tolist(),
                write_times(joined),
                [b"%b%d" % (name, number + 1) for name, number in zip(known, numbers.tolist(), strict=True)],
                write_times(delay_times(joined, 2_000, rng)),
                _pick(places, len(numbers), rng),
                _pick(about, len(numbers), rng),
                *np.minimum(rng.pareto(0.9, (3, len(numbers))) * 3, 90_000).astype(np.int64).tolist(),
                (numbers * 3 + 7).tolist(),
            )
            yield [pattern % row for row in zip(*columns, strict=True)]

    return TableRows("Users", layout.users, blocks())


def build_votes(dump: Dump) -> TableRows:
    """Builds one vote per post on average, and one more for each accepted answer."""
    layout, seed = dump.layout, dump.seed
    pattern = b'  <row Id="%d" PostId="%d" VoteTypeId="%d"%b CreationDate="%b" />\n'
    rng = np.random.default_rng([seed, 4])
    chosen = layout.first_answer[layout.accepted] + len(layout.questions)
    ranks = np.concatenate([rng.integers(0, layout.posts, layout.posts), layout.rank[chosen]])
    kinds = np.ones(len(ranks), np.int8)
    types, shares = zip(*_VOTES, strict=True)
    kinds[: layout.posts] = rng.choice(types, layout.posts, p=shares)
    order = np.argsort(ranks, kind="stable")

    def blocks() -> Iterator[list[bytes]]:
        for start in range(0, len(ranks), BLOCK):
            part = order[start : start + BLOCK]
            created = delay_times(_created(layout, ranks[part]), 200, rng)
            columns = (
                range(start + 1, start + len(part) + 1),
                compute_ids(ranks[part]).tolist(),
                kinds[part].tolist(),
                format_optional(
                    "UserId", choose_owners(ranks[part], layout, rng).tolist(), (kinds[part] == 5).tolist()
                ),
                write_times(created // _DAY * _DAY),
            )
            yield [pattern % row for row in zip(*columns, strict=True)]

    return TableRows("Votes", len(ranks), blocks())


def build_post_history(dump: Dump) -> TableRows:
    """Builds the first version or an edit of some posts, and the closing of every closed question."""
    layout, seed = dump.layout, dump.seed
    pattern = (
        b'  <row Id="%d" PostHistoryTypeId="%d" PostId="%d" RevisionGUID="%b" CreationDate="%b"'
        b' UserId="%d" Text="%b"%b ContentLicense="%b" />\n'
    )
    texts = _sentences(SENTENCES["answering"], layout.posts, seed)
    rng = np.random.default_rng([seed, 5])
    closed = layout.rank[: len(layout.questions)][layout.questions.closed]
    ranks = np.concatenate([np.flatnonzero(rng.random(layout.posts) < 0.3), closed])
    kinds = np.full(len(ranks), 10, np.int8)
    kinds[: len(ranks) - len(closed)] = rng.choice((2, 5, 6), len(ranks) - len(closed), p=(0.6, 0.3, 0.1))
    order = np.argsort(ranks, kind="stable")

    def blocks() -> Iterator[list[bytes]]:
        for start in range(0, len(ranks), BLOCK):
            part = order[start : start + BLOCK]
            created = delay_times(_created(layout, ranks[part]), 20, rng)
            digits = [rng.bytes(16).hex() for _ in range(len(part))]
            columns = (
                range(start + 1, start + len(part) + 1),
                kinds[part].tolist(),
                compute_ids(ranks[part]).tolist(),
                [f"{digit[:8]}-{digit[8:12]}-{digit[12:16]}-{digit[16:20]}-{digit[20:]}".encode() for digit in digits],
                write_times(created),
                choose_owners(ranks[part], layout, rng).tolist(),
                _pick(texts, len(part), rng),
                format_optional("CloseReasonId", [102] * len(part), (kinds[part] == 10).tolist()),
                list_licences(created),
            )
            yield [pattern % row for row in zip(*columns, strict=True)]

    return TableRows("PostHistory", len(ranks), blocks())


def build_post_links(dump: Dump) -> TableRows:
    """Builds links from questions to earlier ones, some of them as duplicates."""
    layout, seed = dump.layout, dump.seed
    pattern = b'  <row Id="%d" CreationDate="%b" PostId="%d" RelatedPostId="%d" LinkTypeId="%d" />\n'
    rng = np.random.default_rng([seed, 6])
    question_ranks = np.sort(layout.rank[: len(layout.questions)])
    sources = np.flatnonzero(rng.random(len(question_ranks)) < 0.1)
    sources = sources[sources > 0]

    def blocks() -> Iterator[list[bytes]]:
        for start in range(0, len(sources), BLOCK):
            part = sources[start : start + BLOCK]
            columns = (
                range(start + 1, start + len(part) + 1),
                write_times(delay_times(_created(layout, question_ranks[part]), 30, rng)),
                compute_ids(question_ranks[part]).tolist(),
                compute_ids(question_ranks[rng.integers(0, part)]).tolist(),
                rng.choice((1, 3), len(part), p=(0.8, 0.2)).tolist(),
            )
            yield [pattern % row for row in zip(*columns, strict=True)]

    return TableRows("PostLinks", len(sources), blocks())


def build_badges(dump: Dump) -> TableRows:
    """Builds badges for half of the users."""
    layout, seed = dump.layout, dump.seed
    pattern = b'  <row Id="%d" UserId="%d" Name="%b" Date="%b" Class="%d" TagBased="%b" />\n'
    total = layout.users // 2

    def blocks() -> Iterator[list[bytes]]:
        rng = np.random.default_rng([seed, 7])
        for start in range(0, total, BLOCK):
            numbers = np.arange(start, min(start + BLOCK, total))
            earned = delay_times(_created(layout, numbers * layout.posts // total), 500, rng)
            names = _pick([escape(name) for name in _BADGES], len(numbers), rng)
            columns = (
                (numbers + 1).tolist(),
                choose_owners(numbers * layout.posts // total, layout, rng).tolist(),
                names,
                write_times(earned),
                rng.choice((1, 2, 3), len(numbers), p=(0.03, 0.17, 0.8)).tolist(),
                [b"True" if name == b"python" else b"False" for name in names],
            )
            yield [pattern % row for row in zip(*columns, strict=True)]

    return TableRows("Badges", total, blocks())


def build_tags(dump: Dump) -> TableRows:
    """Builds every used tag with its number of questions; the most frequent tags have a wiki."""
    layout = dump.layout
    rows = []
    for number, (tag, count) in enumerate(dump.tagging.counts().items()):
        wiki = b""
        if number < layout.wiki_pairs:
            ids = layout.ids_of(np.array(layout.wiki_numbers(number)))
            wiki = b' ExcerptPostId="%d" WikiPostId="%d"' % (ids[0], ids[1])
        rows.append(b'  <row Id="%d" TagName="%b" Count="%d"%b />\n' % (number + 1, escape(tag), count, wiki))
    return TableRows("Tags", len(rows), iter([rows]))


TABLE_BUILDERS: dict[str, TableBuilder] = {
    "comments": build_comments,
    "users": build_users,
    "votes": build_votes,
    "posthistory": build_post_history,
    "postlinks": build_post_links,
    "badges": build_badges,
    "tags": build_tags,
}


def _created(layout: SyntheticPosts, ranks: npt.NDArray[Any]) -> Times:
    times: Times = layout.created[layout.order[ranks]]
    return times


def _sentences(patterns: tuple[str, ...], posts: int, seed: int) -> list[bytes]:
    chance = random.Random(seed + len(patterns))
    amount = max(40, min(4_000, posts // 20))
    return [escape(write_sentence(chance.choice(patterns), GENERAL_WORDS, chance)) for _ in range(amount)]


def _pick(pool: list[bytes], total: int, rng: np.random.Generator) -> list[bytes]:
    return [pool[pick] for pick in rng.integers(0, len(pool), total).tolist()]
