"""Payment of respondents: finished respondents claim it, and no claim leads to an answer.

Claims have their own file and key; `surveys.store.claims` documents what is stored there and what is not.
The payer sees addresses and nothing else; the lead sees counts and the budget, never an address.
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
from quaestor.surveys.model.wording.catalogue import InvalidAnswer
from quaestor.surveys.store.claim_key import ClaimKey
from quaestor.surveys.store.claims import Claim, ClaimFile, PaymentStage

CLAIMS_FILE = "claims.db"
CLAIMS_KEY = "claims.key"
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)+")
_TELEPHONE = re.compile(r"\+[0-9][0-9 -]*")


@dataclass(frozen=True)
class PaymentPage:
    """The payment page of a token."""

    survey: str
    questionnaire: Questionnaire
    pay: Pay
    stage: PaymentStage | None
    """None until an address is given."""


@dataclass(frozen=True)
class Payment:
    """Payment status of a survey: counts and amounts, no addresses."""

    survey: str
    title: str
    pay: Pay
    closed: bool
    counts: dict[PaymentStage, int]
    final: bool = False
    """Whether it is permanently closed."""

    @property
    def promised(self) -> int:
        """Returns the number of cards released to the payer or paid."""
        return self.counts[PaymentStage.RELEASED] + self.counts[PaymentStage.EXPORTED] + self.counts[PaymentStage.PAID]

    @property
    def cost(self) -> float:
        return self.promised * self.pay.amount

    @property
    def affordable(self) -> int | None:
        """Returns how many more cards the budget covers; None without a budget."""
        return None if self.pay.affordable is None else max(0, self.pay.affordable - self.promised)

    @property
    def least(self) -> int:
        """Returns the minimum batch to release; a closed survey has no minimum.

        A smaller batch closes the survey permanently: otherwise a single card would identify an earlier respondent.
        """
        return 1 if self.closed else self.pay.batch

    @property
    def closes_for_good(self) -> bool:
        """Tells whether the next release may be smaller than a batch, which closes the survey permanently."""
        return self.closed and not self.final and self.pay.batch > 1

    def refusal(self, most: int | None = None) -> str:
        """Returns why claims cannot be released now; empty if they can."""
        waiting = self.counts[PaymentStage.WAITING]
        limit = waiting if most is None else min(most, waiting)
        if not waiting:
            return "no claims are waiting for payment"
        if limit < self.least:
            return (
                f"{_cards(limit)} {'is' if limit == 1 else 'are'} too few: until the survey is closed, release "
                f"at least {self.pay.batch} at a time, so that cards cannot be matched to respondents"
            )
        if self.affordable is not None and limit > self.affordable:
            return (
                f"{_cards(limit)} of {self.money(self.pay.amount)} would exceed the budget of "
                f"{self.money(self.pay.budget or 0)}, which covers {self.affordable} more: "
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
    """Number of claims of the survey with the same address, in any stage after waiting."""


def claim_token(surveys: Surveys, code: str) -> str:
    """Returns the token with which a finished respondent claims payment; always the same, and nothing is stored."""
    response = surveys.answers.find(code)
    if response is None or response.standing is not ResponseStatus.FINISHED:
        raise StateError("only finished responses can be paid")
    if surveys.questionnaire(response.survey, response.version).pay is None:
        raise StateError(f"the survey {response.survey!r} does not pay")
    return _key(surveys).token(response.survey, code)


def find_payment_page(surveys: Surveys, name: str, token: str, language: str = "") -> PaymentPage | None:
    """Returns the payment page of a token, in a language of the survey; None for a foreign token."""
    claim = _key(surveys).claim_id(name, token) if _has_key(surveys) else None
    if claim is None:
        return None
    questionnaire, pay = _paying(surveys, name, language)
    with open_claims(surveys) as claims:
        return PaymentPage(name, questionnaire, pay, claims.stage(claim))


def submit_claim(surveys: Surveys, name: str, token: str, address: str) -> None:
    """Stores the address for the card once; it is encrypted before it is written."""
    key = _key(surveys)
    claim_id = key.claim_id(name, token)
    if claim_id is None:
        raise InputError("this payment link is incomplete: open it from the last page of the survey")
    checked_address = _address(_paying(surveys, name)[1], address)
    with open_claims(surveys) as claims:
        if not claims.add(claim_id, name, key.sealed(checked_address, claim_id)):
            raise StateError("an address was already submitted with this link; the first one is kept")


def payment(surveys: Surveys, name: str) -> Payment:
    """Returns the payment status of a survey; the budget comes from its current file, if readable."""
    questionnaire, pay = _paying(surveys, name)
    file = survey_files(surveys.study).get(name)
    try:
        written = read_questionnaire(file).pay if file else None
    except InputError:  # the file is being edited: use the opened version
        written = None
    if written is not None:
        pay = replace(pay, budget=written.budget)
    state = surveys.fielding(name)
    return Payment(name, questionnaire.title, pay, state.status == CLOSED, _counts(surveys, name), state.final)


def payments(surveys: Surveys) -> list[Payment]:
    """Returns the payment status of every opened survey that pays."""
    return [payment(surveys, name) for name in surveys.answers.surveys() if last_paying(surveys, name)]


def release_claims(surveys: Surveys, name: str, most: int | None = None, actor: str | None = None) -> int:
    """Releases waiting claims to the payer, all or a random subset, and returns how many.

    If they are fewer than a batch, the survey is permanently closed before anybody sees one.
    """
    if most is not None and most < 1:
        raise InputError(f"cannot release {most} cards: the number must be at least 1")
    status = payment(surveys, name)

    def drawn(waiting: Sequence[Claim], counts: dict[PaymentStage, int]) -> Sequence[Claim]:
        if refused := replace(status, counts=counts).refusal(most):
            raise StateError(refused)
        if min(len(waiting), len(waiting) if most is None else most) < status.pay.batch:
            close_for_good(surveys, name, actor)
        return waiting if most is None else secrets.SystemRandom().sample(waiting, min(most, len(waiting)))

    with open_claims(surveys) as claims:
        return len(claims.move(name, PaymentStage.WAITING, PaymentStage.RELEASED, drawn))


def list_cards(surveys: Surveys, name: str) -> list[Card]:
    """Returns released, unpaid addresses, for the payer only; those not exported yet come first."""
    if not _has_key(surveys):
        return []
    key = _key(surveys)
    with open_claims(surveys) as claims:
        counts = {
            stage: [key.opened(claim.sealed, claim.id) for claim in claims.claims(name, stage)]
            for stage in (PaymentStage.RELEASED, PaymentStage.EXPORTED, PaymentStage.PAID)
        }
    times = Counter(address.casefold() for addresses in counts.values() for address in addresses)
    return [
        Card(address, stage is PaymentStage.EXPORTED, times[address.casefold()])
        for stage in (PaymentStage.RELEASED, PaymentStage.EXPORTED)
        for address in counts[stage]
    ]


def export_cards(surveys: Surveys, name: str, again: bool = False) -> str:
    """Returns the released cards as CSV, each in one export only; `again` returns exported, unpaid ones."""
    pay, key = payment(surveys, name).pay, _key(surveys)
    source = PaymentStage.EXPORTED if again else PaymentStage.RELEASED
    with open_claims(surveys) as claims:
        moved = claims.move(name, source, PaymentStage.EXPORTED, lambda claims_found, _: claims_found)
    if not moved and again:
        raise StateError(f"{name!r} has no exported cards that are unpaid")
    if not moved and _counts(surveys, name)[PaymentStage.EXPORTED]:
        words = f"all released cards of {name!r} have been exported"
        raise StateError(f"{words}: export them again if the file is lost, or mark them as paid")
    if not moved:
        raise StateError(f"{name!r} has no cards to export: release some first")
    cards = [
        (_cell(key.opened(claim.sealed, claim.id)), f"{pay.amount:g}", escape_formula(pay.currency)) for claim in moved
    ]
    return format_csv([("address", "amount", "currency"), *cards], escape_formulas=False)


def write_cards(surveys: Surveys, name: str, out: Path, again: bool = False) -> None:
    """Writes the same CSV to a new file that only its owner can read."""
    with create_private_text(out) as file:
        file.write(export_cards(surveys, name, again))


def mark_paid(surveys: Surveys, name: str, seen: int) -> int:
    """Marks the exported cards as paid if their number equals `seen`; returns the number."""

    def all_seen(claims: Sequence[Claim], counts: dict[PaymentStage, int]) -> Sequence[Claim]:
        if claims and len(claims) != seen:
            are = "is" if len(claims) == 1 else "are"
            words = f"{_cards(len(claims))} of {name!r} {are} exported and unpaid, not {seen:,}"
            raise StateError(f"{words}: export them again and check all, then mark that number as paid")
        return claims

    with open_claims(surveys) as claims:
        moved = len(claims.move(name, PaymentStage.EXPORTED, PaymentStage.PAID, all_seen))
    if not moved:
        raise StateError(f"{name!r} has no exported cards that are unpaid: export them first")
    return moved


def open_claims(surveys: Surveys) -> ClaimFile:
    return ClaimFile(surveys.study.root / CLAIMS_FILE)


def _counts(surveys: Surveys, name: str) -> dict[PaymentStage, int]:
    if not (surveys.study.root / CLAIMS_FILE).exists():
        return dict.fromkeys(PaymentStage, 0)
    with open_claims(surveys) as claims:
        return claims.counts(name)


def _key(surveys: Surveys) -> ClaimKey:
    return ClaimKey(surveys.study.root / CLAIMS_KEY)


def _has_key(surveys: Surveys) -> bool:
    return (surveys.study.root / CLAIMS_KEY).exists()


def _paying(surveys: Surveys, name: str, language: str = "") -> tuple[Questionnaire, Pay]:
    """Returns the questionnaire that promises payment, and the payment; earlier respondents are paid too."""
    questionnaire = last_paying(surveys, name, language)
    if questionnaire is None or questionnaire.pay is None:
        raise StateError(f"the survey {name!r} does not pay: its file has no [pay]")
    return questionnaire, questionnaire.pay


def _address(pay: Pay, words: str) -> str:
    """Validates and normalises an address; a study with its own address field accepts any text."""
    address_text = " ".join(words.split())
    if not address_text:
        raise InvalidAnswer("no-address")
    if not address_text.isprintable():
        raise InvalidAnswer("odd-characters")
    if not pay.asks and not _EMAIL.fullmatch(address_text):
        raise InvalidAnswer("no-email", said=address_text[:80])
    return address_text


def _cell(address: str) -> str:
    """Escapes an address for a spreadsheet; telephone numbers are harmless and stay unchanged."""
    return address if _TELEPHONE.fullmatch(address) else escape_formula(address)


def _cards(count: int) -> str:
    return "1 card" if count == 1 else f"{count:,} cards"
