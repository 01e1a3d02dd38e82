"""A study of open answers in which raters and the lead quote one respondent wherever an act takes free text."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from quaestor.base.table_files import ExportTable, write_table
from quaestor.coding.agreement import compute_round_agreement, to_json
from quaestor.coding.disagreements import break_tie, comment_on_item, settle_agreed
from quaestor.coding.model.ratings import build_practice_act
from quaestor.coding.model.records import Practice
from quaestor.coding.model.rounds import build_open_act
from quaestor.coding.model.state import RoundState
from quaestor.coding.phrases import unify_words
from quaestor.coding.rating_files import import_decisions, import_ratings, rate
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.coding.session import CodingSession, open_coding
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.study.folder import Study, open_journal, open_study
from quaestor.surveys.lifecycle import open_survey, open_surveys, review_response
from quaestor.surveys.open_answers import make_items
from tests.support.settling import settle_with_assents
from tests.support.small_survey import FORMS, NAME, answered, small_survey

MAIN, AGAIN, PRACTISED = "main", "again", "practised"
RATERS = ("rater-1", "rater-2")
FACETS = """
[facets.theme]
kind = "single"
options = ["layers", "speed"]

[facets.note]
kind = "text"
required = false

[facets.fit]
kind = "keep"

[facets.right]
kind = "confirm"

