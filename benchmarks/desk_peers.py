"""Compare the desk with Label Studio and Potato: 10,000 items, four raters, import, rating and export in one run."""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.desk import p95, shares
from benchmarks.desk_label_studio import label_studio
from benchmarks.desk_potato import potato
from benchmarks.desk_race import RATERS, SECONDS, Item, NotInstalled, Raced, durability, race
from benchmarks.desk_raters import Log, Rater, at_the_desk, lasting
from benchmarks.desk_study import QUAESTOR, ROUND, RoundStudy, Serving, all_joined, make, serving
from benchmarks.measure import run
from quaestor import __version__
from quaestor.coding.session import open_coding
from quaestor.evidence.item_texts import read_item_texts
from quaestor.study.folder import open_journal

ITEMS, BAR = 10_000, 20


def main(folder: Path, options: argparse.Namespace) -> None:
    print(f"{ITEMS:,} items, {RATERS} raters who rate without a pause for {SECONDS:.0f} s, each desk in its turn")
    print("| desk | ratings a second | save p95 | next p95 | import | export | CPU |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    ours = [_told(_ours(make(folder, ITEMS, RATERS), by_script=by_script)) for by_script in (True, False)]
    items = _items(make(folder, ITEMS, RATERS))
    theirs, missing = [], []
    for peer in (label_studio, potato):
        try:
            theirs.append(_told(peer(folder, items)))
        except NotInstalled as error:
            missing.append(str(error))
    print("\n" + "\n".join([*missing, *_durabilities([ours[0], *theirs]), *_ratios(ours, theirs)]))


def _items(made: RoundStudy) -> list[Item]:
    with open_coding(made.study) as coding:
        chosen = coding.state.round(ROUND).plan.items
    item_texts = read_item_texts(made.study, chosen)
    return [Item(item, item_texts[item].title, item_texts[item].body) for item in chosen]


def _ours(made: RoundStudy, *, by_script: bool) -> Raced:
    """The race at our own desk, as its page does it, or with a page for each item."""
    way = "as its page does, sheets fetched ahead" if by_script else "a page for each item"
    raced = Raced(f"Quaestor {__version__}, {way}", _durability(made), made.import_seconds)
    with serving(made.study) as desk:
        asyncio.run(_race(raced, made, desk, by_script=by_script))
    exported = run([QUAESTOR, "ratings", "export", ROUND, "--study", str(made.study.root), "--json"])
    raced.export_seconds, raced.exported = exported.seconds, len(exported.output)
    return raced


def _durability(made: RoundStudy) -> str:
    """As the connection says by which the journal writes."""
    with open_journal(made.study) as journal, journal.database.writing() as connection:
        mode, level = (
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in ("journal_mode", "synchronous")
        )
    return durability(mode, level)


async def _race(raced: Raced, made: RoundStudy, desk: Serving, *, by_script: bool) -> None:
    clients = await all_joined(desk, made)
    log = Log()
    raters = await at_the_desk(made.raters, clients, log)
    if not by_script:
        await race(raced, [_OnePage(rater) for rater in raters], desk.process)
        return
    with shares(desk.process) as share:
        going = lasting(SECONDS)
        await asyncio.gather(*(rater.by_script(going) for rater in raters))
    raced.share, raced.saved = share, log.saved
    raced.acknowledged = len(log.acknowledged)
    raced.next = [both - saved for both, saved in zip(log.next_in_hand, log.saved, strict=True)]


class _OnePage:
    """A rater who asks for a page and sends a rating by script, one for one as at the other desks."""

    def __init__(self, rater: Rater) -> None:
        self._rater = rater

    async def next(self) -> str:
        await self._rater.open_page()
        return ""

    async def save(self, item: str) -> None:
        await self._rater.save()


def _told(raced: Raced) -> Raced:
    """What a desk did, as a line of the table, once its export holds all that it acknowledged."""
    raced.check()
    times = f"{p95(raced.saved) * 1e3:.0f} ms | {p95(raced.next) * 1e3:.0f} ms"
    spent = f"{raced.import_seconds:.1f} s | {raced.export_seconds:.1f} s"
    print(f"| {raced.name} | {raced.rate:,.1f} | {times} | {spent} | {raced.share} |", flush=True)
    return raced


def _durabilities(all_raced: Sequence[Raced]) -> list[str]:
    return [f"{one.name.split(',')[0]}: a saved rating is {one.durable}" for one in all_raced]


def _ratios(ours: Sequence[Raced], theirs: Sequence[Raced]) -> list[str]:
    found = []
    for their in theirs:
        bar = f"   bar ≥ {BAR} ×" if their.name.startswith("Label Studio") else ""
        for mine in ours:
            slower = statistics.median(their.saved) / statistics.median(mine.saved)
            found.append(
                f"{mine.name} beside {their.name}: {mine.rate / their.rate:.1f} × the ratings a second{bar}; "
                f"saving one takes {slower:.1f} × as long there"
            )
    return found
