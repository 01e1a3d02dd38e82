"""`quaestor backup` and `quaestor restore`: write a study's recorded work to one file, and read it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json
from quaestor.render.number_format import series

if TYPE_CHECKING:
    from quaestor.store.records import BackupReport
    from quaestor.study.backup import StudyRestoreResult
    from quaestor.study.folder import Study
    from quaestor.surveys.claim_backup import ClaimsRestoreResult

_ONE_FILE = "payment claims are kept apart from everything else: give either FILE or --claims FILE, not both"


def add_to(app: typer.Typer) -> None:
    app.command()(backup)
    app.command()(restore)


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The file to create; default: a file in backups/ named by the time."),
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option(
            "--claims", metavar="FILE", help="Back up only the payment claims and their key, to this new file."
        ),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Back up acts, responses, invitations and interviews to one file and verify it; people can keep working.

    Examples:
    quaestor backup
    quaestor backup --claims claims.backup
    """
    chosen = chosen_study(study)
    if claims is not None:
        _back_up_claims(chosen, file, claims, json)
        return
    from quaestor.study.backup import back_up_study, list_keys
    from quaestor.surveys.claim_backup import has_claims

    report = back_up_study(chosen, file)
    keys = list_keys(chosen, report)
    if json:
        parts = {name: {"rows": dict(part.rows), "sha256": part.sha256} for name, part in report.parts.items()}
        print_json({
            "file": str(report.file), "acts": report.acts, "sha256": report.sha256, "made": report.created,
            "parts": parts, "keys": [str(key) for key in keys],
        })  # fmt: skip
        return
    counted = {name: _count_rows(report, part, table) for part, table, name, _ in _COUNTED if part in report.parts}
    screen = console()
    contents = series([f"{number(report.acts)} acts", *_format_counts(counted)])
    screen.print(f"{contents} written to {report.file} and verified", soft_wrap=True, markup=False)
    screen.print(f"SHA-256 of the acts: {report.sha256}", soft_wrap=True)
    if keys:
        screen.print(_describe_keys(keys), soft_wrap=True, markup=False)
    if has_claims(chosen):
        screen.print(
            "Payment claims are not included: back them up with `quaestor backup --claims FILE`", soft_wrap=True
        )


def restore(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="The backup to restore.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Discard what the backup does not contain; a copy is kept in a file.")
    ] = False,
    claims: Annotated[
        Path | None,
        typer.Option("--claims", metavar="FILE", help="Restore a backup of payment claims instead."),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Restore a backup, except for what was withdrawn since it was made. Stop `quaestor serve` first.

    Examples:
    quaestor restore backups/study-2026-01-31T120000.000000.backup
    quaestor restore --claims claims.backup
    """
    if (file is None) == (claims is None):
        raise InputError("name the backup to restore: FILE or --claims FILE" if file is None else _ONE_FILE)
    chosen = chosen_study(study)
    if file is None:
        from quaestor.surveys.claim_backup import restore_claims

        _print_restored_claims(restore_claims(chosen, claims or Path(), replace), claims or Path(), json)
        return
    from quaestor.study.backup import restore_study

    _print_restored(restore_study(chosen, file, replace), file, json)


_COUNTED = (
    ("answers", "responses", "responses", "responses"),
    ("invitations", "invitations", "invitations", "invitations"),
    ("interviews", "entries", "interviews", "interview entries"),
    ("identities", "entries", "identities", "identity entries"),
)
"""The counts that are shown: part of the backup, its table, the field in JSON, and the noun in messages."""


def _format_counts(counts: dict[str, int]) -> list[str]:
    nouns = {name: noun for _, _, name, noun in _COUNTED}
    return [f"{number(count)} {nouns[name]}" for name, count in counts.items()]


def _describe_keys(keys: tuple[Path, ...]) -> str:
    content = "Interviews and addresses in the backup are encrypted"
    missing = [key for key in keys if not key.exists()]
    if missing:
        files = series([str(key) for key in missing])
        return f"{content}, and {files} cannot be found: without the keys they are lost"
    return f"{content} and the keys are not included: keep a copy of {series([str(key) for key in keys])} elsewhere"


def _count_rows(report: BackupReport, part: str, table: str) -> int:
    return report.parts[part].rows.get(table, 0)


def _back_up_claims(study: Study, file: Path | None, claims: Path, json: bool) -> None:
    if file is not None:
        raise InputError(_ONE_FILE)
    from quaestor.surveys.claim_backup import back_up_claims

    report = back_up_claims(study, claims)
    count, sha256 = _count_rows(report, "claims", "claims"), report.parts["claims"].sha256
    if json:
        print_json({"file": str(report.file), "claims": count, "sha256": sha256})
        return
    screen = console()
    message = f"{_format_claims(count)} and the key to decrypt them written to {report.file} and verified"
    screen.print(message, soft_wrap=True, markup=False)
    screen.print(
        "Store it separately from backups of responses, and keep only the newest: comparing two shows who claimed "
        "in between",
        soft_wrap=True,
    )


def _print_restored(done: StudyRestoreResult, file: Path, json: bool) -> None:
    report = done.journal
    kept = None if report.kept is None else str(report.kept)
    if json:
        fields: dict[str, Any] = {
            "acts": report.acts,
            "added": report.added,
            "kept": kept,
            "damaged": [str(file) for file in report.damaged],
        }
        counts = {name: done.entries.get(name) for _, _, name, _ in _COUNTED}
        left_out = {"withdrawn": done.withdrawn, "participants_withdrawn": list(done.participants)}
        print_json({**fields, **counts, **left_out, "unknown_since": done.unknown_since, "pending": bool(done.pending)})
        return
    lines = [f"The study has {number(report.acts)} acts, {number(report.added)} of them from {file}"]
    if done.entries:
        lines.append(f"It has {series(_format_counts(done.entries))}")
    if done.withdrawn:
        lines.append(f"Responses withdrawn since the backup, not restored: {number(done.withdrawn)}")
    if done.participants:
        lines.append(f"Participants withdrawn since the backup, not restored: {series([*done.participants])}")
    if done.unknown_since is not None:
        lines.append(
            f"Withdrawals after {done.unknown_since[:16]}, when the backup was made, are not known here. If you have "
            f"{series([*done.lists])} from the lost study, copy it into this folder and restore again"
        )
    if report.kept is not None:
        lines.append(f"The previous state is kept in {report.kept}")
    lines += [f"Unreadable data is kept in {path}" for path in report.damaged if path != report.kept]
    if done.pending:
        lines.append(done.pending)
    for line in lines:
        console().print(line, soft_wrap=True, markup=False)


def _print_restored_claims(done: ClaimsRestoreResult, file: Path, json: bool) -> None:
    if json:
        kept = None if done.kept is None else str(done.kept)
        print_json({"claims": done.claims, "added": done.added, "kept": kept, "payments_known": done.known})
        return
    lines = [f"The study has {_format_claims(done.claims)}, {number(done.added)} of them from {file}"]
    if not done.known:
        lines.append(
            "Claims and payments made after the backup are not known here: compare with your list of cards before "
            "paying"
        )
    if done.kept is not None:
        lines.append(f"The previous state is kept in {done.kept}")
    for line in lines:
        console().print(line, soft_wrap=True, markup=False)


def _format_claims(count: int) -> str:
    return "1 claim" if count == 1 else f"{number(count)} claims"