[facets.phrase]
kind = "phrase"
"""
PLANTED = {
    "superseded memo": "abibliophobia",
    "memo": "borborygmus",
    "text answer": "cattywampus",
    "reason to exclude": "doodlesack",
    "other reason to exclude": "erinaceous",
    "instead": "flibbertigibbet",
    "verb": "gardyloo",
    "object": "hobbledehoy",
    "unified word": "impignorate",
    "reason to unify": "jentacular",
    "comment": "kakorrhaphiophobia",
    "tie verb": "lollygag",
    "tie object": "macrosmatic",
    "tie comment": "nudiustertian",
    "decided verb": "oxter",
    "decided object": "pauciloquent",
    "reason of a decision": "quomodocunquize",
    "imported memo": "ratoon",
    "imported instead": "snickersnee",
    "practice answer": "tittynope",
    "practice feedback": "ulotrichous",
    "practised text": "vomitory",
    "published text": "winklepicker",
    "why a response is kept": "xertz",
}
"""By the place where it is written, a word that appears nowhere else."""


@dataclass(frozen=True)
class Quoted:
    """The study, and the respondent who is quoted."""

    study: Study
    code: str
    response: str
    others: tuple[str, ...]
    """Items of the other respondents."""

    @property
    def item(self) -> str:
        return f"{NAME}/{self.response}/hardest"


def coded_answers(folder: Path, store: str = "") -> Quoted:
    """Four open answers as the items of an open round; `store` is the address of a journal elsewhere."""
    study = small_survey(folder)
    if store:
        with study.file.open("a", encoding="utf-8") as file:
            file.write(f"\n[store]\naddress = {json.dumps(store)}\n")
    with open_surveys(open_study(folder)) as surveys:
        open_survey(surveys, NAME)
        said = {**FORMS, "words": {"q.hardest": ["layers that nobody explains"]}}
        code, gone = answered(surveys, forms=said)
        others = [answered(surveys, forms=said)[1].id for _ in range(3)]
        make_items(surveys, NAME, "hardest")
    with study.file.open("a", encoding="utf-8") as file:
        file.write(FACETS)
    study = open_study(folder)
    ingest_source(study, f"{NAME}-hardest")
    run_funnel(study)
    wanted = {"items": {"after": "open answers"}, "facets": ["theme", "note", "fit", "right", "phrase"]}
    add_round(study, {"round": MAIN, "raters": RATERS, "tie_breaker": "third", **wanted})
    open_by_name(open_study(folder), MAIN, None)
    items = tuple(f"{NAME}/{other}/hardest" for other in others)
    return Quoted(open_study(folder), code, gone.id, items)


def quoted_everywhere(folder: Path, store: str = "") -> Quoted:
    """Every kind of act that takes free text, with one of the planted words in it."""
    made = coded_answers(folder, store)
    with open_coding(made.study) as coding:
        _rate(coding, made)
        unify_words(
            coding, MAIN, "rater-1", "object", [PLANTED["object"]], PLANTED["unified word"], "hypernym",
            PLANTED["reason to unify"],
        )  # fmt: skip
        close_by_name(coding, MAIN, None)
        settle_agreed(coding, MAIN, None)
        comment_on_item(coding, MAIN, "rater-1", made.item, "theme", f"says {PLANTED['comment']}")
        tie = f"{PLANTED['tie verb']}, {PLANTED['tie object']}"
        break_tie(coding, MAIN, "third", made.item, "phrase", tie, PLANTED["tie comment"])
        phrase = f"{PLANTED['decided verb']}, {PLANTED['decided object']}"
        settle_with_assents(coding, MAIN, "lead", made.item, "phrase", phrase, "discussion", "both read it again")
        reason = PLANTED["reason of a decision"]
        settle_with_assents(coding, MAIN, "lead", made.item, "theme", "layers", "discussion", reason)
    _confirm(made)
    _practise(made)
    _bring_in(made)
    with open_surveys(made.study) as surveys:
        review_response(surveys, NAME, made.response, True, f"kept: {PLANTED['why a response is kept']}")
    return made


def _rate(coding: CodingSession, made: Quoted) -> None:
    said = {
        "theme": "layers",
        "note": f"“{PLANTED['text answer']}”",
        "fit": f"exclude: {PLANTED['reason to exclude']}",
        "right": f"no: {PLANTED['instead']}",
        "phrase": f"{PLANTED['verb']}, {PLANTED['object']}",
    }
    rate(coding, MAIN, "rater-1", made.item, said, memo=PLANTED["superseded memo"])
    rate(coding, MAIN, "rater-1", made.item, said, memo=PLANTED["memo"])
    other = {**said, "theme": "speed", "fit": f"exclude: {PLANTED['other reason to exclude']}", "right": "yes"}
    rate(coding, MAIN, "rater-2", made.item, {**other, "phrase": f"{PLANTED['verb']}, layer"})
    for number, item in enumerate(made.others):
        for rater in RATERS:
            plain = {
                "theme": "layers" if number else "speed",
                "fit": "keep",
                "right": "yes",
                "note": f"theirs {number}",
            }
            thing = "layer" if rater == "rater-1" or number else "model"
            rate(coding, MAIN, rater, item, {**plain, "phrase": f"explain, {thing}"}, memo=f"kept: theirs {number}")


def _confirm(made: Quoted) -> None:
    """A round that shows raters what the first one decided, which is recorded with its plan."""
    wanted = {"items": {"again": MAIN}, "facets": ["right"], "raters": RATERS, "confirms": [MAIN]}
    add_round(open_study(made.study.root), {"round": AGAIN, **wanted})
    open_by_name(open_study(made.study.root), AGAIN, None)


def _practise(made: Quoted) -> None:
    with open_coding(made.study) as coding:
        practice = Practice(made.item, {"note": PLANTED["practice answer"]}, feedback=PLANTED["practice feedback"])
        before = coding.state.round(MAIN).plan
        facets = tuple(facet for facet in before.facets if facet.id == "note")
        plan = replace(before, round=PRACTISED, items=made.others, facets=facets, practice=(practice,), measured="note")
        coding.act(lambda state: build_open_act(state, plan, "lead"))
        tried = {"note": PLANTED["practised text"]}
        coding.act(lambda state: build_practice_act(state, PRACTISED, "rater-1", made.item, tried)[0])


def _bring_in(made: Quoted) -> None:
    """From files that lie outside the study."""
    ratings, published = (made.study.root.with_name(f"{made.study.root.name}-{one}.csv") for one in ("again", "paper"))
    row = {"item": made.item, "rater": "rater-1", "right": f"no: {PLANTED['imported instead']}"}
    write_table(ExportTable.from_mappings("ratings", [row | {"memo": PLANTED["imported memo"]}]), ratings)
    write_table(
        ExportTable.from_mappings("ratings", [{"item": made.item, "summary": PLANTED["published text"]}]), published
    )
    with open_coding(made.study) as coding:
        import_ratings(coding, AGAIN, ratings)
        import_decisions(coding, "paper", published, "lead", "a paper")


def words_in_journal(study: Study) -> set[str]:
    """The planted words that the journal itself holds, wherever it is."""
    with open_journal(study) as journal:
        acts = " ".join(json.dumps([act.kind, act.payload], ensure_ascii=False) for act in journal.acts())
    return {word for word in PLANTED.values() if word in acts}


def words_on_disk(folder: Path) -> dict[str, set[str]]:
    """The planted words found in the bytes of a folder, by file."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file():
            held = str(pq.read_table(path).to_pylist()).encode() if path.suffix == ".parquet" else b""
            held += path.read_bytes()
            if words := {word for word in PLANTED.values() if word.encode() in held}:
                found[path.name] = words
    return found


def words_read(coding: CodingSession) -> set[str]:
    """The planted words that somebody who reads the state gets."""
    with coding.locked_state() as state:
        told = [repr(_plain(round_state)) for round_state in state.rounds.values()]
        told += [repr(state.published), repr(state.unhandled_acts)]
    return {word for word in PLANTED.values() if any(word in line for line in told)}


def _plain(one: RoundState) -> tuple[object, ...]:
    return one.plan, one.ratings, one.comments, one.tie_comments, one.decisions, one.unifications


def agreement_told(coding: CodingSession) -> str:
    """The agreement of the first round on every facet that has one, to the last bit; words of phrases are left out."""
    with coding.locked_state() as state:
        facets = ("theme", "fit", "right", "phrase")
        found = {facet: to_json(compute_round_agreement(state, MAIN, facet, seed=7)) for facet in facets}
    return json.dumps({**found, "phrase": _without_words(found["phrase"])})


def _without_words(value: Any) -> Any:
    if isinstance(value, dict):
        return [_without_words(one) for one in value.values()]
    return [_without_words(one) for one in value] if isinstance(value, list) else isinstance(value, str) or value
