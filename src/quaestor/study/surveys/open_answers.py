"""What people wrote in their own words, as items that raters can code in rounds like posts."""

from __future__ import annotations

import csv
import html
import io
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from quaestor.base.errors import InputError, SettingsError, StateError
from quaestor.base.files import sole_user, write_whole
from quaestor.base.names import listed, nearest_first
from quaestor.base.toml_text import toml_key, toml_value
from quaestor.instruments.records import CHOSEN, Kind, Question, Questionnaire, Response, Standing
from quaestor.study.coding import require_lead
from quaestor.study.folder import Study, open_study
from quaestor.study.settings import StudySettings, explain
from quaestor.study.surveys.fielding import Surveys

FOLDER = "evidence/open-answers"
"""Generated, and so among what git does not keep: these are people's own words."""
_COLUMNS = ("id", "response", "question", "part", "title", "body")
_WORDED = (Kind.TEXT, Kind.LONG_TEXT)


@dataclass(frozen=True)
class OpenAnswer:
    """Words of one respondent to one question; the response's id is random, and nothing else says who it was."""

    response: str
    question: str
    part: str
    """The option or row the words belong to; empty where they are the whole answer."""
    title: str
    text: str
    survey: str

    @property
    def item(self) -> str:
        place = f"{self.question}.{self.part}" if self.part else self.question
        return f"{self.survey}/{self.response}/{place}"


@dataclass(frozen=True)
class ItemsMade:
    """Open answers written as the input of a source, and what stands in the study file for it."""

    source: str
    path: Path
    items: int
    participants: int
    block: str
    """The source, and the funnel that lets everything through, as study.toml says it."""
    added: bool
    """Whether the block was put into study.toml now."""
    by_hand: bool
    """Whether the lead has to put it there: the study has a funnel already, and only a person can say what it reads."""


def response_of(item: str) -> str:
    """The response that an item comes from."""
    parts = item.split("/")
    if len(parts) != 3:
        raise InputError(f"{item!r} is no open answer of a survey: it would be SURVEY/RESPONSE/QUESTION")
    return parts[1]


def open_answers(surveys: Surveys, name: str, question: str) -> list[OpenAnswer]:
    """All that respondents wrote to a question, "other" texts too: of finished responses that were not left out."""
    decisions = surveys.fielding(name).decisions
    found: list[OpenAnswer] = []
    for one in surveys.answers.responses(name):
        left_out = one.id in decisions and not decisions[one.id].keep
        if one.standing is Standing.FINISHED and not left_out:
            asked = surveys.questionnaire(name, one.version).question(question)
            found += _words(asked, one) if asked is not None else ()
    return found


def make_items(surveys: Surveys, name: str, question: str, actor: str | None = None) -> ItemsMade:
    """Write the open answers to a question as the input of a source, and put the source into study.toml.

    Called again it writes what stands then. Words of who withdraws are taken out at once, and `quaestor ingest` takes
    them out of the evidence.
    """
    require_lead(surveys.coding, actor, "make items of open answers")
    _require_words(surveys.questionnaire(name), question)
    study, source = open_study(surveys.study.root), f"{name}-{question}"
    known = source in study.settings.sources
    path = study.root / FOLDER / f"{source}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    with _in_turn(path.parent):
        found = open_answers(surveys, name, question)
        if not found and not known:
            raise StateError(f"nobody has answered {question!r} of {name!r} in words yet: there are no items to make")
        _write_private(path, [_COLUMNS, *map(_line, found)])
    by_hand = bool(not known and (study.settings.sources or study.settings.funnel.steps))
    block = _block(source, with_funnel=not by_hand)
    if not known and not by_hand:
        _append(study, block)
    people = len({one.response for one in found})
    return ItemsMade(source, path, len(found), people, block, not known and not by_hand, by_hand)


