"""What a round can be made of: the facets, steps, samples, earlier rounds and people of a study."""

from __future__ import annotations

from dataclasses import dataclass

from quaestor.people.roles import Role
from quaestor.study.folder import Study
from quaestor.study.people import list_people


@dataclass(frozen=True)
class FacetChoice:
    facet: str
    kind: str
    question: str


@dataclass(frozen=True)
class RoundChoices:
    """Everything a new round may name."""

    facets: tuple[FacetChoice, ...]
    steps: tuple[str, ...]
    samples: tuple[str, ...]
    rounds: tuple[str, ...]
    keeping: tuple[str, ...]
    """Rounds that keep or exclude items."""
    people: tuple[str, ...]
    """Those who rate in some round, or joined to."""
    kinds: tuple[str, ...] = ("pilot", "main", "drift")
    statistics: tuple[tuple[str, str], ...] = (
        ("kappa", "kappa"), ("alpha", "Krippendorff's alpha"), ("ac1", "Gwet's AC1"), ("percent", "percent agreement")
    )  # fmt: skip
    ways: tuple[tuple[str, str], ...] = (
        ("discussion", "the raters discuss each disagreement"),
        ("two-step", "a tie-breaker comments first, then all decide together"),
        ("tie-breaker", "a tie-breaker decides alone"),
        ("agreement", "only what the raters agree on is decided"),
    )


def round_choices(study: Study, without: str = "") -> RoundChoices:
    """What a new round may name, or one that is changed: nothing that comes after it in the file."""
    settings = study.settings
    names = [one.round for one in settings.rounds]
    earlier = settings.rounds[: names.index(without)] if without in names else settings.rounds
    joined = [one.name for one in list_people(study).accounts if one.role in (Role.RATER, Role.TIE_BREAKER, Role.LEAD)]
    named = [name for one in settings.rounds for name in (*one.raters, one.tie_breaker or "")]
    lead = settings.study.lead
    people = dict.fromkeys(name for name in [*named, *joined] if name and name != lead)
    return RoundChoices(
        facets=tuple(FacetChoice(name, one.kind, one.question) for name, one in settings.facets.items()),
        steps=tuple(step.step for step in settings.funnel.steps),
        samples=tuple(settings.samples),
        rounds=tuple(one.round for one in earlier),
        keeping=tuple(one.round for one in earlier if any(settings.facets[f].kind == "keep" for f in one.facets)),
        people=(*people, lead),
    )
