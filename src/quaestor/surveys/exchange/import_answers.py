"""Answers out of a file of another survey service into a survey, by a mapping; what could not be read is told."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from quaestor.base.errors import InputError
from quaestor.base.names import listed, nearest_first
from quaestor.instruments.mapping import LISTED, ColumnMapping, is_own_tidy, is_own_wide, read_mapping
from quaestor.instruments.records import Kind, Place, Questionnaire
from quaestor.instruments.response_rows import new_code
from quaestor.sources.survey_exports import Export, PlainRow, is_display_order, shaped
from quaestor.store.records import NewAct
from quaestor.study.coding import require_lead
from quaestor.study.surveys.answer_rows import digest_of, plain_rows
from quaestor.study.surveys.fielding import Surveys, decide, survey_file
from quaestor.study.surveys.own_exports import own_export
from quaestor.study.surveys.taken_in import RowsTaken, Way, Whole, derived_id


@dataclass(frozen=True)
class Imported:
    """What an import did, and everything in the file that did not become an answer; rows by their numbers."""

    file: str
    sha256: str
    version: int
    rows: int
    """Below the header."""
    responses: int = 0
    """New with this import."""
    known: int = 0
    withdrawn: int = 0
    """Left out, since whoever gave them has withdrawn them here."""
    no_consent: tuple[int, ...] = ()
    empty: tuple[int, ...] = ()
    headers: tuple[int, ...] = ()
    """Rows that are the header once more."""
    unread: tuple[Place, ...] = ()
    odd: tuple[Place, ...] = ()
    """Kept as they stand, though the questionnaire would not have taken them."""
    markers: tuple[Place, ...] = ()
    """Cells that hold no answer, or something besides their answers that is none; those of rows left out too."""
    unmapped_columns: tuple[str, ...] = ()
    display_columns: tuple[str, ...] = ()
    """Those that tell the order in which options were shown."""
    unasked: tuple[str, ...] = ()
    """Questions that no column of the file answers."""
    repeated: tuple[int, ...] = ()
    """Rows of a response that stands in the file before."""
    dropped: int = 0
    """New ones that the lead had left out where the file was written: they are left out here too."""
    strange_versions: tuple[str, ...] = ()
    """Those that the file names and the survey does not have; their responses are read as those to the newest."""


def import_answers(
    surveys: Surveys, name: str, path: Path, mapping_path: Path | None, actor: str | None = None, keep: bool = True
) -> Imported:
    """Take in a file of answers, whole or not at all; the same file twice gives its responses once.

    Without a mapping the file is an export of Quaestor's own. With `keep` off it says what would be done and does
    nothing.
    """
    lead = require_lead(surveys.coding, actor, "import answers")
    sha256 = digest_of(path)
    versions = _versions(surveys, name)
    newest, questionnaire = max(versions), versions[max(versions)]
    given = None if mapping_path is None else read_mapping(mapping_path, questionnaire)
    with closing(plain_rows(path, given.settings.encoding if given else "")) as rows:
        if given is None:
            own = own_export(rows, versions, path)
            export, mappings, unknown = own.export, own.mappings, own.unknown
        else:
            export, mappings, unknown = shaped(rows, str(path), given.settings.header_rows), {newest: given}, set()
        ways = [Way(number, versions[number], mappings[number], export) for number in sorted(mappings)]
        for way in ways:
            _check_columns(export, way.mapping, path)
        _check_consent(questionnaire, mappings[newest], path)
        read = RowsTaken(ways, export, path.name, surveys.today(), sha256).read()
    whole = [one for one in read.whole if not surveys.answers.is_erased(one[0].id)]
    new = _new(surveys, whole)
    dropped = [one.id for name_there, (one, _) in new.items() if name_there in read.dropped]
    done = Imported(
        file=path.name,
        sha256=sha256,
        version=newest,
        rows=read.rows,
        responses=len(new),
        known=len(whole) - len(new),
        withdrawn=len(read.whole) - len(whole),
        no_consent=tuple(read.no_consent),
        empty=tuple(read.empty),
        headers=tuple(read.headers),
        unread=tuple(read.unread),
        odd=tuple(read.odd),
        markers=tuple(read.markers),
        unmapped_columns=(*_unmapped(export, ways), *sorted(unknown)),
        display_columns=tuple(
            column for column in export.columns if is_display_order(column) and column not in mappings[newest].parts
        ),
        unasked=tuple(one.id for one in questionnaire.questions() if one.id not in ways[-1].reader.questions),
        repeated=tuple(read.repeated),
        dropped=len(dropped),
        strange_versions=tuple(sorted(read.strange)),
    )
    if keep:
        _keep_version(surveys, name)
        # Nobody gets the codes: who answered elsewhere cannot withdraw here, and nobody can in their place.
        surveys.answers.add([(new_code(), response, pages) for response, pages in new.values()])
        surveys.coding.act(lambda state: NewAct("survey.import", lead, _payload(name, mappings[newest], done)))
        for response in dropped:
            decide(surveys, name, response, keep=False, why=f"left out where {path.name} was written", actor=actor)
    return done


def _versions(surveys: Surveys, name: str) -> dict[int, Questionnaire]:
    """Every version that answers can be to; of a survey that was never opened, what its file says now."""
    kept = surveys.answers.version(name)
    if kept is None:
        return {1: surveys.questionnaire(name)}
    return {number: surveys.questionnaire(name, number) for number in range(1, kept.number + 1)}


def mapping_file(surveys: Surveys, name: str, path: Path) -> Path | None:
    """The mapping that goes with a survey by its name; an export of Quaestor's own needs none."""
    digest_of(path)
    with closing(plain_rows(path)) as rows:
        first = next(rows, PlainRow(1, ()))
    columns = tuple(cell.strip() for cell in first.cells)
    if is_own_wide(columns) or is_own_tidy(columns):
        return None
    found = survey_file(surveys.study, name).with_suffix(".mapping.toml")
    if not found.is_file():
        raise InputError(f"say with --mapping which column of {path} answers which question, or write {found}")
    return found


