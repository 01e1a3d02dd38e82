"""A study whose six interviews were coded and settled: themes, indicators, defects, ticks at the desk, all planted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quaestor.coding.codebook import import_codebook
from quaestor.coding.disagreements import settle_agreed
from quaestor.coding.round_acts import close_by_name, open_by_name
from quaestor.coding.round_setup import add_round
from quaestor.evidence.funnel import run_funnel
from quaestor.evidence.ingest import ingest_source
from quaestor.interviews.conduct.acts import Stamp, mark_question, move_clock, tick_item
from quaestor.interviews.items import SOURCE, STEP, make_items
from quaestor.interviews.repository import Interviews, open_interviews
from quaestor.study.folder import Study, open_study
from tests.support.coded_interviews import ROUND, code_all
from tests.support.small_interviews import SMALL, a_study, with_interview, with_transcript

FACET = """
[facets.themes]
kind = "stretches"
question = "What is talked about here?"
codes = "themes"

[facets.themes.fields]
indicator = ["what", "threshold"]
crash = ["importance", "case"]
slow = ["importance", "case"]
"""
_CODES = (
    ("factors", "", "Factors weighed"),
    ("data", "factors", "data"),
    ("time", "factors", "training time"),
    ("other-factor", "factors", "another factor"),
    ("legitimacy", "", "Legitimacy"),
    ("shapes", "legitimacy", "shapes that do not match"),
    ("indicator", "legitimacy", "indicator"),
    ("defects", "", "Defects"),
    ("crash", "defects", "crash"),
    ("slow", "defects", "slowness"),
    ("measures", "", "Measures"),
    ("pin", "measures", "pinning a version"),
    ("report", "measures", "reporting it"),
)
CODEBOOK = 'name = "talks"\n[[facet]]\nid = "themes"\nlevels = ["theme", "code"]\n' + "".join(
    f'[[code]]\nid = "{code}"\nfacet = "themes"\nparent = "{parent}"\nname = "{name}"\n'
    for code, parent, name in _CODES
)
GUIDE = SMALL.replace(
    "# Thanks {#thanks",
    "# Defects {#faults minutes=0}\n## What goes wrong with frameworks? {#wrong research=practice}\n\n"
    "# Thanks {#thanks",
)
ASKED = ("Which factors do you weigh?", "When do you call a model illegal?", "What goes wrong with frameworks?")
MATCHED = {0: "factors", 2: "illegal", 4: "wrong"}
ANSWERS = (
    (
        "{data:The size of the data}, and {time:how long it trains}.",
        "{shapes:When shapes do not match.} Or {indicator|what=loss;threshold=10:the loss is above 10 after an epoch}.",
        "It {crash|importance=high;case=export:crashed on export}, so {pin:we pinned the version}.",
    ),
    (
        "Mostly {data:the data we have}.",
        "{indicator|what=gradient;threshold=no number:A gradient that is not a number}.",
        "{slow|importance=low;case=compile:Compiling takes minutes} 🙂, {report:I told them}.",
    ),
    ("{time:Days of waiting}.", "{shapes:Shapes.}", "{crash|importance=High:A crash at night}."),
    ("{data:Data}, {data:and again the data}.", "I could not say.", "{crash:Crashes} are {slow:slow to find}."),
    ("{time:Time}.", "{shapes:{indicator|what=loss;threshold=5:Loss over 5} or shapes.}", "Nothing comes to mind."),
    ("Who has to keep it: {other-factor:the people}.", "{shapes:Shapes again.}", "{pin:We stay on one version.}"),
)
_OPEN = re.compile(r"\{([a-z-]+)(?:\|([^:{}]*))?:")


def marked(text: str) -> tuple[str, list[dict[str, Any]]]:
    """`{code|field=words:what was said}` as the words alone, and the stretches in them; they may lie in each other."""
    words, open_, found = "", [], []
    place = 0
    while place < len(text):
        if begins := _OPEN.match(text, place):
            fields = dict(pair.split("=", 1) for pair in (begins[2] or "").split(";") if pair)
            open_.append((begins[1], fields, len(words)))
            place = begins.end()
        elif text[place] == "}":
            code, fields, start = open_.pop()
            more = {"fields": fields} if fields else {}
            found.append({"start": start, "end": len(words), "code": code, **more})
            place += 1
        else:
            words += text[place]
            place += 1
    return words, sorted(found, key=lambda one: (one["start"], one["end"]))


def themed_study(
    folder: Path,
    answers: Sequence[Sequence[str]] = ANSWERS,
    *,
    settled: bool = True,
    held_here: bool = True,
    rated: bool = True,
    **more: Any,
) -> Study:
    """The study; its two raters coded the same, so that all is decided. Four of the conversations were held here.

    `more` goes into the round.
    """
    a_study(folder, GUIDE, FACET)
    (folder / "codebook.toml").write_text(CODEBOOK, "utf-8")
    said = {}
    with open_interviews(open_study(folder)) as interviews:
        for answer in answers:
            name = with_interview(interviews).id
            told = [marked(one) for one in answer]
            turns = [line for question, (words, _) in zip(ASKED, told, strict=True)
                     for line in (("Interviewer", question), ("Guest", words))]  # fmt: skip
            with_transcript(interviews, name, turns, dict(MATCHED))
            said |= {f"{name}/{2 * at + 1:05d}": stretches for at, (_, stretches) in enumerate(told)}
        make_items(interviews)
        if held_here:
            _talked(interviews)
    study = open_study(folder)
    ingest_source(study, SOURCE)
    run_funnel(study)
    raters = ["rater-1", "rater-2"]
    add_round(study, {"round": ROUND, "items": {"after": STEP}, "facets": ["themes"], "raters": raters, **more})
    study = open_study(folder)
    import_codebook(study)
    open_by_name(study, ROUND, None)
    if rated:
        code_all(study, {"rater-1": said, "rater-2": said})
    if settled:
        close_by_name(study, ROUND, None)
        settle_agreed(study, ROUND, None)
    return study


def _talked(interviews: Interviews) -> None:
    """P1 ticks both items, P2 one of them, P3 names two others, P4 none."""
    for name, items, others in (
        ("P1", ("data", "time"), ()), ("P2", ("data",), ()), ("P3", (), ("Cost", "fun")), ("P4", (), ("cost ",))
    ):  # fmt: skip
        if name not in {interview.id for interview in interviews.interviews()}:
            continue
        stamp = Stamp(interviews.coding.lead)
        move_clock(interviews, name, stamp, "start")
        mark_question(interviews, name, stamp, "factors", "asked")
        for item in items:
            tick_item(interviews, name, stamp, "factors", item)
        for words in others:
            tick_item(interviews, name, stamp, "factors", "", words)
