"""The report of the demo study: 2,401 decided items, every table in five formats, every figure in three.

Built from scratch, and again after one decision. The second is compared with a full build of the same study, in time
and byte by byte.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import statistics
import sys
from pathlib import Path

from benchmarks.measure import Run, run
from quaestor.coding.disagreements import settle_item
from quaestor.coding.model.decisions import list_disagreements
from quaestor.coding.session import open_coding
from quaestor.demo.run import build_demo
from quaestor.study.folder import open_study

SCRATCH_BAR, REBUILD_BAR, ROUNDS = 5.0, 2.0, 3
ROUND, FACET = "phases", "phase"
RECORDS = Path("evidence") / "made"
"""What a build leaves for the next one, in addition to the report itself."""


def main(folder: Path, options: argparse.Namespace) -> None:
    study = folder / "report"
    if not (study / "published" / "report" / "index.html").exists():
        print("making the demo study, once")
        build_demo(study, 7, lambda event: None)
    command = [str(Path(sys.executable).with_name("quaestor")), "report", "--study", str(study), "--json"]
    fresh, again, same = [], [], True
    for number in range(ROUNDS):
        _forget_builds(study)
        run(command)
        _decide(study, number)
        again.append(run(command))
        after_decision = _digest(study)
        _forget_builds(study)
        fresh.append(run(command))
        same &= _digest(study) == after_decision
    watched = run(command, watch=True)
    output = fresh[0].output
    scratch, rebuild = _median(fresh), _median(again)
    what = f"report of {output['tables']} tables and {output['figures']} figures, median of {ROUNDS}"
    print(f"| {what} | seconds | bar |")
    print("| --- | --- | --- |")
    print(f"| from scratch | {scratch:.1f} | {SCRATCH_BAR:.0f} s |")
    print(f"| after one decision | {rebuild:.1f} | {REBUILD_BAR:.0f} s |")
    print(f"A rebuild takes {rebuild / scratch:.0%} of a full build; peak {watched.peak_mb:.0f} MB.")
    print("The files are those of a full build." if same else "THE FILES DIFFER from those of a full build.")


def _median(runs: list[Run]) -> float:
    return statistics.median(one_run.seconds for one_run in runs)


def _forget_builds(study: Path) -> None:
    for path in (study / "published" / "report", study / RECORDS):
        shutil.rmtree(path, ignore_errors=True)


def _decide(study: Path, number: int) -> None:
    """Gives one item another phase, as a tie-breaker does after reading it again."""
    with open_coding(open_study(study)) as coding:
        case = list_disagreements(coding.state, ROUND)[number]
        tie_breaker = coding.state.round(ROUND).plan.tie_breaker
        decisions = coding.state.round(ROUND).last_decisions(FACET)
        phases = sorted({str(decision.answer) for decision in decisions.values()})
        answer = next(phase for phase in phases if phase != decisions[case.item].answer)
        settle_item(coding, ROUND, tie_breaker, case.item, FACET, answer, "tie-breaker", "seen again")


def _digest(study: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted((study / "published" / "report").rglob("*")):
        if path.is_file():
            digest.update(path.relative_to(study).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()
