"""Small folders of printed figures and small files of labelled posts, for tests of the audit."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from quaestor.study.folder import Study, open_study
from quaestor.study.templates import template_folder

BUNDLED = "dl-implementation-issues"
COUNTS = """
[[tables]]
table = "1"
file = "counts.csv"
row = "code"
group = "phase"
total_in = "object"
columns = ["tensorflow", "pytorch", "total"]
sum_of = ["tensorflow", "pytorch"]
sum_to = "total"
"""
COUNTS_FILE = """phase,code,object,tensorflow,pytorch,total
Training,T1,Loss,6,2,8
Training,T2,Batch,3,1,4
Training,T,(total),9,3,12
Setting,M1,Layer,5,4,9
Setting,M2,Model,2,2,4
Setting,M,(total),7,6,13
,all,(total),16,9,25
"""


def printed_study(folder: Path, settings: str, files: Mapping[str, str]) -> Study:
    """A study that has printed figures and nothing else."""
    (folder / "printed").mkdir(parents=True, exist_ok=True)
    (folder / "study.toml").write_text('[study]\nname = "printed"\nseed = 1\n', "utf-8")
    (folder / "printed" / "printed.toml").write_text(settings, "utf-8")
    for name, text in files.items():
        (folder / "printed" / name).write_text(text, "utf-8")
    return open_study(folder)


def bundled_copy(folder: Path) -> Study:
    """The bundled study, to change its printed figures."""
    shutil.copytree(template_folder(BUNDLED), folder)
    return open_study(folder)


def change(path: Path, old: str, new: str) -> None:
    """Change one place of a file, and no other."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1, (path.name, old, text.count(old))
    path.write_text(text.replace(old, new), "utf-8")


HEADER = "title,tags,id,viewcount,score,question_created,answer_created,label"


def write_labelled(path: Path, labels: Iterable[tuple[str, str]]) -> Path:
    """Posts with a framework and a label each; numbers 1, 2, … are their ids, their views and the hours they waited."""
    rows = [HEADER]
    asked = datetime(2018, 3, 1, 10)
    for number, (framework, label) in enumerate(labels, start=1):
        times = f"{asked.isoformat()},{(asked + timedelta(hours=number)).isoformat()}"
        rows.append(f'how to do thing {number},"<python>, <{framework}>",{number},{number},1,{times},"{label}"')
    path.write_text("\n".join([*rows, ""]), "utf-8")
    return path


# Objects that the labels still have in model setting; the moves bring them where they are printed.
_LABELLED_ELSEWHERE = {"T8": "m", "T9": "m", "T15": "m", "T18": "m", "D10": "m"}


def labels_as_printed() -> Iterator[tuple[str, str]]:
    """As many labelled posts as table 3 of the bundled study prints, so that replicating them gives it to the cell."""
    path = template_folder(BUNDLED) / "printed" / "table03-taxonomy.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["object"] != "(total)":
                phase = _LABELLED_ELSEWHERE.get(row["code"], row["code"][0].lower())
                for framework in ("tensorflow", "pytorch", "theano"):
                    yield from [(framework, f"get,{row['object'].lower()},{phase}")] * int(row[framework])
