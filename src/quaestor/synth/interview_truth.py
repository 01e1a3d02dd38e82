"""The truth about synthetic interviews, stored with them so that results can be compared with it."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.files import write_atomically
from quaestor.interviews.model.guide_file import parse_guide
from quaestor.interviews.model.records import Voice
from quaestor.study.templates import template_folder
from quaestor.synth.interviews import (
    InterviewPlan,
    ParticipantPlan,
    PlannedTurn,
    PlantedName,
    PlantedPassage,
    SyntheticInterview,
    generate_interviews,
    parse_plan,
)
from quaestor.synth.transcript_files import FORMATS

TRUTH_FILE = "truth.json"


@dataclass(frozen=True)
class WrittenInterview:
    """An interview that was written to a file, identified by the file's hash."""

    file: str
    format: str
    sha256: str
    interview: SyntheticInterview


@dataclass(frozen=True)
class InterviewTruth:
    """Everything that was planted, as in truth.json."""

    seed: int
    guide: str
    interviews: tuple[WrittenInterview, ...]

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(code for interview in self.interviews for code in interview.interview.codes)

    @property
    def passages(self) -> int:
        return sum(len(turn.passages) for interview in self.interviews for turn in interview.interview.turns)

    @property
    def new_codes(self) -> tuple[int, ...]:
        """The number of codes that each interview adds."""
        seen: set[str] = set()
        lines = []
        for interview in self.interviews:
            lines.append(len(interview.interview.codes - seen))
            seen |= interview.interview.codes
        return tuple(lines)

    def list_fields(self, code: str) -> list[Mapping[str, str]]:
        """Lists the fields of a code's passages, in their order."""
        turns = (turn for interview in self.interviews for turn in interview.interview.turns)
        return [passage.fields for turn in turns for passage in turn.passages if passage.code == code]

    def by_hash(self) -> dict[str, WrittenInterview]:
        """The interviews by the hash of their file."""
        return {interview.sha256: interview for interview in self.interviews}

    @property
    def words(self) -> int:
        return sum(interview.interview.words for interview in self.interviews)

    def summary(self) -> dict[str, Any]:
        """The counts, without the text."""
        return {
            "synthetic": True,
            "seed": self.seed,
            "guide": self.guide,
            "interviews": len(self.interviews),
            "words": self.words,
            "codes": sorted(self.codes),
            "stretches": self.passages,
            "new_codes": list(self.new_codes),
        }

    def as_json(self) -> dict[str, Any]:
        """The content of truth.json, in its order."""
        return {**self.summary(), "interviews": [_as_json(interview) for interview in self.interviews]}


def write_interviews(folder: Path, interviews: Iterable[SyntheticInterview], seed: int, guide: str) -> InterviewTruth:
    """Writes one file per interview, in alternating formats, and truth.json."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    names = list(FORMATS)
    for index, interview in enumerate(interviews):
        format = names[index % len(names)]
        ending, write = FORMATS[format]
        file, data = f"interview-{index + 1}{ending}", write(interview)
        write_atomically(folder / file, data)
        written.append(WrittenInterview(file, format, hashlib.sha256(data).hexdigest(), interview))
    truth = InterviewTruth(seed, guide, tuple(written))
    write_atomically(folder / TRUTH_FILE, (json.dumps(truth.as_json(), indent=1, ensure_ascii=False) + "\n").encode())
    return truth


def read_truth(path: Path) -> InterviewTruth:
    """Reads truth.json from a folder or a path."""
    path = path / TRUTH_FILE if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"{path} does not exist: name the folder that `quaestor synth interviews` wrote")
    try:
        document = json.loads(path.read_text("utf-8"))
        return InterviewTruth(
            document["seed"],
            document["guide"],
            tuple(_parse_interview(interview) for interview in document["interviews"]),
        )
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} was not written by `quaestor synth interviews`: create it again") from None


# truth.json keeps its older keys "stretches" (now passages) and "told" (now details).
_KEYS = {"passages": "stretches", "details": "told"}


def _as_json(written: WrittenInterview) -> dict[str, Any]:
    interview = written.interview
    return {
        "file": written.file,
        "format": written.format,
        "sha256": written.sha256,
        "interviewer": interview.interviewer,
        "plan": _rename_keys(asdict(interview.plan)),
        "skipped": list(interview.skipped),
        "turns": [{**_rename_keys(asdict(turn)), "words": turn.words} for turn in interview.turns],
    }


def _rename_keys(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {_KEYS.get(name, name): value for name, value in fields.items()}


def _parse_interview(entry: Mapping[str, Any]) -> WrittenInterview:
    interview = SyntheticInterview(
        _parse_plan(entry["plan"]), entry["interviewer"], tuple(map(_parse_turn, entry["turns"])),
        tuple(entry["skipped"]),
    )  # fmt: skip
    return WrittenInterview(entry["file"], entry["format"], entry["sha256"], interview)


def _parse_plan(entry: Mapping[str, Any]) -> ParticipantPlan:
    names = {kind: tuple(forms) for kind, forms in entry["names"].items()}
    details = {code: tuple(fields) for code, fields in entry["told"].items()}
    lists = {name: tuple(entry[name]) for name in ("codes", "ticks", "other")}
    plain = {name: value for name, value in entry.items() if name != "told"}
    return ParticipantPlan(**{**plain, **lists, "names": names, "details": details})


def _parse_turn(entry: Mapping[str, Any]) -> PlannedTurn:
    return PlannedTurn(
        Voice(entry["voice"]),
        tuple(entry["sentences"]),
        entry["question"],
        entry["asks"],
        tuple(PlantedPassage(**passage) for passage in entry["stretches"]),
        tuple(PlantedName(**name) for name in entry["names"]),
    )


STUDY = "dl-framework-interviews"


def read_interview_plan(study: str) -> InterviewPlan:
    """Reads the interview plan of a bundled study."""
    described = template_folder(study) / "synthetic.toml"
    table = tomllib.loads(described.read_text("utf-8")).get("interviews") if described.exists() else None
    if table is None:
        raise InputError(f"the bundled study {study!r} has no plan for synthetic interviews: use {STUDY!r}")
    return parse_plan(table, f"synthetic.toml of {study}")


def synthesise_interviews(
    folder: Path, *, seed: int, interviews: int | None = None, words: int | None = None, like: str = STUDY
) -> InterviewTruth:
    """Writes synthetic interviews in alternating formats, and truth.json."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} already exists and is not empty: name a new folder")
    plan = read_interview_plan(like)
    text = (template_folder(like) / "instruments" / f"{plan.guide}.md").read_text("utf-8-sig")
    guide = parse_guide(text, plan.guide)
    return write_interviews(
        folder, generate_interviews(guide, plan, seed=seed, interviews=interviews, words=words), seed, plan.guide
    )
