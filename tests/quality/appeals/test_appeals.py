"""A worker appeals once against a rejection or a ban; a person answers once."""

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from crowd.campaigns.services import review, run
from crowd.campaigns.services.overturn import overturn
from crowd.hits.selectors import campaign_progress, is_done
from crowd.models import (
    HIT,
    Assignment,
    Budget,
    Campaign,
    Commitment,
    Exclusion,
    LedgerEntry,
    Message,
)
from crowd.money.selectors.earnings import earnings
from crowd.money.services import budgets
from quality.appeals import services
from quality.bans import selectors
from quality.bans import services as ban
from quality.bans.selectors import clean_ratings
from quality.models import Appeal, Ban
from tests.crowd.making import POOL, do_all, do_one, make_campaign, make_worker, refused
from tests.factories import make_user

WORDS = "I read the text twice; the answer is right."
State = Assignment.State


@pytest.fixture
def sam():
    return make_user("sam", is_staff=True)


@pytest.fixture
def wim():
    return make_worker()


def rejected(worker, n=1, **fields):
    """Make a campaign of `n` HITs, all done by the worker, the first one rejected."""
    campaign = make_campaign(n, **fields)
    done = do_all(worker)
    review.reject(done[0].pk, None, "Sent after a second.")
    return campaign, Assignment.objects.get(pk=done[0].pk)


def test_a_rejection_is_told_with_its_reason_when_it_falls(wim):
    _, work = rejected(wim)
    message = wim.messages.get()
    assert (message.kind, message.assignment) == (Message.Kind.REJECTED, work)
    assert "Sent after a second." in message.text
    assert not review.reject(work.pk, None, "Again.")
    assert wim.messages.count() == 1


def test_a_granted_appeal_approves_pays_and_counts_the_work(wim, sam):
    campaign, work = rejected(wim)
    assert earnings(wim).total == 0
    assert clean_ratings(campaign).empty
    one = services.against_rejection(wim, work.pk, WORDS)
    assert services.grant(one.pk, by=sam, sentence="You are right, sorry.")
    work.refresh_from_db()
    assert (work.state, work.replaced_at) == (State.APPROVED, None)
    assert earnings(wim).approved == 10
    assert len(clean_ratings(campaign)) == 1
    assert is_done(campaign)
    states = LedgerEntry.own.order_by("pk").values_list("state", flat=True)
    assert list(states) == ["CANCELLED", "PLANNED"]
    assert "You are right, sorry." in wim.messages.first().text
    assert selectors.changed_at()[POOL] <= timezone.now()
    said = [one.get_change_message() for one in LogEntry.own.order_by("pk")]
    assert said == [
        "Granted: You are right, sorry.",
        "Rejection reversed: appeal granted: You are right, sorry.",
    ]
    assert {entry.user for entry in LogEntry.own.all()} == {sam}


def test_where_another_has_answered_it_is_paid_and_does_not_count(wim, sam):
    campaign, work = rejected(wim)
    other = make_worker()
    assert do_one(other) is not None
    one = services.against_rejection(wim, work.pk, WORDS)
    services.grant(one.pk, by=sam, sentence="Yes.")
    work.refresh_from_db()
    assert work.replaced_at is not None
    assert earnings(wim).approved == 10
    ratings = clean_ratings(campaign)
    assert list(ratings["worker"]) == [other.pk]
    assert is_done(campaign)
    assert HIT.own.get().n_available == 0


@pytest.mark.every_engine
def test_after_the_end_it_is_paid_from_the_budget_that_is_left(wim, sam):
    campaign, work = rejected(wim, n=2, key="kept")
    budgets.commit(key="kept", pool=POOL, amount_cents=20, by=sam)
    HIT.own.update(n_available=0)
    run.complete(campaign.pk)
    budgets.settle("kept", campaign_progress(campaign).spent_cents)
    assert Commitment.own.get().amount_cents == 10
    one = services.against_rejection(wim, work.pk, WORDS)
    services.grant(one.pk, by=sam, sentence="Yes.")
    account = Commitment.own.get()
    assert (account.amount_cents, account.settled_at is None) == (20, False)
    work.refresh_from_db()
    assert work.replaced_at is None
    assert len(clean_ratings(campaign)) == 2


@pytest.mark.every_engine
def test_it_is_not_paid_past_a_budget_and_then_nothing_has_happened(wim, sam):
    campaign, work = rejected(wim, n=2, key="tight")
    budgets.commit(key="tight", pool=POOL, amount_cents=20, by=sam)
    run.stop(campaign.pk, sam, "Enough.")
    budgets.settle("tight", 10)
    Budget.objects.filter(pool=None).update(limit_cents=15)
    one = services.against_rejection(wim, work.pk, WORDS)
    refused("over-budget", services.grant, one.pk, by=sam, sentence="Yes.")
    one.refresh_from_db()
    work.refresh_from_db()
    assert (one.state, work.state) == ("WAITING", State.REJECTED)
    assert wim.messages.count() == 1
    assert not LedgerEntry.objects.filter(idempotency_key__contains="again").exists()


@pytest.mark.every_engine
def test_the_campaigns_budget_grows_by_what_is_missing_only(wim, sam):
    campaign, work = rejected(wim, key="exact", budget_cents=10)
    budgets.commit(key="exact", pool=POOL, amount_cents=10, by=sam)
    assert do_one(make_worker()) is not None
    overturn(work.pk, by=sam, reason="x")
    campaign.refresh_from_db()
    assert campaign.budget_cents == 20
    assert Commitment.own.get().amount_cents == 20
    progress = campaign_progress(campaign)
    assert progress.committed_cents == progress.budget_cents == 20


