"""The demo's three strands: the survey and the interviews join the posts, and one list of topics compares them."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import tomlkit

from quaestor.base.names import strip_strand
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.records import Facet
from quaestor.coding.round_acts import close_by_name, open_round
from quaestor.coding.session import CodingSession
from quaestor.demo.interviews import TRANSCRIPTS
from quaestor.demo.progress import ProgressReporter
from quaestor.demo.survey import SURVEY
from quaestor.evidence.funnel import run_funnel
from quaestor.interviews.repository import open_interviews
from quaestor.study.folder import append_tables
from quaestor.study.templates import template_folder
from quaestor.surveys.lifecycle import Surveys, answers_path
from quaestor.surveys.open_answers import list_open_answers
from quaestor.surveys.store.answers import AnswerFile
from quaestor.synth.interview_truth import STUDY as INTERVIEW_STUDY
from quaestor.synth.interview_truth import read_truth
from quaestor.synth.simulated_interviews import find_planted_passages
from quaestor.synth.simulated_raters import (
    TrueAnswer,
    find_true_answer,
    read_planted_truth,
    simulate_ratings,
    simulate_settling,
)

TOPIC_STUDY = "dl-frameworks-mixed"
ANSWER_ROUND = "answers-topics"
TOPIC_ROUNDS = {"posts-topics": "posts", ANSWER_ROUND: "open answers", "turns-topics": "turns"}
"""The rounds of the joint display, with what each rates."""
_PREFIX = "topic-"
"""Distinguishes the codes of topics from those of phases, which have the same names."""
_ACCURACY = 0.93


def add_strands(folder: Path) -> None:
    """Adds the survey and the interviews to a new study on posts: instruments, sources, rounds and codes."""
    instruments = folder / "instruments"
    instruments.mkdir(exist_ok=True)
    for name in ("guide.md", "agreement.md"):
        shutil.copyfile(template_folder(INTERVIEW_STUDY) / "instruments" / name, instruments / name)
    file = folder / "study.toml"
    text = file.read_text("utf-8").replace("[funnel]\n", '[funnel]\ntitle = "Posts"\n', 1)
    file.write_text(append_tables(text, _read_data("strands.toml")), "utf-8")
    codebook = folder / CODEBOOK_FILE
    themes, topics = (_read_codes(study) for study in (INTERVIEW_STUDY, TOPIC_STUDY))
    for code in topics["code"]:
        code["id"] = f"{_PREFIX}{code['id']}"
    added = tomlkit.dumps({name: [*themes[name], *topics[name]] for name in ("facet", "code")})
    about = f"# Themes of interviews, from {INTERVIEW_STUDY}, and topics of all strands, from {TOPIC_STUDY}.\n\n"
    codebook.write_text(f"{codebook.read_text('utf-8')}\n{about}{added}", "utf-8")


def _read_codes(study: str) -> dict[str, Any]:
    return tomllib.loads((template_folder(study) / CODEBOOK_FILE).read_text("utf-8"))


def _read_data(name: str) -> str:
    return resources.files("quaestor.demo").joinpath(name).read_text("utf-8")


def open_answer_round(coding: CodingSession) -> None:
    """Opens the round on open answers before anybody can answer the survey, so that all its items are synthetic."""
    run_funnel(coding.study.in_strand("answers"))
    open_round(coding, ANSWER_ROUND, coding.lead)


def code_topics(coding: CodingSession, seed: int, reporter: ProgressReporter) -> None:
    """Codes some posts, all open answers and some turns under the same topics, each by two simulated raters."""
    reporter.begin("topics")
    topics = _read_topics(coding)
    counts = []
    for name, items in TOPIC_ROUNDS.items():
        if name != ANSWER_ROUND:
            open_round(coding, name, coding.lead)
        planted = _find_planted(coding, name, topics)
        simulate_ratings(coding, name, accuracy=_ACCURACY, confusion=0.5, seed=seed, planted=planted)
        close_by_name(coding, name, None)
        simulate_settling(coding, name, seed=seed, planted=planted)
        counts.append(f"{len(coding.state.round(name).plan.items)} {items}")
    reporter.say(f"Topics in {', '.join(counts[:-1])} and {counts[-1]}: the joint display compares the three strands")


def _read_topics(coding: CodingSession) -> dict[str, list[str]]:
    """Returns the topics that are planted in each open answer and turn; an item without a topic has an empty list."""
    planted: Mapping[str, Mapping[str, list[str]]] = tomllib.loads(_read_data("topics.toml"))
    with AnswerFile(answers_path(coding.study)) as answers:
        texts = list_open_answers(Surveys(coding, answers), SURVEY)
    topics = {answer.item: planted["answers"].get(answer.text, []) for answer in texts}
    truth = read_truth(coding.study.root / TRANSCRIPTS)
    with open_interviews(coding) as interviews:
        for item, (_, passages) in find_planted_passages(interviews, truth).items():
            codes = {topic for passage in passages for topic in planted["themes"].get(passage.code, [])}
            topics[strip_strand(item)] = sorted(codes)
    return {item: [f"{_PREFIX}{topic}" for topic in names] for item, names in topics.items()}


def _find_planted(coding: CodingSession, name: str, topics: Mapping[str, list[str]]) -> TrueAnswer:
    """Returns a function that finds the planted topics of an item; the topic of a post is its planted phase."""
    round_state, truth = coding.state.round(name), read_planted_truth(coding.study.root)

    def find_answer(facet: Facet, item: str) -> Any:
        if facet.kind == "single":
            return f"{_PREFIX}{find_true_answer(round_state, facet, item, truth)}"
        return topics[strip_strand(item)] or None

    return find_answer