def _new(surveys: Surveys, whole: list[Whole]) -> dict[str, Whole]:
    """Those that the file of answers does not hold, by their ids in the file; who is there stays as they are."""
    new = {}
    for response, pages in whole:
        there = surveys.answers.response(response.id)
        own = response
        if there is not None and there.survey != response.survey:
            own = replace(response, id=derived_id(response.survey, response.id))
            there = surveys.answers.response(own.id)
        if there is None:
            new[response.id] = (own, pages)
    return new


def _keep_version(surveys: Surveys, name: str) -> None:
    """A survey that was never opened gets its first version by an import, and is not open by that."""
    if surveys.answers.version(name) is None:
        text = survey_file(surveys.study, name).read_text("utf-8-sig")
        surveys.answers.add_version(name, text, surveys.today())


def _check_columns(export: Export, mapping: ColumnMapping, path: Path) -> None:
    wanted = [*mapping.parts, *mapping.others().values()]
    for column in wanted:
        if column not in export.columns:
            options = listed(nearest_first(column, filter(None, export.columns))[:LISTED])
            raise InputError(f"{path} has no column {column!r} as {mapping.name} says, its columns are: {options}")
        if export.columns.count(column) > 1:
            raise InputError(f"{path} has the column {column!r} twice: rename one, so that it is clear which is meant")


def _check_consent(questionnaire: Questionnaire, mapping: ColumnMapping, path: Path) -> None:
    asked = {part.question.id for part in mapping.parts.values()}
    for one in questionnaire.questions():
        if one.kind is Kind.CONSENT and one.id not in asked and not mapping.settings.consented:
            raise InputError(
                f"{mapping.name} maps no column to {one.id!r}, so nobody can tell who of {path.name} consented: map "
                f"one, or write consented = true where all have"
            )


def _unmapped(export: Export, ways: Sequence[Way]) -> tuple[str, ...]:
    used = {column for one in ways for column in (*one.mapping.parts, *one.mapping.others().values())}
    return tuple(column for column in export.columns if column and column not in used and not is_display_order(column))


def _payload(name: str, mapping: ColumnMapping, done: Imported) -> dict[str, Any]:
    counted = {
        what: len(getattr(done, what))
        for what in ("no_consent", "empty", "headers", "repeated", "unread", "odd", "markers")
    }
    return {
        "survey": name,
        "file": done.file,
        "sha256": done.sha256,
        "mapping": mapping.name,
        "version": done.version,
        "rows": done.rows,
        "responses": done.responses,
        "known": done.known,
        "withdrawn": done.withdrawn,
        **counted,
    }
