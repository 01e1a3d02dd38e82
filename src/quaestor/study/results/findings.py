"""The findings of a study: sentences that hold only as long as their values do."""

from __future__ import annotations

from quaestor.publish.records import Finding
from quaestor.publish.settings import FindingSettings
from quaestor.study.results.values import Computed, value_of


def findings_of(computed: Computed) -> tuple[Finding, ...]:
    """Every declared finding with its values as computed now."""
    return tuple(_finding(computed, asked) for asked in computed.study.settings.findings)


def _finding(computed: Computed, asked: FindingSettings) -> Finding:
    values = tuple(value_of(computed, one) for one in asked.values)
    sentence = asked.sentence.format(**{value.name: value.shown for value in values})
    return Finding(asked.finding, sentence, values)


def failures(findings: tuple[Finding, ...]) -> list[str]:
    """One sentence for each value that does not support its finding."""
    return [
        f"finding {finding.finding}: {value.claim or value.name} is {value.shown}, but {value.why}"
        for finding in findings
        for value in finding.values
        if not value.holds
    ]
