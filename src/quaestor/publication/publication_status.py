"""What is published: whether it is up to date, which findings hold, audit counts, its ZIP, and what is on hold."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from quaestor import __version__
from quaestor.base.errors import StateError
from quaestor.base.files import write_atomically
from quaestor.coding.codebook import CODEBOOK_FILE
from quaestor.coding.model.state import State
from quaestor.evidence.funnel import RESULT
from quaestor.publication.results.decided_codes import results_can_be_made
from quaestor.publication.results.round_tables import has_round_results
from quaestor.render.number_format import series
from quaestor.study.contributions import Next, StatusLine, StatusPart, StatusRequest
from quaestor.study.features import fingerprints, publication_guards, report_sections
from quaestor.study.folder import Study

PUBLISHED = ("report", "handbook")
_INPUT_FILES = ("study.toml", CODEBOOK_FILE, "placing.toml", "labels.toml")


@dataclass(frozen=True)
class Freshness:
    """Whether one publication exists and is up to date."""

    name: str
    built: float | None
    """When it was built, in seconds since the epoch; None if never."""
    is_current: bool
    origin: str = ""
    """What it was built from, such as `2,401 decided items`; empty if unknown."""
    changed: tuple[str, ...] = ()
    """The inputs that changed since; empty if it is up to date, or if the inputs of its build are unknown."""

    @property
    def in_words(self) -> str:
        """Describes when and from what it was built, and what changed since."""
        day = datetime.fromtimestamp(self.built or 0, UTC).strftime("%Y-%m-%d %H:%M UTC")
        built = f"built {day}{f' from {self.origin}' if self.origin else ''}"
        if self.is_current:
            return f"{built}, up to date"
        why = f"{series(list(self.changed))} changed" if self.changed else "its inputs are unknown"
        return f"{built}, out of date: {why}"


def stamp_inputs(study: Study, state: State) -> dict[str, str]:
    """Returns by input a stamp; a report or handbook can come out differently only if one of them changes."""
    digests = {"the version of Quaestor": __version__, "recorded acts": str(state.changed)}
    files = {name: [study.root / name] for name in _INPUT_FILES}
    files["printed figures"] = sorted((study.root / "printed").glob("**/*"))
    files["the funnel"] = [strand.funnel_folder / RESULT for strand in study.in_each_strand()]
    for name, paths in files.items():
        digest = hashlib.sha256()
        for path in paths:
            if path.is_file():
                digest.update(f"{path.relative_to(study.root)}\0".encode() + path.read_bytes())
        digests[name] = digest.hexdigest()
    return digests | fingerprints(study)


def record_build(study: Study, name: str, inputs: Mapping[str, str], replaced: Mapping[str, str], origin: str) -> None:
    """Records inputs and masked names outside the publication, whose bytes depend on the study alone."""
    text = json.dumps({"inputs": dict(inputs), "replaced": dict(replaced), "origin": origin})
    _record_file(study, name).parent.mkdir(parents=True, exist_ok=True)
    write_atomically(_record_file(study, name), f"{text}\n".encode())


def check_freshness(study: Study, state: State) -> list[Freshness]:
    now = stamp_inputs(study, state)
    return [_read_freshness(study, name, now) for name in PUBLISHED]


def read_masked_names(study: Study, name: str) -> dict[str, str]:
    """Returns by transcript the stamp of the names masked in the last build; empty if none is recorded."""
    try:
        return dict(_read_record(study, name)["replaced"])
    except (KeyError, TypeError, ValueError):
        return {}


def _read_freshness(study: Study, name: str, now: Mapping[str, str]) -> Freshness:
    index = study.published / name / "index.html"
    if not index.exists():
        return Freshness(name, None, False)
    record = _read_record(study, name)
    inputs = record.get("inputs")
    if not isinstance(inputs, dict):  # built by another version, or copied here
        return Freshness(name, index.stat().st_mtime, False)
    changed = tuple(part for part in {**inputs, **now} if inputs.get(part) != now.get(part))
    return Freshness(name, index.stat().st_mtime, not changed, str(record.get("origin", "")), changed)


def _read_record(study: Study, name: str) -> dict[str, Any]:
    record = _document(_record_file(study, name))
    return record if isinstance(record, dict) else {}


def _record_file(study: Study, name: str) -> Path:
    return study.evidence / "made" / f"{name}.json"


_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time a ZIP can store; fixed, so that the same files give the same bytes."""


@dataclass(frozen=True)
class PublishedFinding:
    """A finding as in the last report."""

    name: str
    sentence: str
    holds: bool


