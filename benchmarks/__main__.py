"""`make bench`: every number the project claims about speed and memory, made here in one run.

make bench                                 everything (about twenty minutes)
make bench BENCH_ARGS="ingest --gb 1"      one part
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

from benchmarks import (
    agreement,
    archives,
    coding,
    desk,
    desk_peers,
    desk_shares,
    funnel,
    handbook,
    ingest,
    interviews,
    journal,
    measures,
    pages,
    phrases,
    report,
    survey,
)

PARTS = {
    "ingest": ingest.main,
    "memory": ingest.memory,
    "archives": archives.main,
    "funnel": funnel.main,
    "phrases": phrases.main,
    "agreement": agreement.main,
    "journal": journal.main,
    "coding": coding.main,
    "desk": desk.main,
    "desk-peers": desk_peers.main,
    "desk-shares": desk_shares.main,
    "pages": pages.main,
    "survey": survey.main,
    "interviews": interviews.main,
    "handbook": handbook.main,
    "measures": measures.main,
    "report": report.main,
}
FOLDER = Path(".bench")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="default: all")
    parser.add_argument("--gb", type=float, default=4.0, help="size of the dump raced on (at least 1 for a claim)")
    parser.add_argument("--questions", type=int, default=5_000_000, help="questions in the funnel")
    parser.add_argument("--clean", action="store_true", help="remove the data made for the race afterwards")
    options = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for name in options.parts or PARTS:
        print(f"\n== {name}")
        PARTS[name](FOLDER, options)
    if options.clean:
        shutil.rmtree(FOLDER)


if __name__ == "__main__":
    sys.exit(main())
