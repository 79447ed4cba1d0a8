"""Two clicks and two of the staff at the same moment: one appeal, one answer, one payment."""

import pytest

from crowd.campaigns.services import review
from crowd.campaigns.services.overturn import overturn
from crowd.models import Assignment, LedgerEntry
from quality.appeals import services
from quality.bans import services as ban
from quality.models import Appeal, Ban
from tests.crowd.campaigns.test_races import at_once
from tests.crowd.making import POOL, do_one, make_campaign, make_worker
from tests.factories import make_user

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.every_engine]


@pytest.fixture
def sam():
    return make_user("sam", is_staff=True)


def test_an_appeal_is_made_answered_and_paid_once(sam):
    make_campaign(1)
    wim = make_worker()
    work = do_one(wim)
    review.reject(work.pk, None, "Too quick.")
    got = at_once(*[lambda: services.against_rejection(wim, work.pk, "No.")] * 4)
    assert {one.pk for one in got} == {Appeal.own.get().pk}
    pk = got[0].pk
    got = at_once(
        *[lambda: services.grant(pk, by=sam, sentence="Yes.")] * 2,
        *[lambda: services.uphold(pk, by=sam, sentence="No.")] * 2,
    )
    assert sorted(got) == [False, False, False, True]
    granted = Appeal.own.get().state == "GRANTED"
    paid = LedgerEntry.own.filter(state=LedgerEntry.State.PLANNED).count()
    assert paid == int(granted)
    assert wim.messages.filter(kind="APPEAL").count() == 1


def test_a_rejection_is_taken_back_once(sam):
    make_campaign(1)
    work = do_one(make_worker())
    review.reject(work.pk, None, "Too quick.")
    got = at_once(*[lambda: overturn(work.pk, by=sam, reason="x")] * 4)
    assert sorted(got) == [False, False, False, True]
    assert LedgerEntry.own.filter(state="PLANNED").count() == 1
    assert Assignment.own.get().state == Assignment.State.APPROVED


def test_a_ban_is_appealed_and_lifted_once(sam):
    wim = make_worker()
    given = ban.ban(wim, POOL, by=None, reason="x")
    got = at_once(*[lambda: services.against_ban(wim, POOL, "No.")] * 3)
    pk = Appeal.own.get().pk
    assert {one.pk for one in got} == {pk}
    at_once(
        lambda: services.grant(pk, by=sam, sentence="Yes."),
        lambda: services.grant(pk, by=sam, sentence="Yes."),
        lambda: ban.lift(given.pk, by=sam, reason="y"),
    )
    assert Ban.own.get().lifted_at is not None
    assert wim.messages.filter(kind="APPEAL").count() == 1
    assert wim.messages.filter(kind="UNBANNED").count() <= 1