def forget_response(study: Study, response: str) -> None:
    """Take the words of one response out of all items that were made of open answers."""
    folder, place = study.root / FOLDER, _COLUMNS.index("response")
    if not folder.is_dir():
        return
    with _in_turn(folder):
        for path in sorted(folder.glob("*.csv")):
            lines = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))
            left = [line for line in lines if line[place : place + 1] != [response]]
            if len(left) < len(lines):
                _write_private(path, left)


@contextmanager
def _in_turn(folder: Path) -> Iterator[None]:
    """Wait until nobody else writes items: what one takes out, another must not put back."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _write_private(path: Path, lines: Sequence[Sequence[str]]) -> None:
    """For the eyes of their owner alone, as the answers themselves are."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(lines)
    path.parent.chmod(0o700)
    write_whole(path, written.getvalue().encode())
    path.chmod(0o600)


def _words(question: Question, response: Response) -> Iterator[OpenAnswer]:
    said = response.answers.get(question.id, {})
    if question.kind in _WORDED and said.get("text", "").strip():
        yield OpenAnswer(response.id, question.id, "", question.text, said["text"], response.survey)
    parts = {one.code: one.label for one in question.options} | {one.code: one.label for one in question.rows}
    for part, text in said.get("texts", {}).items():
        if text.strip():
            title = f"{question.text} ({parts.get(part, part)})"
            yield OpenAnswer(response.id, question.id, part, title, text, response.survey)


def _require_words(asked: Questionnaire, name: str) -> None:
    """Refuse a question that nobody can answer in words."""
    worded = [one.id for one in asked.questions() if _is_worded(one)]
    if asked.question(name) is None or name not in worded:
        what = "asks for no words of one's own" if asked.question(name) is not None else "is not asked"
        options = listed(nearest_first(name, worded)) or "none"
        raise InputError(f"{name!r} {what} in {asked.id!r}, questions that are answered in words: {options}")


def _is_worded(question: Question) -> bool:
    parts = question.options if question.kind in CHOSEN else question.rows
    return question.kind in _WORDED or any(one.text for one in parts)


def _line(one: OpenAnswer) -> tuple[str, ...]:
    """An item; words stand there as HTML shows them, since that is what a rater's page reads."""
    paragraphs = (html.escape(part.strip()) for part in one.text.split("\n\n") if part.strip())
    body = "".join(f"<p>{part}</p>" for part in paragraphs).replace("\n", "<br>")
    return one.item, one.response, one.question, one.part, one.title, body


def _block(source: str, *, with_funnel: bool) -> str:
    """A source of open answers as it is written into a study file; the same answers always give the same text."""
    lines = [
        f"# Open answers to {source}, written by `quaestor survey items`.",
        f"[sources.{toml_key(source)}]",
        'kind = "table"',
        f"path = {toml_value(f'{FOLDER}/{source}.csv')}",
        'item = "{id}"',
        *(f"columns.{column} = {{}}" for column in _COLUMNS),
    ]
    if with_funnel:
        lines += ["", "[funnel]", f"source = {toml_value(source)}", "", "[[funnel.steps]]", 'step = "open answers"']
        lines += ["body_at_least = 1"]
    return "\n".join([*lines, ""])


def _append(study: Study, block: str) -> None:
    """Put a block at the end of study.toml; the file is exchanged whole, and only for one that can be read."""
    study.evidence.mkdir(exist_ok=True)
    with sole_user(study.evidence, "study.toml"):
        file = study.file.resolve()
        text = file.read_bytes().decode("utf-8")
        changed = f"{text.rstrip()}\n\n{block}" if text.strip() else block
        changed = changed.replace("\r\n", "\n").replace("\n", "\r\n") if "\r\n" in text else changed
        try:
            StudySettings.model_validate(tomllib.loads(changed.removeprefix("\ufeff")))
        except tomllib.TOMLDecodeError as error:
            raise SettingsError(f"{study.file}: the source cannot be added, since {error}: add it by hand") from None
        except ValidationError as error:
            words = explain(error.errors()[0], StudySettings)
            raise SettingsError(f"{study.file}: the source cannot be added, since {words}") from None
        mode = file.stat().st_mode
        write_whole(file, changed.encode())
        file.chmod(mode)
