"""People who are invited by e-mail: read from a table, given a personal link each, counted and erased."""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from quaestor.base.errors import InputError
from quaestor.base.names import suggest
from quaestor.coding.model.state import State
from quaestor.coding.session import require_lead
from quaestor.store.records import NewAct
from quaestor.surveys.exchange.file_rows import plain_rows
from quaestor.surveys.invitations import MOST_INVITED, require_batch
from quaestor.surveys.lifecycle import INVITATIONS_FILE, Surveys
from quaestor.surveys.mail_texts import create_mail_texts, read_mail_texts
from quaestor.surveys.model.question_kinds import kind_of
from quaestor.surveys.model.question_kinds.link_value import LinkValue
from quaestor.surveys.model.records import SHARED_BY, Questionnaire
from quaestor.surveys.model.service_exports import PlainRow
from quaestor.surveys.store.recipients import Addressee, Gone, RecipientCounts, RecipientFile

MAIL_ACT, REMOVE_ACT = "survey.mail", "survey.forget"
_ADDRESS_COLUMNS = ("e-mail", "email", "mail")
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@([A-Za-z0-9-]{1,63}\.)+[A-Za-z0-9-]{2,63}")
_LONGEST = 200
_MOST_BYTES = 50 * 1024 * 1024
_MOST_MISTAKES = 20


@dataclass(frozen=True)
class RecipientRow:
    """A person in a table of recipients."""

    cell: str
    """The cell with the address, such as A2."""
    address: str = field(repr=False)
    name: str = field(default="", repr=False)
    language: str = ""
    stratum: str = ""
    columns: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class RecipientTable:
    """The people in a file, and the columns that it has in vain."""

    rows: tuple[RecipientRow, ...]
    ignored: tuple[str, ...]


@dataclass(frozen=True)
class AddedRecipients:
    """The result of adding the people of a file."""

    added: int
    known: int
    """People who were recipients already."""
    opted_out: int
    """People who want no e-mails about this survey; they stay out."""
    ignored: tuple[str, ...]
    texts: Path | None
    """The file of texts, if it was created."""


def add_recipients(
    surveys: Surveys, name: str, file: Path, batch: str, stratum: str = "", actor: str | None = None
) -> AddedRecipients:
    """Adds the people of a file as recipients, each with a personal link; all or none."""
    lead = require_lead(surveys.coding, actor, "invite to a survey")
    questionnaire = surveys.questionnaire(name)
    batch = require_batch(batch)
    texts = create_mail_texts(surveys.study, name)
    declared = read_mail_texts(surveys.study, questionnaire).columns
    table = read_recipients(file, questionnaire, stratum, declared)
    people = [
        (
            Addressee(row.address, secrets.token_urlsafe(24), row.name, row.language, dict(row.columns)),
            row.stratum,
        )
        for row in table.rows
    ]
    with open_recipients(surveys) as recipients:
        known = recipients.add(name, batch, people)
    added = [chosen for person, chosen in people if person.address not in known]
    for chosen, count in sorted(Counter(added).items()):
        act = NewAct("survey.invite", lead, {"survey": name, "batch": batch, "stratum": chosen, "count": count})
        surveys.coding.act(partial(_record, act))
    opted_out = sum(gone is Gone.OPTED_OUT for gone in known.values())
    return AddedRecipients(len(added), len(known) - opted_out, opted_out, table.ignored, texts)


def _record(act: NewAct, state: State) -> NewAct:
    return act


def remove_recipients(
    surveys: Surveys, name: str, addresses: Sequence[str] | None = None, actor: str | None = None
) -> int:
    """Erases addresses with names, columns and links, or those of all recipients; returns how many there were."""
    lead = require_lead(surveys.coding, actor, "remove people who were invited to a survey")
    surveys.fielding(name)
    if not has_recipients(surveys):
        return 0
    with open_recipients(surveys) as recipients:
        removed = recipients.remove(name, addresses)
    if removed:
        surveys.coding.act(lambda state: NewAct(REMOVE_ACT, lead, {"survey": name, "count": removed}))
    return removed


