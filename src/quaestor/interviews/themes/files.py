"""Interview results as files and as JSON, with the same numbers as on the page and in the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.files import write_atomically
from quaestor.base.names import join_with_or, sort_by_similarity
from quaestor.interviews.names.remaining import refuse_names_in
from quaestor.interviews.repository import Interviews
from quaestor.interviews.themes.cells import build_interview_tables
from quaestor.interviews.themes.co_occurrence import compute_saturation, describe_stop, find_pairs
from quaestor.interviews.themes.figures import draw_figures
from quaestor.interviews.themes.quotations import guard_groups
from quaestor.interviews.themes.records import InterviewThemes, Quotation, Reference, count_mentions
from quaestor.measures.co_occurrence import participant_shares
from quaestor.render.figures.export import write_figure
from quaestor.render.tables.files import write_table


def write_themes(interviews: Interviews, themes: InterviewThemes, folder: Path, by: str = "") -> list[Path]:
    """Writes tables, figures and `themes.json` to a folder; raises StateError while a known name is left.

    Files leave the study, so small groups of participants are one, also in the table by the attribute `by`.
    """
    refuse_names_in(interviews)
    guarded = guard_groups(interviews, themes)
    if by and by not in themes.compared:
        guarded = replace(guarded, compared=(*themes.compared, by))
    folder.mkdir(parents=True, exist_ok=True)
    written = [path for table in build_interview_tables(guarded) for path in write_table(table, folder / "tables")]
    written += [path for figure in draw_figures(themes) for path in write_figure(figure, folder / "figures")]
    whole = folder / "themes.json"
    document = {**themes_json(themes), "quotations": [quotation_json(quotation) for quotation in themes.quotations]}
    write_atomically(whole, (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode())
    return [*written, whole]


def themes_json(themes: InterviewThemes) -> dict[str, Any]:
    """Returns codes with participants and mentions, co-occurrence, and saturation."""
    counts = count_mentions(themes)
    shares = participant_shares(counts)
    codes = [
        {
            "code": code.id,
            "name": code.name,
            "theme": code.theme,
            "participants": share.count,
            "of": share.of,
            "share": share.value,
            "low": share.low,
            "high": share.high,
            "mentions": dict(zip(themes.participants, row, strict=True)),
        }
        for code, share, row in zip(themes.codes, shares, counts.tolist(), strict=True)
    ]
    together = [
        {
            "codes": [pair.first.id, pair.second.id],
            "turns": len(pair.turns),
            "turns_jaccard": pair.by_turn,
            "answers": len(pair.answers),
            "answers_jaccard": pair.by_answer,
            "characters": pair.characters,
            "characters_jaccard": pair.on_words,
        }
        for pair in find_pairs(themes)
    ]
    return {
        "rounds": list(themes.rounds),
        "participants": list(themes.participants),
        "interviews": [name for name, _ in themes.interviews],
        "codes": codes,
        "unused": list(themes.unused),
        "undecided": list(themes.undecided),
        "together": together,
        "references": [_reference_json(reference) for reference in themes.references],
        "saturation": saturation_json(themes),
        "unsettled": themes.unsettled,
        "uncounted": [{"reason": turns.reason, "turns": dict(turns.turns)} for turns in themes.uncounted],
        "missing": list(themes.missing),
        "declined": themes.declined,
        "uncoded": themes.uncoded,
        "in_vivo": themes.in_vivo,
        "withdrawn": themes.withdrawn,
        "simulated": themes.simulated,
        "blindness": list(themes.blindness),
        "synthetic": themes.synthetic,
    }


def _reference_json(reference: Reference) -> dict[str, Any]:
    content = asdict(reference)
    return {"asked" if name == "asked_participants" else name: value for name, value in content.items()}


def saturation_json(themes: InterviewThemes) -> dict[str, Any]:
    saturation = compute_saturation(themes)
    people = dict(themes.interviews)
    curve = zip(
        themes.events,
        saturation.new,
        saturation.total,
        saturation.expected,
        saturation.low,
        saturation.high,
        strict=True,
    )
    names = ("new", "total", "expected", "low", "high")
    return {
        "interviews": [
            {
                "interview": event[0],
                "participant": people[event[0]],
                "interviews": list(event),
                **dict(zip(names, numbers, strict=True)),
            }
            for event, *numbers in curve
        ],
        "order": "pseudonym" if themes.undated else "held",
        "undated": list(themes.undated),
        "rules": [
            {
                **asdict(stop.rule),
                "reached": stop.reached,
                "lapsed": stop.lapsed,
                "shares": list(stop.shares),
                "words": describe_stop(stop),
            }
            for stop in saturation.stops
        ],
    }


def quotation_json(quotation: Quotation) -> dict[str, Any]:
    return {
        "id": quotation.id,
        "item": quotation.item,
        "participant": quotation.participant,
        "interview": quotation.interview,
        "code": quotation.code,
        "question": quotation.question,
        "asked": quotation.question_text,
        "words": quotation.words,
        "before": quotation.before,
        "after": quotation.after,
        "earlier": asdict(quotation.earlier) if quotation.earlier else None,
        "later": asdict(quotation.later) if quotation.later else None,
        "fields": dict(quotation.fields),
        "memo": quotation.memo,
        "raters": quotation.raters,
    }


def find_quotations(themes: InterviewThemes, code: str) -> tuple[str, list[Quotation]]:
    """Returns the name of a code or theme, and its quotations."""
    names = {code.theme: code.theme_name for code in themes.codes} | {code.id: code.path for code in themes.codes}
    if code not in names:
        raise InputError(
            f"no quotation has the code {code!r}; codes with quotations: {_list_similar(code, list(names))}"
        )
    return names[code], themes.of(code)


def _list_similar(code: str, names: Sequence[str]) -> str:
    sort = sort_by_similarity(code, names)
    return (join_with_or(sort[:6]) or "none yet") + (" …" if len(sort) > 6 else "")