@dataclass(frozen=True)
class PublicationStatus:
    """What is published, and whether it is up to date."""

    published: tuple[Freshness, ...]
    findings: tuple[PublishedFinding, ...] = ()
    audit: Mapping[str, int] = field(default_factory=dict)

    @property
    def stale(self) -> tuple[str, ...]:
        """Lists publications that are out of date."""
        return tuple(
            publication.name
            for publication in self.published
            if publication.built is not None and not publication.is_current
        )

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(publication.name for publication in self.published if publication.built is None)


def read_publication_status(study: Study, state: State) -> PublicationStatus:
    report = study.published / "report"
    findings = _document(report / "findings.json") or []
    audit = _document(report / "audit.json") or {}
    claims = tuple(
        PublishedFinding(str(finding["finding"]), str(finding["sentence"]), bool(finding["holds"]))
        for finding in findings
    )
    return PublicationStatus(tuple(check_freshness(study, state)), claims, audit.get("summary", {}))


def publications_status(request: StatusRequest) -> StatusPart:
    """Returns a line for report, audit and handbook: what each was built from, and whether it is up to date."""
    study = request.study
    if request.session is None:
        status, can_be_made = read_publication_status(study, State()), report_can_be_made(study, State())
    else:
        with request.session.locked_state() as state:
            status, can_be_made = read_publication_status(study, state), report_can_be_made(study, state)
    lines = []
    for publication in status.published:
        if publication.built is not None:
            lines.append(
                StatusLine(publication.name, "done" if publication.is_current else "stale", publication.in_words)
            )
        elif publication.name == "report" and can_be_made:
            lines.append(StatusLine("report", "waiting", "not built yet"))
        if publication.name == "report" and publication.built is not None and status.audit:
            counts = {words: status.audit.get(words, 0) for words in ("match", "rounding", "differs")}
            compared = ", ".join(f"{count:,} {words}" for words, count in counts.items())
            detail = f"{status.audit.get('cells', 0):,} printed cells: {compared}; built with the report"
            lines.append(StatusLine("audit", "done" if publication.is_current else "stale", detail))
    report = next(publication for publication in status.published if publication.name == "report")
    stale = (name for name in ("report", "handbook") if name in status.stale)
    following = "report" if can_be_made and report.built is None else next(stale, "")
    return StatusPart(tuple(lines), Next(f"quaestor {following}") if following else None, is_last=True)


def hide_withheld(status: PublicationStatus, withheld: Collection[str]) -> PublicationStatus:
    """Returns the status without the publications on hold, for everyone but the lead."""
    if not withheld:
        return status
    published = tuple(publication for publication in status.published if publication.name not in withheld)
    return PublicationStatus(published) if "report" in withheld else replace(status, published=published)


def _document(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None


def pack(study: Study, name: str, into: IO[bytes]) -> None:
    """Writes a published folder as a ZIP that opens without a server."""
    folder = study.published / name
    if name not in PUBLISHED or not (folder / "index.html").exists():
        raise StateError(f"There is no {name} yet: build it first.")
    with zipfile.ZipFile(into, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and not file.is_symlink():
                entry = zipfile.ZipInfo(f"{name}/{file.relative_to(folder).as_posix()}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(entry, file.read_bytes())


def report_can_be_made(study: Study, state: State) -> bool:
    """Tells whether the results named in the study file are decided, or a feature's section alone makes a report."""
    if results_can_be_made(study, state) or (not study.settings.results.code and has_round_results(state)):
        return True
    return any(section.is_used(study) and not section.why_not_ready(study, state) for section in report_sections())


class GuardedPublication:
    """The guards of all features during one build, from before anything is read until the result is in place."""

    def __init__(self, study: Study, what: str) -> None:
        guards = publication_guards().values()
        self._placing = [guard.watch_withdrawals(study, what) for guard in guards]
        for guard in guards:
            guard.refuse(study)
        self.stamps = {document: stamp for guard in guards for document, stamp in guard.text_stamps(study).items()}
        """By document: a stamp that changes with the names masked in it."""

    @contextmanager
    def placing(self) -> Iterator[None]:
        """Refuses to publish if somebody has withdrawn since the build began; blocks withdrawals until it is done."""
        with ExitStack() as locks:
            for placing in self._placing:
                locks.enter_context(placing())
            yield


def find_held(study: Study, opened: Mapping[str, Any]) -> tuple[str, ...]:
    """Lists published folders on hold: they may contain data that must no longer be read, so only the lead opens them.

    `opened` maps features to sessions that are already open.
    """
    published = {name: read_masked_names(study, name) for name in published_folders(study)}
    names = {
        name
        for feature, guard in publication_guards().items()
        for name in guard.withheld(opened.get(feature), published)
    }
    return tuple(name for name in published if name in names)


def published_folders(study: Study) -> tuple[str, ...]:
    return tuple(name for name in PUBLISHED if (study.published / name / "index.html").exists())
