"""What a rater reads: the texts of items, wherever the funnel has since put them."""

from __future__ import annotations

from collections.abc import Sequence

from quaestor.base.names import is_storable
from quaestor.corpus.engine import engine
from quaestor.corpus.questions import read_answers, read_questions
from quaestor.corpus.records import Example
from quaestor.study.folder import Study
from quaestor.study.funnel import FELL, SHOWN, example_of, number_of


def accepted_answer(study: Study, item: str) -> str:
    """The accepted answer to a question, where the source has answers."""
    number = item.rpartition("/")[2]
    with engine(study.funnel_folder) as connection:
        evidence = study.evidence_of(study.funnel_source())
        answers = read_answers(connection, evidence)
        if answers is None or not number.isdigit():
            return ""
        questions = read_questions(connection, evidence)
        if "accepted_answer_id" not in questions.columns:
            return ""
        asked = questions.filter(questions.id == int(number)).select(_accepted=questions.accepted_answer_id)
        rows = answers.join(asked, answers.id == asked._accepted).select("body").to_pyarrow().to_pylist()
    return str(rows[0]["body"] or "") if rows else ""


def texts_of(study: Study, items: Sequence[str]) -> dict[str, Example]:
    """The items by id; an id that evidence does not hold is missing."""
    items = [item for item in items if is_storable(item)]
    if not items or not (study.funnel_folder / FELL).exists():  # the last of those who spoke may have withdrawn
        return {}
    with engine(study.funnel_folder) as connection:
        fell = connection.read_parquet(str(study.funnel_folder / FELL))
        chosen = fell.filter(fell.item.isin(items))
        questions = read_questions(connection, study.evidence_of(study.funnel_source()))
        shown = [name for name in SHOWN if name in questions.columns and name != "id"]
        texts = questions.select(*shown, _key=number_of(questions))
        rows = chosen.join(texts, chosen.id == texts._key).select("item", *shown).to_pyarrow().to_pylist()
    return {row["item"]: example_of(row["item"], row, study) for row in rows}
