"""What synthetic interviews are known to hold, kept beside them so that whatever comes out can be compared."""

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
from quaestor.interviews.model.guide_file import guide_from
from quaestor.interviews.model.records import Voice
from quaestor.study.templates import template_folder
from quaestor.synth.interview_plan import InterviewPlan, ParticipantPlan, parse_plan
from quaestor.synth.interviews import PlantedName, PlantedPassage, PlannedTurn, SyntheticInterview, generate_interviews
from quaestor.synth.transcript_files import FORMATS

TRUTH_FILE = "truth.json"


@dataclass(frozen=True)
class WrittenInterview:
    """An interview that was written to a file, which is known again by its bytes."""

    file: str
    format: str
    sha256: str
    interview: SyntheticInterview


@dataclass(frozen=True)
class InterviewTruth:
    """All that was planted, the same as in truth.json."""

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
        """How many codes each interview has that none before it had."""
        seen: set[str] = set()
        lines = []
        for interview in self.interviews:
            lines.append(len(interview.interview.codes - seen))
            seen |= interview.interview.codes
        return tuple(lines)

    def list_fields(self, code: str) -> list[Mapping[str, str]]:
        """What was said of a code that asks for more, in the order in which it was said."""
        turns = (turn for interview in self.interviews for turn in interview.interview.turns)
        return [passage.fields for turn in turns for passage in turn.passages if passage.code == code]

    def by_hash(self) -> dict[str, WrittenInterview]:
        """Interviews by the bytes of their files."""
        return {interview.sha256: interview for interview in self.interviews}

    @property
    def words(self) -> int:
        return sum(interview.interview.words for interview in self.interviews)

    def summary(self) -> dict[str, Any]:
        """The counts, without what was said."""
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
        """All of it, in the order in which truth.json shows it."""
        return {**self.summary(), "interviews": [_told(interview) for interview in self.interviews]}


def write_interviews(folder: Path, talks: Iterable[SyntheticInterview], seed: int, guide: str) -> InterviewTruth:
    """A file an interview, each in another format, and the truth beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    names = list(FORMATS)
    for place, talk in enumerate(talks):
        format = names[place % len(names)]
        ending, write = FORMATS[format]
        file, data = f"interview-{place + 1}{ending}", write(talk)
        write_atomically(folder / file, data)
        written.append(WrittenInterview(file, format, hashlib.sha256(data).hexdigest(), talk))
    truth = InterviewTruth(seed, guide, tuple(written))
    write_atomically(folder / TRUTH_FILE, (json.dumps(truth.as_json(), indent=1, ensure_ascii=False) + "\n").encode())
    return truth


def read_truth(path: Path) -> InterviewTruth:
    """The truth as its file has it."""
    path = path / TRUTH_FILE if path.is_dir() else path
    if not path.is_file():
        raise InputError(f"{path} does not exist: name the folder that `quaestor synth interviews` wrote")
    try:
        document = json.loads(path.read_text("utf-8"))
        return InterviewTruth(
            document["seed"], document["guide"], tuple(_written(interview) for interview in document["interviews"])
        )
    except (ValueError, KeyError, TypeError):
        raise InputError(f"{path} is not what `quaestor synth interviews` writes: make it anew") from None


def _told(written_talk: WrittenInterview) -> dict[str, Any]:
    turns = [{**asdict(turn), "words": turn.words} for turn in written_talk.interview.turns]
    about = {
        "file": written_talk.file,
        "format": written_talk.format,
        "sha256": written_talk.sha256,
        "interviewer": written_talk.interview.interviewer,
    }
    return {
        **about,
        "plan": asdict(written_talk.interview.plan),
        "skipped": list(written_talk.interview.skipped),
        "turns": turns,
    }


def _written(plan: Mapping[str, Any]) -> WrittenInterview:
    talk = SyntheticInterview(
        _plan(plan["plan"]), plan["interviewer"], tuple(map(_turn, plan["turns"])), tuple(plan["skipped"])
    )
    return WrittenInterview(plan["file"], plan["format"], plan["sha256"], talk)


def _plan(said: Mapping[str, Any]) -> ParticipantPlan:
    names = {kind: tuple(forms) for kind, forms in said["names"].items()}
    told = {code: tuple(one) for code, one in said["told"].items()}
    lists = {name: tuple(said[name]) for name in ("codes", "ticks", "other")}
    return ParticipantPlan(**{**said, **lists, "names": names, "told": told})


def _turn(said: Mapping[str, Any]) -> PlannedTurn:
    return PlannedTurn(
        Voice(said["voice"]),
        tuple(said["sentences"]),
        said["question"],
        said["asks"],
        tuple(PlantedPassage(**one) for one in said["stretches"]),
        tuple(PlantedName(**one) for one in said["names"]),
    )


STUDY = "dl-framework-interviews"


def read_interview_plan(study: str) -> InterviewPlan:
    """What a bundled study plants in its interviews."""
    described = template_folder(study) / "synthetic.toml"
    said = tomllib.loads(described.read_text("utf-8")).get("interviews") if described.exists() else None
    if said is None:
        raise InputError(f"the bundled study {study!r} does not say what to plant in interviews: take {STUDY!r}")
    return parse_plan(said, f"synthetic.toml of {study}")


def synthesise_interviews(
    folder: Path, *, seed: int, interviews: int | None = None, words: int | None = None, like: str = STUDY
) -> InterviewTruth:
    """Write interviews as files, each in another format, and truth.json beside them."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is already there and not empty: name a new folder")
    plan = read_interview_plan(like)
    text = (template_folder(like) / "instruments" / f"{plan.guide}.md").read_text("utf-8-sig")
    guide = guide_from(text, plan.guide)
    return write_interviews(
        folder, generate_interviews(guide, plan, seed=seed, interviews=interviews, words=words), seed, plan.guide
    )
