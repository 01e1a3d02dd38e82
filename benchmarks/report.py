"""The whole report of the demo study: 2,401 decided items, every table in five formats, every figure in three."""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
from pathlib import Path

from benchmarks.measure import run
from quaestor.demo.run import build_demo

BAR, ROUNDS = 15.0, 3


def main(folder: Path, options: argparse.Namespace) -> None:
    study = folder / "report"
    if not (study / "published" / "report" / "index.html").exists():
        print("making the demo study, once")
        build_demo(study, 7, lambda event: None)
    command = [str(Path(sys.executable).with_name("quaestor")), "report", "--study", str(study), "--json"]
    before = _digest(study)
    runs = [run(command) for _ in range(ROUNDS)]
    watched = run(command, watch=True)
    told = runs[0].output
    seconds = statistics.median(run_.seconds for run_ in runs)
    print(f"| report of {told['tables']} tables and {told['figures']} figures | seconds | peak MB | bar |")
    print("| --- | --- | --- | --- |")
    print(f"| median of {ROUNDS} | {seconds:.1f} | {watched.peak_mb:.0f} | {BAR:.0f} s |")
    print("The files are the same each time." if _digest(study) == before else "THE FILES DIFFER between builds.")


def _digest(study: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted((study / "published" / "report").rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
