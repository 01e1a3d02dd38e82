"""Pay within the budget, several at once, drawn by lot; and invitations that say nothing about answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.small_survey import FORMS, NAME, QUESTIONNAIRE, answered, fielded, send, small_survey

from quaestor.base.errors import InputError, StateError
from quaestor.surveys.invitations import (
    InvitationLink,
    accept_invitation,
    count_invitations,
    invite,
    links_csv,
    response_rates,
)
from quaestor.surveys.lifecycle import Surveys, close_for_good, close_survey, open_survey
from quaestor.surveys.payment import (
    claim_token,
    export_cards,
    find_payment_page,
    list_cards,
    mark_paid,
    payment,
    payments,
    release_claims,
    submit_claim,
    write_cards,
)
from quaestor.surveys.respond import begin_response
from quaestor.surveys.status import read_status
from quaestor.surveys.store.claims import PaymentStage

POOR = QUESTIONNAIRE.replace("budget = 500", 'budget = 70\nasks = "Your account at the shop"')
NAMED = QUESTIONNAIRE.replace("least_seconds = 20", "anonymous = false")
UNPAID = re.sub(r"\[pay\].*?\n\n", "", QUESTIONNAIRE, flags=re.DOTALL)


@pytest.fixture
def surveys(tmp_path: Path) -> Iterator[Surveys]:
    with fielded(tmp_path / "study") as opened:
        yield opened


def claimants(surveys: Surveys, count: int, address: str = "somebody-{}@example.org") -> None:
    for number in range(count):
        submit_claim(surveys, NAME, claim_token(surveys, answered(surveys)[0]), address.format(number))


def test_only_a_finished_respondent_gets_a_claim_token_and_nothing_is_stored_for_it(surveys: Surveys) -> None:
    code, _ = begin_response(surveys, NAME)
    for asking in (code, "no such code"):
        with pytest.raises(StateError, match="only finished responses can be paid"):
            claim_token(surveys, asking)
    declined, _ = answered(surveys, forms={"consent": {"q.consent": ["decline"]}})
    with pytest.raises(StateError, match="only finished responses can be paid"):
        claim_token(surveys, declined)
    done, _ = answered(surveys)
    assert claim_token(surveys, done) == claim_token(surveys, done)
    assert not (surveys.study.root / "claims.db").exists()


def test_claims_are_released_exported_and_paid_with_each_address_in_one_file(surveys: Surveys, tmp_path: Path) -> None:
    claimants(surveys, 6)
    assert [survey_payment.survey for survey_payment in payments(surveys)] == [NAME]
    assert release_claims(surveys, NAME, most=5) == 5
    assert len(list_cards(surveys, NAME)) == 5
    first = export_cards(surveys, NAME)
    with pytest.raises(StateError, match="all released cards of 'tools' have been exported: export them again"):
        export_cards(surveys, NAME)
    with pytest.raises(StateError, match="all released cards of 'tools' have been exported: export them again"):
        write_cards(surveys, NAME, tmp_path / "cards.csv")
    write_cards(surveys, NAME, tmp_path / "cards.csv", again=True)
    assert (tmp_path / "cards.csv").read_bytes().decode() == first
    assert (tmp_path / "cards.csv").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="name a file that does not exist yet"):
        write_cards(surveys, NAME, tmp_path / "cards.csv", again=True)
    with pytest.raises(StateError, match="5 cards of 'tools' are exported and unpaid, not 4"):
        mark_paid(surveys, NAME, 4)
    assert mark_paid(surveys, NAME, 5) == 5
    with pytest.raises(StateError, match="has no exported cards that are unpaid"):
        mark_paid(surveys, NAME, 5)
    assert payment(surveys, NAME).counts == {
        PaymentStage.WAITING: 1, PaymentStage.RELEASED: 0, PaymentStage.EXPORTED: 0, PaymentStage.PAID: 5,
    }  # fmt: skip
    assert payment(surveys, NAME).cost == 50


def test_a_small_number_of_claims_waits_until_the_survey_is_closed(surveys: Surveys) -> None:
    claimants(surveys, 4)
    with pytest.raises(StateError, match=r"4 cards are too few.*5 at a time"):
        release_claims(surveys, NAME)
    close_survey(surveys, NAME)
    assert release_claims(surveys, NAME) == 4
    with pytest.raises(StateError, match="no claims are waiting"):
        release_claims(surveys, NAME)


def test_releasing_fewer_cards_than_a_batch_closes_the_survey_permanently(surveys: Surveys) -> None:
    claimants(surveys, 1)
    close_survey(surveys, NAME)
    assert payment(surveys, NAME).closes_for_good
    assert release_claims(surveys, NAME, actor="payer") == 1
    with pytest.raises(StateError, match=r"is closed permanently.*a survey with another name"):
        open_survey(surveys, NAME)
    assert (payment(surveys, NAME).final, payment(surveys, NAME).closes_for_good) == (True, False)
    with surveys.coding.locked_state() as state:
        assert [(one.kind, one.actor) for one in state.unhandled_acts][-1] == ("survey.final", "payer")


def test_a_closed_survey_can_be_reopened_after_releasing_a_full_batch(surveys: Surveys) -> None:
    claimants(surveys, 6)
    close_survey(surveys, NAME)
    assert release_claims(surveys, NAME, most=5) == 5
    small_survey(surveys.study.root, QUESTIONNAIRE.replace("least_seconds = 20", "least_seconds = 21"))
    open_survey(surveys, NAME)
    with pytest.raises(StateError, match=r"1 card is too few.*5 at a time"):
        release_claims(surveys, NAME)


def test_an_open_survey_cannot_release_a_single_card(surveys: Surveys) -> None:
    claimants(surveys, 1)
    with pytest.raises(StateError, match="close it first"):
        close_for_good(surveys, NAME)


def test_the_budget_is_not_exceeded_and_can_be_raised(tmp_path: Path) -> None:
    with fielded(tmp_path, POOR) as surveys:
        claimants(surveys, 8, "account {}")
        with pytest.raises(StateError, match=r"8 cards of 10 USD would exceed the budget of 70 USD, which covers 7"):
            release_claims(surveys, NAME)
        assert release_claims(surveys, NAME, most=7) == 7
        assert payment(surveys, NAME).affordable == read_status(surveys, NAME).affordable == 0
        small_survey(tmp_path, POOR.replace("budget = 70", "budget = 80"))
        close_survey(surveys, NAME)
        assert release_claims(surveys, NAME) == 1
        assert {card.address for card in list_cards(surveys, NAME)} == {f"account {number}" for number in range(8)}


def test_a_claim_token_works_once_for_its_survey(surveys: Surveys) -> None:
    token = claim_token(surveys, answered(surveys)[0])
    assert find_payment_page(surveys, NAME, "invented") is None
    with pytest.raises(InputError, match="link is incomplete"):
        submit_claim(surveys, NAME, "invented", "x@example.org")
    submit_claim(surveys, NAME, token, "first@example.org")
    with pytest.raises(StateError, match="first one is kept"):
        submit_claim(surveys, NAME, token, "second@example.org")
    close_survey(surveys, NAME)
    release_claims(surveys, NAME)
    assert [card.address for card in list_cards(surveys, NAME)] == ["first@example.org"]
    payment_page = find_payment_page(surveys, NAME, token)
    assert payment_page is not None
    assert payment_page.stage is PaymentStage.RELEASED


def test_a_response_stores_a_stratum_of_at_least_five_and_never_a_batch(surveys: Surveys) -> None:
    pro = invite(surveys, NAME, "first-batch", "pro", count=5)
    normal = invite(surveys, NAME, "first-batch", "normal", labels=["a", "b", "c", "d"])
    strata = []
    for one in (*pro, *normal):
        _, code = accept_invitation(surveys, one.token)
        response = surveys.answers.find(code)
        assert response is not None
        strata.append(response.stratum)
    assert strata == ["pro"] * 5 + [""] * 4
    for path in surveys.study.root.glob("answers.db*"):
        assert b"first-batch" not in path.read_bytes()
    rates = response_rates(surveys, NAME)
    assert [(one.name, one.sent, one.used) for one in rates.by_stratum] == [("smaller strata", 9, 9)]
    assert [(one.name, one.rate) for one in rates.by_batch] == [("first-batch", 1.0)]


def test_response_rates_by_stratum_need_a_survey_by_invitation(tmp_path: Path) -> None:
    only = QUESTIONNAIRE.replace("least_seconds = 20", "by_invitation = true")
    for name, text in (("only", only), ("public", QUESTIONNAIRE)):
        with fielded(tmp_path / name, text) as surveys:
            links = [one for stratum in ("pro", "normal") for one in invite(surveys, NAME, "first", stratum, count=6)]
            for number, one in enumerate((*links[:3], links[-1])):
                _, code = accept_invitation(surveys, one.token)
                for page, form in FORMS.items() if number != 1 else ():
                    send(surveys, code, page, form)
            rates = response_rates(surveys, NAME)
            told = [(each.name, each.sent, each.used, each.finished) for each in (rates.whole, *rates.by_stratum)]
            if name == "only":
                assert told == [(NAME, 12, 4, 3), ("normal", 6, 1, 1), ("pro", 6, 3, 2)]
                assert rates.whole.finished_rate == 3 / 12
            else:
                assert [line[3] for line in told] == [None, None, None]
            assert [each.finished for each in rates.by_batch] == [None]


def test_an_anonymous_survey_shows_no_rate_of_fewer_than_five_people(surveys: Surveys) -> None:
    [one] = invite(surveys, NAME, "one-person", "pro", count=1)
    invite(surveys, NAME, "nine", "pro", count=9)
    invite(surveys, NAME, "many", "pro", count=20)
    invite(surveys, NAME, "many", "normal", count=3)
    invite(surveys, NAME, "more", "normal", count=20)
    accept_invitation(surveys, one.token)
    rates = response_rates(surveys, NAME)
    told = [(each.name, each.sent, each.used) for each in rates.by_batch]
    # Three people of `many` would follow from what is said of `more` and of their stratum: both go in.
    assert told == [("nine", 9, 0), ("smaller batches", 44, 1)]
    assert all(each.sent >= 5 for each in count_invitations(surveys, NAME))
    assert rates.whole.used == 1


def test_a_named_survey_shows_the_rate_of_every_batch(tmp_path: Path) -> None:
    with fielded(tmp_path, NAMED) as surveys:
        [one] = invite(surveys, NAME, "one-person", "pro", count=1)
        invite(surveys, NAME, "nine", "pro", count=9)
        accept_invitation(surveys, one.token)
        found = [(each.name, each.sent, each.used) for each in response_rates(surveys, NAME).by_batch]
        assert found == [("nine", 9, 0), ("one-person", 1, 1)]


def test_anonymity_cannot_change_after_people_were_invited(surveys: Surveys) -> None:
    small_survey(surveys.study.root, NAMED)
    open_survey(surveys, NAME)
    invite(surveys, NAME, "first", "pro", count=1)
    small_survey(surveys.study.root, QUESTIONNAIRE)
    with pytest.raises(StateError, match=r"survey.anonymous.*people were invited before"):
        open_survey(surveys, NAME)
    assert surveys.fielding(NAME).version == 2
    assert not surveys.questionnaire(NAME).anonymous


def test_promised_pay_is_kept_in_a_later_version_without_pay(surveys: Surveys) -> None:
    late, _ = answered(surveys, forms={"consent": FORMS["consent"]})
    small_survey(surveys.study.root, UNPAID)
    open_survey(surveys, NAME)
    for page in ("you", "tools", "words"):
        send(surveys, late, page, FORMS[page])
    token = claim_token(surveys, late)
    payment_page = find_payment_page(surveys, NAME, token, "de")
    assert payment_page is not None
    assert (payment_page.pay.amount, payment_page.questionnaire.language) == (10, "de")
    submit_claim(surveys, NAME, token, "somebody@example.org")
    assert [(one.survey, one.pay.amount, one.counts[PaymentStage.WAITING]) for one in payments(surveys)] == [
        (NAME, 10, 1)
    ]


@pytest.mark.parametrize(
    ("text", "why", "pages"),
    [
        (UNPAID, r"no longer has \[pay\]", 4),
        (QUESTIONNAIRE.replace("amount = 10", "amount = 5"), "pays 5 USD", 4),
        (QUESTIONNAIRE.replace("amount = 10", "amount = 5"), "pays 5 USD", 1),
        (QUESTIONNAIRE.replace('"USD"', '"EUR"'), "pays 10 EUR", 4),
    ],
)
def test_promised_pay_cannot_change_after_the_first_response(surveys: Surveys, text: str, why: str, pages: int) -> None:
    answered(surveys, forms=dict(list(FORMS.items())[:pages]))
    small_survey(surveys.study.root, text)
    with pytest.raises(StateError, match=rf"{why}.*promised 10 USD"):
        open_survey(surveys, NAME)
    assert payment(surveys, NAME).pay.amount == 10
    small_survey(surveys.study.root, QUESTIONNAIRE.replace("budget = 500", "budget = 900"))
    assert open_survey(surveys, NAME).number == 2


def test_an_unreadable_questionnaire_does_not_change_pay(surveys: Surveys) -> None:
    small_survey(surveys.study.root, "[survey\n")
    assert [survey_payment.pay.budget for survey_payment in payments(surveys)] == [500]


def test_phone_numbers_are_exported_unchanged_and_formulas_are_escaped(tmp_path: Path) -> None:
    with fielded(tmp_path, POOR) as surveys:
        said = ("+49 170-555 01", "+SUM(1)", "-5", "+1+cmd", "+4917055501")
        for address in said:
            submit_claim(surveys, NAME, claim_token(surveys, answered(surveys)[0]), address)
        release_claims(surveys, NAME)
        found = {line.split(",")[0] for line in export_cards(surveys, NAME).splitlines()[1:]}
        assert found == {"+49 170-555 01", "'+SUM(1)", "-5", "'+1+cmd", "+4917055501"}


def test_response_rates_without_invitations_are_empty(surveys: Surveys) -> None:
    rates = response_rates(surveys, NAME)
    assert (rates.whole.sent, rates.whole.rate, rates.by_batch) == (0, None, ())
    assert not (surveys.study.root / "invitations.db").exists()


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"batch": "x", "stratum": "pro"}, "either the number of invitations or one label"),
        (
            {"batch": "x", "stratum": "pro", "count": 2, "labels": ["a"]},
            "either the number of invitations or one label",
        ),
        ({"batch": "x", "stratum": "pro", "count": 0}, "cannot create 0 invitations: the number must be from 1"),
        ({"batch": " ", "stratum": "pro", "count": 1}, "name the batch"),
        ({"batch": "x", "stratum": "por", "count": 1}, "no stratum 'por'; choose from: pro"),
    ],
)
def test_an_invalid_batch_of_invitations_is_refused(surveys: Surveys, asked: dict[str, object], why: str) -> None:
    with pytest.raises(InputError, match=why):
        invite(surveys, NAME, **asked)  # type: ignore[arg-type]
    with pytest.raises(StateError, match="not the lead"):
        invite(surveys, NAME, "x", "pro", count=1, actor="rater-1")


def test_links_are_escaped_for_spreadsheets() -> None:
    text = links_csv([InvitationLink("abc", "=1+1"), InvitationLink("def", "one, two")], "https://study.example.org/")
    assert text.splitlines() == [
        "label,link", "'=1+1,https://study.example.org/i/abc", '"one, two",https://study.example.org/i/def',
    ]  # fmt: skip


def test_invitation_tokens_are_stored_in_no_file(surveys: Surveys) -> None:
    made = invite(surveys, NAME, "first", "pro", count=3)
    for one in made:
        accept_invitation(surveys, one.token)
    held = b"".join(path.read_bytes() for path in surveys.study.root.rglob("*") if path.is_file())
    assert not [one for one in made if one.token.encode() in held]
    assert "token=" not in repr(made[0])
    assert re.fullmatch(r"[\w-]{32}", made[0].token)
