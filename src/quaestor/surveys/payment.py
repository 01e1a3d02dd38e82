"""Pay for respondents: who finished claims it, with nothing that leads from a claim to an answer.

The claims have a file and a key of their own. What is written there, and what is not, `instruments.claim_file` says.
The payer gets addresses and nothing else; the lead sees counts and the budget, never an address.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from quaestor.base.errors import InputError, StateError
from quaestor.base.files import create_private_text
from quaestor.base.table_files import escape_formula, format_csv
from quaestor.surveys.lifecycle import CLOSED, Surveys, close_for_good, last_paying, survey_files
from quaestor.surveys.model.questionnaire_file import read_questionnaire
from quaestor.surveys.model.records import Pay, Questionnaire, ResponseStatus
from quaestor.surveys.model.wording.refusals import NotTaken
from quaestor.surveys.store.claim_key import ClaimKey
from quaestor.surveys.store.claims import Claim, ClaimFile, Stage

CLAIMS_FILE = "claims.db"
CLAIMS_KEY = "claims.key"
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
_TELEPHONE = re.compile(r"\+[0-9][0-9 -]*")


@dataclass(frozen=True)
class Claiming:
    """The payment part as whoever holds a token meets it."""

    survey: str
    questionnaire: Questionnaire
    pay: Pay
    stage: Stage | None
    """None where the address has not been given yet."""


@dataclass(frozen=True)
class Payment:
    """Where the pay of a survey stands: counts and money, no address."""

    survey: str
    title: str
    pay: Pay
    closed: bool
    counts: dict[Stage, int]
    final: bool = False
    """Whether it is closed for good."""

    @property
    def promised(self) -> int:
        """Cards that the payer has been told to pay, or has paid."""
        return self.counts[Stage.RELEASED] + self.counts[Stage.EXPORTED] + self.counts[Stage.PAID]

    @property
    def cost(self) -> float:
        return self.promised * self.pay.amount

    @property
    def affordable(self) -> int | None:
        """How many more cards the budget pays for; None where there is no budget."""
        return None if self.pay.affordable is None else max(0, self.pay.affordable - self.promised)

    @property
    def least(self) -> int:
        """How many are handed over together at least; when the survey is closed nobody waits for others.

        Fewer than a batch close it for good: else a single card would say who answered before it was opened again.
        """
        return 1 if self.closed else self.pay.batch

    @property
    def closes_for_good(self) -> bool:
        """Whether fewer than a batch can be handed over, after which the survey is not opened again."""
        return self.closed and not self.final and self.pay.batch > 1

    def refusal(self, most: int | None = None) -> str:
        """Why claims cannot be released now, in a sentence; empty where they can."""
        waiting = self.counts[Stage.WAITING]
        limit = waiting if most is None else min(most, waiting)
        if not waiting:
            return "nobody waits to be paid"
        if limit < self.least:
            return (
                f"{_cards(limit)} {'is' if limit == 1 else 'are'} too few: until the survey is closed they go to the "
                f"payer {self.pay.batch} at a time at least, so that nobody can tell whose is whose"
            )
        if self.affordable is not None and limit > self.affordable:
            return (
                f"{_cards(limit)} of {self.money(self.pay.amount)} would go beyond the budget of "
                f"{self.money(self.pay.budget or 0)}, which pays for {self.affordable} more: "
                f"raise pay.budget in instruments/{self.survey}.toml, or release fewer"
            )
        return ""

    def money(self, amount: float) -> str:
        return f"{amount:,.2f} {self.pay.currency}".replace(".00 ", " ")


@dataclass(frozen=True)
class Card:
    """One address that waits for its card."""

    address: str
    exported: bool
    times: int
    """How many claims of the survey name the same address, in whatever stage past waiting."""


def claim_token(surveys: Surveys, code: str) -> str:
    """What somebody who finished shows in the payment part; nothing is written, and it is the same each time."""
    response = surveys.answers.find(code)
    if response is None or response.standing is not ResponseStatus.FINISHED:
        raise StateError("only who has finished the survey can be paid")
    if surveys.questionnaire(response.survey, response.version).pay is None:
        raise StateError(f"the survey {response.survey!r} pays nothing")
    return _key(surveys).token(response.survey, code)


def claiming(surveys: Surveys, name: str, token: str, language: str = "") -> Claiming | None:
    """What a token is for, in a language that the survey has, else in its first; None where it was not made here."""
    claim = _key(surveys).claim_id(name, token) if _has_key(surveys) else None
    if claim is None:
        return None
    questionnaire, pay = _paying(surveys, name, language)
    with open_claims(surveys) as claims:
        return Claiming(name, questionnaire, pay, claims.stage(claim))


def claim(surveys: Surveys, name: str, token: str, address: str) -> None:
    """Say where the card is to be sent, once; the address is under seal before it is written."""
    key = _key(surveys)
    claim_id = key.claim_id(name, token)
    if claim_id is None:
        raise InputError("this link to the payment part is not whole: open it from the last page of the survey")
    checked_address = _address(_paying(surveys, name)[1], address)
    with open_claims(surveys) as claims:
        if not claims.add(claim_id, name, key.sealed(checked_address, claim_id)):
            raise StateError("an address has been given with this link already, and the first one stands")


def payment(surveys: Surveys, name: str) -> Payment:
    """Where the pay of a survey stands; the budget is the one that its file says now, where it can be read."""
    questionnaire, pay = _paying(surveys, name)
    file = survey_files(surveys.study).get(name)
    try:
        written = read_questionnaire(file).pay if file else None
    except InputError:  # somebody is writing it: the payer goes by what was opened
        written = None
    if written is not None:
        pay = replace(pay, budget=written.budget)
    stands = surveys.fielding(name)
    return Payment(name, questionnaire.title, pay, stands.status == CLOSED, _counts(surveys, name), stands.final)


def payments(surveys: Surveys) -> list[Payment]:
    """Of every survey that pays and has been opened."""
    return [payment(surveys, name) for name in surveys.answers.surveys() if last_paying(surveys, name)]


def release(surveys: Surveys, name: str, most: int | None = None, actor: str | None = None) -> int:
    """Hand claims that wait to the payer, all or so many of them, drawn by lot; how many they are.

    Where they are fewer than go together otherwise, the survey is closed for good before anybody sees one.
    """
    if most is not None and most < 1:
        raise InputError(f"{most} cards cannot be released: give a number from 1")
    stands = payment(surveys, name)

    def drawn(waiting: Sequence[Claim], counts: dict[Stage, int]) -> Sequence[Claim]:
        if refused := replace(stands, counts=counts).refusal(most):
            raise StateError(refused)
        if min(len(waiting), len(waiting) if most is None else most) < stands.pay.batch:
            close_for_good(surveys, name, actor)
        return waiting if most is None else secrets.SystemRandom().sample(waiting, min(most, len(waiting)))

    with open_claims(surveys) as claims:
        return len(claims.move(name, Stage.WAITING, Stage.RELEASED, drawn))


def cards(surveys: Surveys, name: str) -> list[Card]:
    """Addresses that were released and not paid yet, for the payer alone; those not exported yet come first."""
    if not _has_key(surveys):
        return []
    key = _key(surveys)
    with open_claims(surveys) as claims:
        counts = {
            stage: [key.opened(claim.sealed, claim.id) for claim in claims.claims(name, stage)]
            for stage in (Stage.RELEASED, Stage.EXPORTED, Stage.PAID)
        }
    times = Counter(address.casefold() for addresses in counts.values() for address in addresses)
    return [
        Card(address, stage is Stage.EXPORTED, times[address.casefold()])
        for stage in (Stage.RELEASED, Stage.EXPORTED)
        for address in counts[stage]
    ]


def export_cards(surveys: Surveys, name: str, again: bool = False) -> str:
    """The released cards as a CSV, each in one export; `again` gives those exported before and not paid yet."""
    pay, key = payment(surveys, name).pay, _key(surveys)
    source = Stage.EXPORTED if again else Stage.RELEASED
    with open_claims(surveys) as claims:
        moved = claims.move(name, source, Stage.EXPORTED, lambda claims_found, _: claims_found)
    if not moved and again:
        raise StateError(f"no card of {name!r} waits to be paid after an export")
    if not moved and _counts(surveys, name)[Stage.EXPORTED]:
        words = f"every card of {name!r} that was released has been exported"
        raise StateError(f"{words}: export them again if the file is lost, or mark them as paid when they are")
    if not moved:
        raise StateError(f"no card of {name!r} waits for an export: release some first")
    cards = [
        (_cell(key.opened(claim.sealed, claim.id)), f"{pay.amount:g}", escape_formula(pay.currency)) for claim in moved
    ]
    return format_csv([("address", "amount", "currency"), *cards], escape_formulas=False)


def write_cards(surveys: Surveys, name: str, out: Path, again: bool = False) -> None:
    """The same into a new file that its owner alone can read."""
    with create_private_text(out) as file:
        file.write(export_cards(surveys, name, again))


def mark_paid(surveys: Surveys, name: str, seen: int) -> int:
    """The cards that were exported are paid, if they are as many as were seen; how many they are."""

    def all_seen(claims: Sequence[Claim], counts: dict[Stage, int]) -> Sequence[Claim]:
        if claims and len(claims) != seen:
            are = "is" if len(claims) == 1 else "are"
            words = f"{_cards(len(claims))} of {name!r} {are} exported and not paid, not {seen:,}"
            raise StateError(f"{words}: look at all of them (export them again), then mark so many as paid")
        return claims

    with open_claims(surveys) as claims:
        moved = len(claims.move(name, Stage.EXPORTED, Stage.PAID, all_seen))
    if not moved:
        raise StateError(f"no card of {name!r} was exported and not paid yet: export them first")
    return moved


def open_claims(surveys: Surveys) -> ClaimFile:
    return ClaimFile(surveys.study.root / CLAIMS_FILE)


def _counts(surveys: Surveys, name: str) -> dict[Stage, int]:
    if not (surveys.study.root / CLAIMS_FILE).exists():
        return dict.fromkeys(Stage, 0)
    with open_claims(surveys) as claims:
        return claims.counts(name)


def _key(surveys: Surveys) -> ClaimKey:
    return ClaimKey(surveys.study.root / CLAIMS_KEY)


def _has_key(surveys: Surveys) -> bool:
    return (surveys.study.root / CLAIMS_KEY).exists()


def _paying(surveys: Surveys, name: str, language: str = "") -> tuple[Questionnaire, Pay]:
    """The questionnaire that promises pay and what it promises: who finished an earlier one is paid all the same."""
    questionnaire = last_paying(surveys, name, language)
    if questionnaire is None or questionnaire.pay is None:
        raise StateError(f"the survey {name!r} pays nothing: its file has no [pay]")
    return questionnaire, questionnaire.pay


def _address(pay: Pay, words: str) -> str:
    """What a person typed, as it is sent to the payer; a study that asks for something of its own gets any words."""
    address_text = " ".join(words.split())
    if not address_text:
        raise NotTaken("no-address")
    if not address_text.isprintable():
        raise NotTaken("odd-characters")
    if not pay.asks and not _EMAIL.fullmatch(address_text):
        raise NotTaken("no-email", said=address_text[:80])
    return address_text


def _cell(address: str) -> str:
    """An address as a spreadsheet shows it; a telephone number does no harm, and must go out as it is."""
    return address if _TELEPHONE.fullmatch(address) else escape_formula(address)


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count:,} cards"
