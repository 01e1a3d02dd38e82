"""`quaestor backup` and `quaestor restore`: what people did and answered to one file, and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from quaestor.base.errors import InputError
from quaestor.cli.output import JsonOption, StudyOption, chosen_study, console, number, print_json

if TYPE_CHECKING:
    from quaestor.store.records import BackupReport
    from quaestor.study.backup import StudyRestored
    from quaestor.study.folder import Study
    from quaestor.surveys.claim_backup import ClaimsRestored

_ONE = "claims are apart from all else: name FILE or --claims FILE, one at a time"


def add_to(app: typer.Typer) -> None:
    app.command()(backup)
    app.command()(restore)


def backup(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The new file; default: one named after this moment in backups/."),
    ] = None,
    claims: Annotated[
        Path | None,
        typer.Option(
            "--claims", metavar="FILE", help="Write claims to be paid and their key to this new file instead."
        ),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Write acts, answers, invitations and interviews to one file and read it back; people may go on meanwhile.

    Examples:
    quaestor backup
    quaestor backup --claims claims.backup
    """
    chosen = chosen_study(study)
    if claims is not None:
        _back_up_claims(chosen, file, claims, json)
        return
    from quaestor.study.backup import back_up_study, keys_apart
    from quaestor.surveys.claim_backup import has_claims

    report = back_up_study(chosen, file)
    keys = keys_apart(chosen, report)
    if json:
        told = {"file": str(report.file), "acts": report.acts, "sha256": report.sha256, "made": report.made}
        print_json({**told, "parts": _parts(report), "keys": [str(key) for key in keys]})
        return
    counted = {name: _rows(report, part, table) for part, table, name, _ in _COUNTED if part in report.parts}
    screen = console()
    words = _and([f"{number(report.acts)} acts", *_told(counted)])
    screen.print(f"{words} in {report.file}, read back and found whole", soft_wrap=True, markup=False)
    screen.print(f"SHA-256 of the acts: {report.sha256}", soft_wrap=True)
    if keys:
        screen.print(_where_keys_lie(keys), soft_wrap=True, markup=False)
    if has_claims(chosen):
        screen.print("Claims to be paid are not in it: `quaestor backup --claims FILE`", soft_wrap=True)


def restore(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", help="A backup.")] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what the backup does not have; it is kept in a file.")
    ] = False,
    claims: Annotated[
        Path | None,
        typer.Option("--claims", metavar="FILE", help="Bring back a backup of claims to be paid instead."),
    ] = None,
    study: StudyOption = None,
    json: JsonOption = False,
) -> None:
    """Bring what a backup holds into the study, without what was withdrawn since; end `quaestor serve` before.

    Examples:
    quaestor restore backups/study-2026-01-31T120000.000000.backup
    quaestor restore --claims claims.backup
    """
    if (file is None) == (claims is None):
        raise InputError("name the backup to restore: FILE, or --claims FILE" if file is None else _ONE)
    chosen = chosen_study(study)
    if file is None:
        from quaestor.surveys.claim_backup import restore_claims

        _tell_claims(restore_claims(chosen, claims or Path(), replace), claims or Path(), json)
        return
    from quaestor.study.backup import restore_study

    _tell_restored(restore_study(chosen, file, replace), file, json)


_COUNTED = (
    ("answers", "responses", "responses", "responses"),
    ("invitations", "invitations", "invitations", "invitations"),
    ("interviews", "entries", "interviews", "entries of interviews"),
    ("identities", "entries", "identities", "of identities"),
)
"""What is counted of a backup: part, table, its name in JSON, and in words."""


def _told(counted: dict[str, int]) -> list[str]:
    words = {name: told for _, _, name, told in _COUNTED}
    return [f"{number(count)} {words[name]}" for name, count in counted.items()]


def _and(parts: list[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _where_keys_lie(keys: tuple[Path, ...]) -> str:
    missing = [key for key in keys if not key.exists()]
    if missing:
        lost = _and([str(key) for key in missing])
        return f"Interviews are in it sealed, and {lost} cannot be found: without the keys nobody can ever read them"
    lie = _and([str(key) for key in keys])
    return f"Interviews are in it sealed; their keys are not, and lie in {lie}: keep copies of them apart from it"


def _rows(report: BackupReport, part: str, table: str) -> int:
    return report.parts[part].rows.get(table, 0)


def _parts(report: BackupReport) -> dict[str, Any]:
    return {name: {"rows": dict(one.rows), "sha256": one.sha256} for name, one in report.parts.items()}


def _back_up_claims(study: Study, file: Path | None, claims: Path, json: bool) -> None:
    if file is not None:
        raise InputError(_ONE)
    from quaestor.surveys.claim_backup import back_up_claims

    report = back_up_claims(study, claims)
    count, sha256 = _rows(report, "claims", "claims"), report.parts["claims"].sha256
    if json:
        print_json({"file": str(report.file), "claims": count, "sha256": sha256})
        return
    screen = console()
    words = f"{_claims(count)} in {report.file} with the key that opens them, read back and found whole"
    screen.print(words, soft_wrap=True, markup=False)
    screen.print(
        "Keep it apart from backups of answers, and keep one alone: two of them tell who claimed in between",
        soft_wrap=True,
    )


def _tell_restored(done: StudyRestored, file: Path, json: bool) -> None:
    report = done.journal
    kept = None if report.kept is None else str(report.kept)
    if json:
        told = {
            "acts": report.acts,
            "added": report.added,
            "kept": kept,
            "damaged": [str(one) for one in report.damaged],
        }
        beside = {name: done.beside.get(name) for _, _, name, _ in _COUNTED}
        left_out = {"withdrawn": done.withdrawn, "participants_withdrawn": list(done.participants)}
        print_json({**told, **beside, **left_out, "unknown_since": done.unknown_since, "pending": bool(done.pending)})
        return
    lines = [f"The study has {number(report.acts)} acts, {number(report.added)} of them from {file}"]
    if done.beside:
        lines.append(f"It has {_and(_told(done.beside))}")
    if done.withdrawn:
        lines.append(f"Withdrawn since the backup was made, and left out: {number(done.withdrawn)}")
    if done.participants:
        lines.append(
            f"Participants who withdrew since the backup was made, and were left out: {_and([*done.participants])}"
        )
    if done.unknown_since is not None:
        lines.append(
            f"Nothing here says who withdrew after {done.unknown_since[:16]}, when the backup was made: put the "
            f"{_and([*done.lists])} of the study that was lost into this folder, if you have it, and restore again"
        )
    if report.kept is not None:
        lines.append(f"What was there before is kept in {report.kept}")
    lines += [f"What could not be read is in {one}" for one in report.damaged if one != report.kept]
    if done.pending:
        lines.append(done.pending)
    for line in lines:
        console().print(line, soft_wrap=True, markup=False)


def _tell_claims(done: ClaimsRestored, file: Path, json: bool) -> None:
    if json:
        kept = None if done.kept is None else str(done.kept)
        print_json({"claims": done.claims, "added": done.added, "kept": kept, "payments_known": done.known})
        return
    lines = [f"The study has {_claims(done.claims)}, {number(done.added)} of them from {file}"]
    if not done.known:
        lines.append(
            "Nothing here says who claimed or was paid after the backup was made: compare with your list of cards first"
        )
    if done.kept is not None:
        lines.append(f"What was there before is kept in {done.kept}")
    for line in lines:
        console().print(line, soft_wrap=True, markup=False)


def _claims(count: int) -> str:
    return "1 claim" if count == 1 else f"{number(count)} claims"
