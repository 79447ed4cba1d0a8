"""Pay below the floor is made up for by the platform's bonus call: once, charges its fee."""

from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import outbox, run
from crowd.elsewhere.services import sync
from crowd.hits.selectors import campaign_progress
from crowd.models import Budget, Commitment, LedgerEntry
from crowd.money.selectors.fair_pay import shortfall
from crowd.money.services import budgets
from crowd.money.services.fair_pay import make_up
from tests.crowd.making import refused
from tests.crowd.platforms.elsewhere import Elsewhere
from tests.crowd.platforms.faulty import FaultyProxy
from tests.crowd.platforms.test_faults import settle

# 5 answers, 3 ¢ short each, and a fee of at least one cent for each bonus
TOTAL = 5 * (3 + 1)


@pytest.fixture
def elsewhere(turk):
    """A campaign that is over and approved, at 12 dollars an hour."""
    made = Elsewhere(turk, n=5, budget_cents=10_000)
    budgets.commit(key=made.campaign.key, pool=made.campaign.pool_id, amount_cents=60, by=turk.staff)  # fmt: skip
    made.get_answers()
    made.approve_all()
    run.complete(made.campaign.pk)
    made.look()
    made.assignments().update(active_seconds=30.0)
    spent = campaign_progress(made.campaign).spent_cents
    budgets.settle(made.campaign.key, spent)
    made.campaign.refresh_from_db()
    return made


def plan(elsewhere, turk, cents=TOTAL):
    return make_up(elsewhere.campaign.pk, by=turk.staff, agreed_cents=cents)


def check(elsewhere, turk):
    elsewhere.check_books()
    assert turk.paid_cents("Wanda") == 5 * 13
    assert turk.charged_cents() == 5 * 12 + TOTAL
    account = Commitment.own.get(key=elsewhere.campaign.key)
    assert account.amount_cents == turk.charged_cents()
    assert campaign_progress(elsewhere.campaign).spent_cents == turk.charged_cents()


def test_a_settled_campaign_is_looked_at_again_and_all_paid_once(elsewhere, turk):
    later = timezone.now() + timedelta(days=3)
    assert sync.is_settled(elsewhere.campaign, later)
    found = shortfall(elsewhere.campaign)
    assert (found.each_cents, found.fee_cents, found.total_cents) == (3, 5, TOTAL)
    assert plan(elsewhere, turk).total_cents == TOTAL
    assert plan(elsewhere, turk) is None
    assert turk.paid_cents("Wanda") == 50
    assert not sync.is_settled(elsewhere.campaign, later)
    for _ in range(2):
        elsewhere.look()
    assert sync.is_settled(elsewhere.campaign, later)
    check(elsewhere, turk)


def test_the_fee_counts_in_what_is_agreed_to_and_in_the_budget(elsewhere, turk):
    refused("cost-changed", plan, elsewhere, turk, 15)
    pool = elsewhere.campaign.pool_id
    Budget.objects.create(pool_id=pool, limit_cents=60 + TOTAL - 1)
    refused("over-budget", plan, elsewhere, turk)
    assert not LedgerEntry.own.filter(kind="BONUS").exists()


def test_calls_that_break_pay_nobody_twice(elsewhere, turk):
    kinds = ("lost", "twice", "throttle", "reset")
    proxy = FaultyProxy(turk.options["endpoint_url"])
    turk.options |= {"endpoint_url": proxy.url, "tries": 1}
    proxy.fail(kinds, only={"SendBonus"})
    try:
        plan(elsewhere, turk)
        settle(elsewhere)
        assert {fault for _, fault in proxy.seen} == {None, *kinds}
    finally:
        proxy.close()
    check(elsewhere, turk)


def test_after_a_process_dies_the_next_looks_before_it_pays(
    elsewhere, turk, monkeypatch
):
    plan(elsewhere, turk)
    with monkeypatch.context() as patched:
        patched.setattr(outbox, "note_result", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            elsewhere.look()
    assert elsewhere.calls("BONUS").filter(state="SENDING").count() == 5
    elsewhere.look(now=timezone.now() + timedelta(hours=23, minutes=1))
    check(elsewhere, turk)
