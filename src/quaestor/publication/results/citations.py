"""Resolves the codes that study.toml cites: by id, never by position, and only while they mean what they meant.

Tables show a code by its label: a printed one such as `D1`, which the study maps to an id, or else a key letter and a
number that never change once given. A label addresses rows and cells; it does not refer to a code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from quaestor.base.errors import SettingsError
from quaestor.base.names import suggest
from quaestor.coding.model.codebook.history import History, find_last_import, list_differences
from quaestor.coding.model.records import Code, Codebook, Difference
from quaestor.study.folder import Study
from quaestor.study.settings.publication import Conditions, ValueSettings

_LETTERED = 2
_CHANGES = {
    "renamed": "renamed to {after!r}",
    "merged": "merged into {after!r}",
    "split": "split into {after}",
    "withdrawn": "removed",
}
"""Changes of a code after which a sentence about it may no longer be true."""


def label_codes(study: Study, versions: Sequence[Codebook]) -> dict[str, str]:
    """Returns the label of every code of the tree, by id.

    A code that the study gives no label is called D, D1 or D1.1 if its root has a key, else by its id. Numbers are
    given in the order in which codes first appear in any version, so that no change of the codebook gives a label to
    another code.
    """
    results, latest = study.settings.results, versions[-1]
    if results.labels:
        for label, code in results.labels.items():
            if code not in latest.codes:
                known = suggest(code, latest.codes)
                raise SettingsError(
                    f"{study.file}: results.labels: {label!r} is the code {code!r}; choose from: {known}"
                )
            if label in latest.codes and label != code:
                raise SettingsError(f"{study.file}: results.labels: {label!r} is itself the id of a code: rename it")
    labels = {code: label for label, code in results.labels.items()}
    numbers: dict[str, int] = {}
    for book in versions:
        _label_new_codes(book, book.children("", results.tree), "", 1, labels, numbers)
    return labels


def _label_new_codes(
    book: Codebook, codes: Sequence[Code], above: str, depth: int, labels: dict[str, str], numbers: dict[str, int]
) -> None:
    for code in codes:
        if code.id not in labels:
            label = code.key.upper() if depth == 1 else ""
            if above:
                separator, used = "." if depth > _LETTERED else "", set(labels.values())
                numbers[above] = next(
                    number for number in count(numbers.get(above, 0) + 1) if f"{above}{separator}{number}" not in used
                )
                label = f"{above}{separator}{numbers[above]}"
            labels[code.id] = label if label and label not in labels.values() else code.id
        lettered = labels[code.id] if labels[code.id] != code.id else ""
        _label_new_codes(book, book.children(code.id), lettered, depth + 1, labels, numbers)


@dataclass(frozen=True)
class _Resolver:
    """Replaces cited codes by their labels, which the columns of items use as keys."""

    study: Study
    history: History
    book: Codebook
    labels: Mapping[str, str]

    def where(self, place: str, conditions: Conditions) -> Conditions:
        return {name: tuple(self.cite(place, name, key) for key in keys) for name, keys in conditions.items()}

    def value(self, place: str, value: ValueSettings) -> ValueSettings:
        changed: dict[str, Any] = {
            "where": self.where(place, value.where),
            "among": self.where(place, value.among),
            "are": tuple(self.cite(place, value.of or "", key) for key in value.are),
        }
        return value.model_copy(update=changed)

    def cite(self, place: str, level: str, key: str) -> str:
        """Returns the label of a cited code; values of other attributes, and items without one, are unchanged."""
        facet = next((facet.id for facet in self.book.facets.values() if level in facet.levels), None)
        if facet is None or key == "":
            return key
        code = key if key in self.book.codes or key in self.history.latest.codes else self._find_label(place, key)
        self.require_unchanged(place, code)
        return self.labels.get(code, code)

    def _find_label(self, place: str, label: str) -> str:
        code = next((code for code, known in self.labels.items() if known == label), None)
        if code is None:
            change = self._describe_change(label)
            nearest = suggest(label, [code.id for code in self.book.codes.values() if code.active])
            why = change or f"the codebook has no such code, nearest: {nearest}"
            raise SettingsError(f"{self.study.file}: {place} cites {label!r}: {why}")
        if self.study.settings.results.labels:
            raise SettingsError(f"{self.study.file}: {place} cites the label {label!r}: cite the code by id, {code!r}")
        return code

    def require_unchanged(self, place: str, code: str) -> None:
        if self.study.settings.results.taxonomy is not None:
            return  # the tree is a file of the study, which no act changes
        change = self._describe_change(code)
        if change:
            latest = self.history.latest.version
            raise SettingsError(
                f"{self.study.file}: {place} cites {code!r}: {change}. Check what it says about the code, then set "
                f"results.codebook = {latest}"
            )

    def _describe_change(self, code: str) -> str:
        """Returns which act changed the meaning of a code since the citations were written; empty if none did."""
        imported = find_last_import(self.history.changes) or 1
        checked = min(self.study.settings.results.codebook or imported, self.history.latest.version)
        versions = range(checked, self.history.latest.version + 1)
        since = next((version for version in versions if code in self.history.at(version).codes), None)
        if since is None or not self._find_difference(since, self.history.latest.version, code):
            return ""
        for version in range(self.history.latest.version, since, -1):
            difference = self._find_difference(version - 1, version, code)
            if difference is not None:
                kind = self.history.changes[version - 1][0]
                what = _CHANGES[difference.what].format(after=difference.after)
                return f"it was {what} by the act {kind} (version {version} of the codebook)"
        return ""

    def _find_difference(self, before: int, after: int, code: str) -> Difference | None:
        if before == after:
            return None
        differences = list_differences(self.history.at(before), self.history.at(after))
        return next(
            (difference for difference in differences if difference.code == code and difference.what in _CHANGES), None
        )


def resolve_citations(study: Study, history: History, book: Codebook, labels: Mapping[str, str]) -> Study:
    """Returns the study with every cited code replaced by its label; raises SettingsError for one that changed."""
    resolver, settings = _Resolver(study, history, book, labels), study.settings
    for code in settings.results.labels.values():
        resolver.require_unchanged("results.labels", code)
    tables = tuple(
        table.model_copy(update={"where": resolver.where(f"table {table.table}", table.where)})
        for table in settings.tables
    )
    findings = tuple(
        finding.model_copy(
            update={"values": tuple(resolver.value(f"finding {finding.finding}", value) for value in finding.values)}
        )
        for finding in settings.findings
    )
    quantities = tuple(
        resolver.value(f"the quantity {value.claim or value.name}", value) for value in settings.quantities
    )
    resolved = settings.model_copy(update={"tables": tables, "findings": findings, "quantities": quantities})
    return replace(study, settings=resolved)


def list_position_warnings(study: Study, labels: Mapping[str, str]) -> Iterator[str]:
    """Yields a warning if study.toml cites codes by position, which older versions asked for."""
    if study.settings.results.labels:
        return
    codes = {label: code for code, label in labels.items() if label != code}
    values = [value for finding in study.settings.findings for value in finding.values]
    cited = [keys for table in study.settings.tables for keys in table.where.values()]
    for value in (*values, *study.settings.quantities):
        cited += [*value.where.values(), *value.among.values(), value.are]
    positions = sorted({key for keys in cited for key in keys if key in codes})
    if positions:
        shown = ", ".join(f"{label} is {codes[label]}" for label in positions[:5]) + (" …" if positions[5:] else "")
        yield f"{study.file.name} cites codes by position: cite them by id ({shown})"
