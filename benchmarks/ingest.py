"""Compare ingest of a plain dump with an lxml loop: seconds, ratios, and memory as the dump grows."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from benchmarks.measure import Run, run, warm

TAGS = ["tensorflow*", "pytorch*", "theano"]
POSTS_A_GB = 700_000
PEER_RUNS = 2
QUAESTOR = [str(Path(sys.executable).with_name("quaestor"))]


def dump(folder: Path, gb: float) -> Path:
    """A synthetic Posts.xml of about so many gigabytes, made once."""
    path = folder / f"dump-{gb:g}gb"
    if not (path / "Posts.xml").exists():
        posts = int(gb * POSTS_A_GB)
        run(
            [
                *QUAESTOR,
                "synth",
                "stackexchange",
                str(path),
                "--posts",
                str(posts),
                "--seed",
                "1",
                "--only-posts",
                "--json",
            ]
        )
    warm(path / "Posts.xml")
    return path / "Posts.xml"


def ours(path: Path, folder: Path, tags: list[str], *, watch: bool = False) -> Run:
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    chosen = ["--tags", ",".join(tags)] if tags else []
    return run([*QUAESTOR, "ingest", "stackexchange", str(path), "--out", str(out), "--json", *chosen], watch=watch)


def peer(path: Path, folder: Path, tags: list[str]) -> Run:
    return run([sys.executable, "-m", "benchmarks.lxml_loop", str(path), str(folder / "peer.parquet"), *tags])


def main(folder: Path, options: argparse.Namespace) -> None:
    path = dump(folder, options.gb)
    size = path.stat().st_size
    print(f"{size / 1e9:.2f} GB of plain XML, warm cache; whole commands, start and end of the process included;")
    print(f"best of 3 runs, of the peer {PEER_RUNS}")
    for name, tags, bar in (("selective", TAGS, 10), ("whole", [], 4)):
        # Turn about, and the best of each: what else the machine does slows both, and not at the same moment.
        runs, peers = [], []
        for _ in range(3):
            runs.append(ours(path, folder, tags))
            if len(peers) < PEER_RUNS:
                peers.append(peer(path, folder, tags))
        rows = runs[0].output["tables"]["posts"]["rows"]
        theirs = min(peers, key=lambda one: one.seconds)
        if rows != theirs.output["rows"]:
            raise SystemExit(f"{name}: {rows} rows here, {theirs.output['rows']} there")
        seconds = min(run_.seconds for run_ in runs)
        print(
            f"{name:10} lxml {theirs.seconds:7.2f} s ({size / 1e6 / theirs.seconds:5.0f} MB/s)   "
            f"quaestor {seconds:6.2f} s ({size / 1e6 / seconds:5.0f} MB/s)   "
            f"ratio {theirs.seconds / seconds:5.1f} ×   bar {bar} ×   {rows:,} rows"
        )


def memory(folder: Path, options: argparse.Namespace) -> None:
    """The highest resident memory of all processes together, at a size and at four times that size."""
    for name, tags in (("selective", TAGS), ("whole", [])):
        peaks = []
        for gb in (1.0, 4.0):
            path = dump(folder, gb)
            peaks.append(ours(path, folder, tags, watch=True).peak_mb)
            print(f"{name:10} {path.stat().st_size / 1e9:.2f} GB: peak {peaks[-1]:5.0f} MB, children included")
        print(f"{name:10} growth {peaks[1] / peaks[0] - 1:+.1%}   bar 600 MB and +10 %")
