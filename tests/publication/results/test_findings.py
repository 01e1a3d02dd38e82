"""The ten findings hold on the printed numbers, and each fails when its numbers no longer support it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.support.printed_study import computed_from, dl_study, printed_results, relabelled, with_numbers

from quaestor.base.errors import InputError, SettingsError
from quaestor.publication.results.item_columns import StudyResults
from quaestor.publication.results.values import Computed, compute_findings, list_failures
from quaestor.study.folder import Study
from quaestor.study.settings.schema import read_settings

RESULTS = printed_results()
Mutation = Callable[[StudyResults], StudyResults]


def test_the_printed_numbers_support_all_ten_findings() -> None:
    findings = compute_findings(computed_from(RESULTS))
    assert [finding.finding for finding in findings] == [str(number) for number in range(1, 11)]
    assert list_failures(findings) == []
    assert "86.4%" in findings[0].sentence
    assert "91.7%" in findings[0].sentence
    assert "data processing, model setting and model training" in findings[0].sentence
    assert "81.6%" in findings[1].sentence  # what the counts give; the paper prints 81.7 too
    assert "80.7%" in findings[2].sentence
    assert "83.3%" in findings[3].sentence  # the paper prints 80.2
    assert "visualization, runtime environment and model evaluation" in findings[8].sentence
    assert "(179.25 days)" in findings[9].sentence


def _lowered(phase: str, measure: str) -> Mutation:
    def change(results: StudyResults) -> StudyResults:
        return with_numbers(
            results,
            measure,
            lambda decided: np.where(decided.build_mask((("phase", (phase,)),)), 0.0, decided.get_numbers(measure)),
        )

    return change


MUTATIONS: dict[str, list[tuple[str, Mutation]]] = {
    "1": [
        ("most discussed categories", lambda one: relabelled(one, "phase", {"T": "V", "V": "T", "D": "V"})),
        ("share of the first four categories", lambda one: relabelled(one, "phase", {"P": "R", "T": "V"})),
        ("level-I categories", lambda one: relabelled(one, "phase", {"R": "V"})),
        ("level-II categories", lambda one: relabelled(one, "object", {f"T{n}": "T1" for n in range(10, 19)})),
    ],
    "2": [
        ("share of data, tensor and image", lambda one: relabelled(one, "object", {"D1": "D4"})),
        ("share of transform, convert", lambda one: relabelled(one, "group", {"transform-convert": "read-save"})),
    ],
    "3": [
        ("share of layer and model", lambda one: relabelled(one, "object", {"M1": "M3"})),
        ("kinds of specific models", lambda one: relabelled(one, "type", _all_to("type", "layer"))),
        ("kinds of operations", lambda one: relabelled(one, "operation", _all_to("operation", ""))),
    ],
    "4": [("share of model, layer and inner", lambda one: relabelled(one, "object", {"T1": "T7"}))],
    "5": [("share of model, layer and weight", lambda one: relabelled(one, "object", {"P1": "P2"}))],
    "6": [("share of accuracy", lambda one: relabelled(one, "object", {"E1": "E3"}))],
    "7": [("share of GPU use", lambda one: relabelled(one, "object", {"R1": "R5"}))],
    "8": [
        ("share of data or prediction results", lambda one: relabelled(one, "object", {"V1": "V7"})),
        ("share of model or layer", lambda one: relabelled(one, "object", {"V2": "V7"})),
    ],
    "9": [
        ("most popular categories", _lowered("V", "viewcount")),
        (
            "strongly correlated",
            lambda one: with_numbers(one, "score", lambda decided: -decided.get_numbers("viewcount")),
        ),
        ("strongly correlated", lambda one: with_numbers(one, "score", _alternating)),
    ],
    "10": [
        ("most difficult categories", _lowered("R", "response_days")),
        ("derivative and threshold", lambda one: relabelled(one, "object", {"T18": "T17"})),
        ("weakly correlated", lambda one: with_numbers(one, "response_days", _slow)),
    ],
}


def _all_to(attribute: str, key: str) -> dict[str, str]:
    return dict.fromkeys(RESULTS.decided.get_attribute(attribute).keys, key)


def _alternating(decided) -> np.ndarray:  # type: ignore[no-untyped-def]
    return np.arange(len(decided)) % 2 * 1.0


def _slow(decided) -> np.ndarray:  # type: ignore[no-untyped-def]
    return decided.get_numbers("viewcount") / 10


@pytest.mark.parametrize(
    ("finding", "claim", "mutation"),
    [(finding, claim, mutation) for finding, cases in MUTATIONS.items() for claim, mutation in cases],
)
def test_a_finding_fails_when_the_data_do_not_support_it(finding: str, claim: str, mutation: Mutation) -> None:
    found = {one.finding: one for one in compute_findings(computed_from(mutation(RESULTS)))}
    assert not found[finding].holds
    failures = list_failures((found[finding],))
    assert any(words.startswith(f"finding {finding}: ") and claim in words for words in failures), failures


def test_every_finding_has_a_failing_example() -> None:
    assert set(MUTATIONS) == {finding.finding for finding in dl_study().settings.findings}


def test_without_data_every_finding_fails() -> None:
    findings = compute_findings(Computed(dl_study()))
    assert not any(finding.holds for finding in findings)
    assert all("nothing has been decided" in words for words in list_failures(findings))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("{phases}", "{phase}"), "not a value"),
        (("{phases}", "{phases"), "unbalanced braces"),
        (('name = "objects", kind = "distinct"', 'name = "phases", kind = "distinct"'), "two values are called"),
        (('kind = "distinct", of = "phase"', 'kind = "distinct"'), "needs of"),
        (('kind = "distinct", of = "phase"', 'kind = "uniq", of = "phase"'), "choose from"),
        (("{phases}", "{phases:d}"), "formats a value"),
        (("equals = 7", "significant = true"), "significant needs kind"),
        (("equals = 7", 'are = ["D"]'), "are and in_order need kind"),
        (('are = ["data-processing", "model-setting", "model-training"]', "at_most = 3"), "a rank is a list of names"),
    ],
)
def test_an_invalid_finding_is_refused_in_one_sentence(tmp_path, change: tuple[str, str], words: str) -> None:  # type: ignore[no-untyped-def]
    text = dl_study().file.read_text("utf-8").replace(*change, 1)
    path = tmp_path / "study.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=words):
        read_settings(path)


def test_a_tie_supports_no_order() -> None:
    level = with_numbers(RESULTS, "viewcount", lambda decided: np.ones(len(decided)))
    failures = list_failures(compute_findings(computed_from(level)))
    assert any("are tied, so their order is undefined" in words for words in failures)


def test_an_undefined_value_supports_no_finding() -> None:
    study = dl_study()
    asked = study.settings.findings[4]
    bare = asked.values[0].model_copy(update={"at_least": None})
    nothing = relabelled(RESULTS, "phase", {"P": "T"})
    finding = asked.model_copy(update={"values": (bare,)})
    settings = study.settings.model_copy(update={"findings": (finding,)})
    findings = compute_findings(Computed(Study(study.root, settings), nothing))
    assert [one.holds for one in findings] == [False]


def test_an_unknown_attribute_in_a_finding_raises_an_error() -> None:
    study = dl_study()
    asked = study.settings.findings[4]
    wrong = asked.values[0].model_copy(update={"where": {"objcet": ("P1",)}})
    settings = study.settings.model_copy(update={"findings": (asked.model_copy(update={"values": (wrong,)}),)})
    with pytest.raises(InputError, match=r"items have no attribute 'objcet'; choose from: object"):
        compute_findings(Computed(Study(study.root, settings), RESULTS))