def count_recipients(surveys: Surveys, name: str) -> tuple[RecipientCounts, bool]:
    """Returns the number of recipients by state, and whether `started` is known.

    In an anonymous survey it is not if there are few recipients, as for other small groups.
    """
    surveys.fielding(name)  # raises an error for an unknown survey
    if not has_recipients(surveys):
        return RecipientCounts(), False
    with open_recipients(surveys) as recipients:
        counts = recipients.count(name)
    if counts.all and counts.all < SHARED_BY and surveys.questionnaire(name).anonymous:
        return replace(counts, started=0), False
    return counts, bool(counts.all)


def opt_out(surveys: Surveys, token: str) -> bool:
    """Erases the address behind a link, so that nobody writes to it again; returns whether there is a recipient."""
    if not has_recipients(surveys):
        return False
    with open_recipients(surveys) as recipients:
        return recipients.opt_out(token)


def find_opt_out(surveys: Surveys, token: str) -> bool | None:
    """Tells whether the recipient of a link gets no more e-mails; None if the link was not made for e-mails."""
    if not has_recipients(surveys):
        return None
    with open_recipients(surveys) as recipients:
        return recipients.is_opted_out(token)


def has_recipients(surveys: Surveys) -> bool:
    """Tells whether the invitations file exists; it may be without recipients."""
    return (surveys.study.root / INVITATIONS_FILE).exists()


def open_recipients(surveys: Surveys) -> RecipientFile:
    return RecipientFile(surveys.study.root / INVITATIONS_FILE)


def read_recipients(
    file: Path, questionnaire: Questionnaire, stratum: str = "", declared: Sequence[str] = ()
) -> RecipientTable:
    """Reads a CSV, TSV or XLSX file of people; raises InputError with all mistakes at once, each with its cell."""
    rows = plain_rows(file, _detect_encoding(file))
    header = next(rows, PlainRow(1, []))
    columns = _find_columns(file, header, questionnaire, declared)
    people: list[RecipientRow] = []
    mistakes: list[str] = []
    seen: dict[str, str] = {}
    for row in rows:
        if not any(cell.strip() for cell in row.cells):
            continue
        person, wrong = _read_person(row, columns, questionnaire, stratum)
        earlier = seen.setdefault(person.address.casefold(), person.cell)
        if person.address and earlier != person.cell:
            wrong = [*wrong, f"{person.cell}: the address is also in {earlier}"]
        mistakes += wrong
        people.append(person)
    if mistakes:
        more = len(mistakes) - _MOST_MISTAKES
        shown = [*mistakes[:_MOST_MISTAKES], *([f"and {more:,} more"] if more > 0 else [])]
        raise InputError(f"{file} was not used; fix these cells first:\n  " + "\n  ".join(shown))
    if not people:
        raise InputError(f"{file} has no rows below its header: write one person per row")
    if len(people) > MOST_INVITED:
        raise InputError(f"{file} has {len(people):,} people: split it into files of at most {MOST_INVITED:,}")
    used = set(columns.values())
    ignored = tuple(name for place, name in enumerate(header.cells) if place not in used and name.strip())
    return RecipientTable(tuple(people), ignored)


def _detect_encoding(file: Path) -> str:
    """Returns the encoding of a text file that is not UTF-8, as spreadsheets in Western Europe save it; else empty."""
    if not file.is_file():
        raise InputError(f"{file} does not exist: name a CSV, TSV or XLSX file with one person per row")
    if file.stat().st_size > _MOST_BYTES:
        raise InputError(f"{file} is over {_MOST_BYTES // 2**20} MB, too large for a list of people: split it")
    content = file.read_bytes()
    if file.suffix.lower() == ".xlsx" or content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return ""
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return "cp1252"
    return ""