def test_an_answer_falls_once_has_words_and_upheld_changes_nothing(wim, sam):
    _, work = rejected(wim)
    before = selectors.changed_at()
    one = services.against_rejection(wim, work.pk, WORDS)
    for answer in (services.grant, services.uphold):
        refused("reason-missing", answer, one.pk, by=sam, sentence="  ")
    assert services.uphold(one.pk, by=sam, sentence="No.")
    assert not services.grant(one.pk, by=sam, sentence="Yes.")
    assert not services.uphold(one.pk, by=sam, sentence="No!")
    assert wim.messages.filter(kind="APPEAL").count() == 1
    assert Assignment.objects.get(pk=work.pk).state == State.REJECTED
    assert "No." in wim.messages.first().text
    assert selectors.changed_at() == before


@pytest.mark.every_engine
def test_an_appeal_is_made_once_and_sent_twice_without_harm(wim):
    _, work = rejected(wim)
    first = services.against_rejection(wim, work.pk, f"  {WORDS}\x00 ")
    assert first.words == WORDS
    assert services.against_rejection(wim, work.pk, WORDS).pk == first.pk
    refused(
        "already-appealed", services.against_rejection, wim, work.pk, "Other words."
    )
    assert Appeal.own.count() == 1


def test_what_cannot_be_appealed_is_refused(wim):
    _, work = rejected(wim, n=2)
    good = Assignment.own.exclude(pk=work.pk).get()
    against = services.against_rejection
    refused("words-missing", against, wim, work.pk, " \n\x07 ")
    refused("not-yours", against, make_worker(), work.pk, WORDS)
    refused("nothing-to-appeal", against, wim, good.pk, WORDS)
    refused("nothing-to-appeal", services.against_ban, wim, POOL, WORDS)
    assert not Appeal.own.exists()


def test_work_on_another_platform_is_decided_there(wim, sam):
    _, work = rejected(wim)
    Campaign.own.update(platform="mturk")
    refused("stands-there", overturn, work.pk, by=sam, reason="x")


def test_a_granted_appeal_lets_a_banned_worker_back_in(wim, sam):
    campaign = make_campaign(2)
    do_one(wim)
    ban.ban(wim, POOL, by=None, reason="1 of 9 right.")
    told = wim.messages.get()
    assert told.kind == Message.Kind.BANNED
    assert "1 of 9" not in told.text
    assert "appeal" in told.text
    assert clean_ratings(campaign).empty
    one = services.against_ban(wim, POOL, WORDS)
    assert services.grant(one.pk, by=sam, sentence="A slip of ours.")
    assert not Exclusion.own.exists()
    lifted = Ban.own.get()
    assert (lifted.lifted_by, lifted.lifted_reason) == (sam, "Appeal granted: A slip of ours.")  # fmt: skip
    assert len(clean_ratings(campaign)) == 1
    assert do_one(wim) is not None
    assert wim.messages.count() == 2
    assert "A slip of ours." in wim.messages.first().text


@pytest.mark.every_engine
def test_a_ban_that_is_lifted_without_an_appeal_is_told_once(wim, sam):
    make_campaign(1)
    given = ban.ban(wim, POOL, by=sam, reason="Because.")
    for _ in range(2):
        ban.lift(given.pk, by=sam, reason="An error in the detector.")
    told, message = wim.messages.order_by("pk")
    # nobody has looked at known answers
    assert "match the known right answers" not in told.text
    assert "you can appeal" in told.text
    assert message.kind == Message.Kind.UNBANNED
    assert "detector" not in message.text
    assert wim.messages.count() == 2


@pytest.mark.every_engine
def test_each_ban_can_be_appealed_once(wim, sam):
    first = ban.ban(wim, POOL, by=sam, reason="x")
    one = services.against_ban(wim, POOL, WORDS)
    assert services.against_ban(wim, POOL, WORDS).pk == one.pk
    refused("already-appealed", services.against_ban, wim, POOL, "More.")
    services.uphold(one.pk, by=sam, sentence="No.")
    ban.lift(first.pk, by=sam, reason="y")
    ban.ban(wim, POOL, by=sam, reason="z")
    assert services.against_ban(wim, POOL, "More.").pk != one.pk


def test_a_ban_that_was_lifted_meanwhile_is_granted_without_a_second_lift(wim, sam):
    given = ban.ban(wim, POOL, by=sam, reason="x")
    one = services.against_ban(wim, POOL, WORDS)
    ban.lift(given.pk, by=sam, reason="By hand.")
    assert services.grant(one.pk, by=sam, sentence="Yes.")
    assert Ban.own.get().lifted_reason == "By hand."


def test_nobody_is_promised_work_whom_a_later_ban_keeps_away(wim, sam):
    first = ban.ban(wim, POOL, by=sam, reason="x")
    one = services.against_ban(wim, POOL, WORDS)
    ban.lift(first.pk, by=sam, reason="By hand.")
    second = ban.ban(wim, POOL, by=sam, reason="y")
    refused("banned-again", services.grant, one.pk, by=sam, sentence="Yes.")
    ban.lift(second.pk, by=sam, reason="By hand, too.")
    assert services.grant(one.pk, by=sam, sentence="Yes.")