def _find_columns(
    file: Path, header: PlainRow, questionnaire: Questionnaire, declared: Sequence[str]
) -> dict[str, int]:
    """Returns the place of each column that is used, by its name; the one with addresses is `e-mail`."""
    places: dict[str, int] = {}
    values = [question.id for question in questionnaire.questions() if question.kind == LinkValue.name]
    usable = {"name", "language", "stratum", *values, *declared}
    for place, cell in enumerate(header.cells):
        lower = cell.strip().casefold()
        name = _ADDRESS_COLUMNS[0] if lower in _ADDRESS_COLUMNS else lower
        if name == _ADDRESS_COLUMNS[0] or name in usable:
            if name in places:
                raise InputError(f"{file}: {_cell(header.number, place)} is a second column {name!r}: remove one")
            if name in values and questionnaire.anonymous:
                raise InputError(
                    f"{file}: the column {name!r} is a value of the link, which would connect people to their answers "
                    "in an anonymous survey: remove it, or use a survey with anonymous = false"
                )
            places[name] = place
    if _ADDRESS_COLUMNS[0] not in places:
        columns = ", ".join(repr(cell) for cell in header.cells if cell.strip()) or "none"
        raise InputError(f"{file} has no column 'e-mail' in its first row; found: {columns}")
    missing = [name for name in declared if name not in places]
    if missing:
        raise InputError(f"{file} has no column {missing[0]!r}, which the texts of the e-mails use: add it")
    return places


def _read_person(
    row: PlainRow, columns: Mapping[str, int], questionnaire: Questionnaire, stratum: str
) -> tuple[RecipientRow, list[str]]:
    cells = {name: row.cells[place].strip() if place < len(row.cells) else "" for name, place in columns.items()}
    at = {name: _cell(row.number, place) for name, place in columns.items()}
    address = cells.pop(_ADDRESS_COLUMNS[0])
    name, language = cells.pop("name", ""), cells.pop("language", "")
    chosen = cells.pop("stratum", "") or stratum
    person = RecipientRow(at[_ADDRESS_COLUMNS[0]], address, name, language, chosen, cells)
    return person, list(_find_mistakes(person, at, questionnaire))


def _find_mistakes(person: RecipientRow, at: Mapping[str, str], questionnaire: Questionnaire) -> Iterator[str]:
    if not person.address:
        yield f"{person.cell}: the address is missing"
    elif len(person.address) > _LONGEST or not _ADDRESS.fullmatch(person.address) or ".." in person.address:
        yield f"{person.cell}: {person.address[:60]!r} is not an e-mail address"
    for name, text in (("name", person.name), *person.columns.items()):
        if not text.isprintable():
            yield f"{at[name]}: {text[:60]!r} contains a line break or a control character"
        elif len(text) > _LONGEST:
            yield f"{at[name]}: {len(text):,} characters, but at most {_LONGEST} are possible"
        elif name != "name" and text:
            yield from _find_link_mistakes(at[name], name, text, questionnaire)
    if person.language and person.language not in questionnaire.languages:
        options = suggest(person.language, questionnaire.languages)
        yield f"{at['language']}: the survey has no language {person.language!r}; choose from: {options}"
    where = at.get("stratum", person.cell)
    if questionnaire.strata and person.stratum not in questionnaire.strata:
        options = suggest(person.stratum, questionnaire.strata)
        yield f"{where}: the survey has no stratum {person.stratum!r}; choose from: {options}"
    elif person.stratum and not questionnaire.strata:
        yield f"{where}: the survey has no strata: remove {person.stratum!r}"


def _find_link_mistakes(cell: str, name: str, text: str, questionnaire: Questionnaire) -> Iterator[str]:
    question = questionnaire.question(name)
    if question is not None and question.kind == LinkValue.name:
        try:
            kind_of(question).check(question, {"text": text})
        except InputError as error:
            yield f"{cell}: {error}"


def _cell(row: int, column: int) -> str:
    """Returns the name of a cell as a spreadsheet shows it, such as B3."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"{letters}{row}"
