"""A campaign on Prolific from the offer to the payment, with people on our own pages."""

import re
from contextlib import suppress
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth import get_user_model
from django.db.models import Sum
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import outbox, review, run
from crowd.campaigns.services.run import UNDERPAID
from crowd.campaigns.services.run import watch_crowd as watch
from crowd.elsewhere.services import sync
from crowd.elsewhere.services.notices import forget
from crowd.hits.selectors import campaign_progress, is_done
from crowd.hits.services.platforms import connect
from crowd.jobs import PAGES
from crowd.models import (
    Assignment,
    Campaign,
    ExternalCampaign,
    ExternalSession,
    LedgerEntry,
    OutwardCall,
    PlatformNotice,
    Rating,
    Requirement,
)
from crowd.money.selectors.fair_pay import shortfall
from crowd.money.services import bonuses
from crowd.money.services.fair_pay import make_up
from crowd.workers.services import exclusions
from genie.lib import jobs
from leaderboard.contracts.platforms import REASON
from quality.appeals import services
from tests.crowd.making import POOL, hit_type, items, make_campaign, refused
from tests.crowd.platforms import prolific_standin as standin
from tests.factories import signed_in

State = Assignment.State


@pytest.fixture
def campaign(there):
    return make_campaign(6, platform="prolific")


def look(campaign, now=None):
    found = Campaign.objects.select_related("hit_type").get(pk=campaign.pk)
    return sync.look(found, connect("prolific"), PAGES, now or timezone.now())


def study_of(campaign):
    return ExternalCampaign.objects.get(campaign=campaign).platform_id


class Person:
    """Somebody on Prolific with a browser of their own."""

    def __init__(self, there, name):
        self.there, self.name = there, f"5f{name:0>22}"
        self.browser = Client()

    def come(self, campaign):
        """Take a place and follow its link; None where there is no place."""
        found = self.there.take_place(study_of(campaign), self.name)
        if found is None:
            return None
        self.session, address = found
        assert address.startswith("https://genie.example.org/work/from/prolific/")
        parts = urlsplit(address)
        self.link = f"{parts.path}?{parts.query}"
        return self.browser.get(self.link)

    def work(self, at_most=99, raw="0.75"):
        """Agree, and answer what comes, until there is nothing more; give the last page."""
        self.browser.post(reverse("work:consent", args=[POOL]))
        page = self.browser.post(reverse("work:next"), {"pool": POOL})["Location"]
        for _ in range(at_most):
            if "/hit/" not in page:
                break
            page = self.browser.post(page, {"answer-0-0": raw})["Location"]
        return page

    def go_back(self, **query):
        """Follow the finished page's link to Prolific; give the state there."""
        page = self.browser.get(reverse("work:finished"), query).text
        address = re.search(r'href="(https://app\.prolific\.com[^"]+)"', page)[1]
        code = parse_qs(urlsplit(address).query)["cc"][0]
        return self.there.come_back(self.session, code)

    def do_all(self, campaign):
        assert self.come(campaign).status_code == 302
        assert self.work() == reverse("work:finished")
        return self.go_back()


def come(there, campaign):
    look(campaign)
    person = Person(there, "1")
    person.come(campaign)
    return person


def approve_all(campaign):
    waiting = Assignment.objects.filter(
        hit__campaign=campaign, state=State.SUBMITTED
    ).values_list("pk", flat=True)
    return review.approve(waiting)


def pay_all(campaign):
    look(campaign)
    approve_all(campaign)
    look(campaign)


def done_cents(campaign):
    entries = LedgerEntry.objects.filter(campaign=campaign, state="DONE")
    return entries.aggregate(n=Sum("amount_cents"))["n"] or 0


def test_a_campaign_is_one_study_and_its_work_comes_back_and_is_paid_once(there):
    campaign = make_campaign(5, platform="prolific")  # the last place has less work
    look(campaign)
    look(campaign)
    (study,) = there.studies.values()
    assert (study["total_available_places"], study["reward"]) == (2, 30)
    for name in ("1", "2"):
        assert Person(there, name).do_all(campaign) == "AWAITING REVIEW"
    look(campaign)
    assert Rating.own.count() == 5
    assert done_cents(campaign) == there.rewards == 0
    assert approve_all(campaign) == 5
    for _ in range(3):
        look(campaign)
    assert set(there.paid.values()) == {30}
    assert there.rewards == 60
    assert done_cents(campaign) == there.rewards + there.fees
    assert campaign_progress(campaign).spent_cents == there.rewards + there.fees
    published = OutwardCall.own.get(campaign=campaign, kind="PUBLISH")
    assert published.amount_cents == there.rewards + there.fees
    assert is_done(campaign)


def test_each_person_gets_as_much_as_a_place_holds(there, campaign):
    wanda = come(there, campaign)
    assert wanda.work(at_most=2) != reverse("work:finished")
    for query in ({}, {"leave": ""}):  # what was done is not thrown away
        page = wanda.browser.get(reverse("work:finished"), query).text
        assert "You are not done yet" in page
        assert "app.prolific.com" not in page
    # the same link is the same visit
    other = Client()
    there_too = reverse("work:instructions", args=[POOL])
    assert other.get(wanda.link)["Location"] == there_too
    assert ExternalSession.own.count() == 1
    assert wanda.work() == reverse("work:finished")
    assert other.get(wanda.link)["Location"] == reverse("work:finished")
    assert Assignment.own.count() == 3
    assert wanda.browser.post(reverse("work:next"))["Location"] == (
        reverse("work:finished")
    )
    assert Assignment.own.count() == 3


@pytest.mark.every_engine
def test_a_link_that_prolific_did_not_make_lets_nobody_in(there, campaign):
    look(campaign)
    wanda = Person(there, "1")
    _, address = there.take_place(study_of(campaign), wanda.name)
    query = {k: v[0] for k, v in parse_qs(urlsplit(address).query).items()}
    for name in ("PROLIFIC_PID", "SESSION_ID", "STUDY_ID"):
        forged = query | {name: "5e" + "0" * 22}
        response = wanda.browser.get(urlsplit(address).path, forged)
        assert response.status_code in {400, 404}, name
        assert "This link does not work" in response.text
    assert not ExternalSession.own.exists()
    assert wanda.browser.get(reverse("work:home")).status_code == 302  # to sign in


@pytest.mark.every_engine
def test_who_finds_nothing_is_sent_back_without_harm(there, campaign):
    look(campaign)
    late = Person(there, "9")
    first = Person(there, "1")
    first.come(campaign)
    late.come(campaign)
    campaign.hits.update(n_available=0)
    assert late.browser.get(late.link)["Location"] == reverse("work:finished")
    assert "There is no work for you" in late.browser.get(reverse("work:finished")).text
    assert late.go_back() == "RETURNED"


def test_who_does_not_want_to_take_part_returns_the_place(there, campaign):
    wanda = come(there, campaign)
    assert "?leave" in wanda.browser.get(reverse("work:finished")).text
    assert wanda.go_back(leave="") == "RETURNED"


def test_what_goes_out_again_gets_more_places_within_the_budget(there, campaign):
    look(campaign)
    wanda = Person(there, "1")
    wanda.do_all(campaign)
    Person(there, "2").do_all(campaign)
    look(campaign)
    for pk in Assignment.objects.filter(
        session_work__session__session_id=wanda.session
    ).values_list("pk", flat=True):
        review.reject(pk, None, REASON)
    look(campaign)
    assert there.submissions[wanda.session]["status"] == "REJECTED"
    look(campaign)
    # Prolific opens a rejected place again by itself, so no further one is needed.
    (study,) = there.studies.values()
    assert study["total_available_places"] == 2
    exclusions.exclude(ExternalSession.own.last().worker, POOL, "No more.")
    worker = ExternalSession.objects.get(session_id=wanda.session).worker
    exclusions.exclude(worker, POOL, "No more.")
    campaign.hits.update(n_available=1)
    look(campaign)
    assert study["total_available_places"] == 3
    look(campaign)
    assert study["total_available_places"] == 3
    (group,) = there.groups.values()
    assert len(group["members"]) == 2


def test_nothing_is_published_that_costs_more_than_was_approved(there):
    dear = hit_type(reward_cents=20)
    campaign = make_campaign(5, platform="prolific", budget_cents=145, hit_type=dear)
    Campaign.own.update(budget_cents=144)
    look(campaign)
    assert there.studies == {}
    assert "but only $1.44" in ExternalCampaign.own.get().trouble
    Campaign.own.update(budget_cents=145)
    there.balance = 10
    look(campaign)
    assert there.studies == {}
    assert "Add money to it" in ExternalCampaign.own.get().trouble
    there.balance = 10_000
    look(campaign)
    assert ExternalCampaign.own.get().trouble == ""
    (study,) = there.studies.values()
    # Two places of three would cost more; five of one leave nothing over.
    assert (study["total_available_places"], study["reward"]) == (5, 20)


def test_staff_see_the_study_its_places_and_its_money(there, campaign):
    look(campaign)
    Person(there, "1").do_all(campaign)
    look(campaign)
    boss = signed_in(get_user_model().objects.create_superuser("boss"))
    place = ExternalCampaign.own.get()
    page = boss.get(f"/admin/crowd/externalcampaign/{place.pk}/change/").text
    assert f"https://app.prolific.com/researcher/workspaces/studies/{study_of(campaign)}" in page  # fmt: skip
    assert "2 places of 3" in page
    assert "1 taken" in page
    assert "prolific" in boss.get("/admin/crowd/externalcampaign/").text
    page = boss.get(f"/admin/crowd/campaign/{campaign.pk}/change/").text
    assert f"/admin/crowd/externalcampaign/{place.pk}/change/" in page
    assert ">open</a>" in page
    assert 'class="field-where">prolific' in boss.get("/admin/crowd/campaign/").text


@pytest.mark.every_engine
@pytest.mark.parametrize("fault", ["reset after", "reset"])
def test_a_stop_finds_the_study_whose_making_was_not_heard_of(there, campaign, fault):
    there.faults = [["POST", "studies/", fault, 1]]
    look(campaign)
    assert study_of(campaign) == ""
    run.stop(campaign.pk, None, "Enough.")
    for _ in range(2):
        look(campaign)
    if fault == "reset":  # none was made, and none is
        assert there.studies == {}
        return
    (study,) = there.studies.values()
    assert study["status"] == "UNPUBLISHED"  # never opened for that
    assert study_of(campaign) == study["id"]
    assert not OutwardCall.own.exclude(state="DONE").exists()


class Killed(BaseException):
    """The process is gone: nothing catches this."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["PUBLISH", "EXTEND", "CLOSE", "DECIDE", "EXCLUDE"])
def test_a_process_may_die_after_any_call(there, campaign, monkeypatch, kind):
    deaths = []
    note_result = outbox.note_result

    def die_once(call, *rest):
        if call.kind == kind and not deaths:
            deaths.append(call.key)
            raise Killed
        return note_result(call, *rest)

    monkeypatch.setattr(outbox, "note_result", die_once)

    def live():
        for _ in range(2):
            with suppress(Killed):
                look(campaign)

    live()
    Person(there, "1").do_all(campaign)
    live()
    exclusions.exclude(ExternalSession.own.get().worker, POOL, "No more.")
    campaign.hits.filter(n_available=0).update(n_available=1)
    live()
    approve_all(campaign)
    live()
    run.stop(campaign.pk, None, "Enough.")
    live()
    assert len(deaths) == 1
    (study,) = there.studies.values()
    assert (study["status"], study["total_available_places"]) == ("PAUSED", 3)
    assert there.rewards == 30
    assert done_cents(campaign) == there.rewards + there.fees
    assert len(there.groups) == 1
    assert not OutwardCall.own.exclude(state="DONE").exists()


def test_an_approval_there_beats_a_rejection_that_comes_later(there, campaign):
    look(campaign)
    wanda = Person(there, "1")
    wanda.do_all(campaign)
    look(campaign)
    for pk in list(Assignment.own.values_list("pk", flat=True)):
        review.reject(pk, None, REASON)
    there.call(
        "POST", f"submissions/{wanda.session}/transition/", {}, {"action": "APPROVE"}
    )
    for _ in range(2):
        look(campaign)
    assert set(Assignment.own.values_list("state", flat=True)) == {State.APPROVED}
    assert done_cents(campaign) == there.rewards + there.fees == 30 + 13


def test_pause_resume_and_stop_reach_prolific(there, campaign):
    look(campaign)
    (study,) = there.studies.values()
    for act, status in [
        (lambda: run.pause(campaign.pk, None), "PAUSED"),
        (lambda: run.resume(campaign.pk, None), "ACTIVE"),
        (lambda: run.stop(campaign.pk, None, "Enough."), "PAUSED"),
    ]:
        assert act()
        look(campaign)
        assert study["status"] == status
    assert Person(there, "1").come(campaign) is None


@pytest.mark.every_engine
def test_who_was_shut_out_meanwhile_goes_back_with_the_other_code(there, campaign):
    wanda = come(there, campaign)
    wanda.work(at_most=1)
    exclusions.exclude(ExternalSession.own.get().worker, POOL, "No more of this.")
    assert wanda.work() == reverse("work:finished")
    assert "no more of this work for you" in (
        wanda.browser.get(reverse("work:finished")).text
    )
    assert wanda.go_back() == "AWAITING REVIEW"
    look(campaign)
    assert (
        ExternalSession.own.get().problem
        == "Submitted with the completion code for failed-check."
    )


def test_handing_in_without_work_is_shown_to_staff_and_not_approved(there, campaign):
    look(campaign)
    session, _ = there.take_place(study_of(campaign), "5f" + "7" * 22)
    there.come_back(session, "NOCODE")
    look(campaign)
    look(campaign)
    assert "without answers here" in ExternalSession.own.get().problem
    assert there.submissions[session]["status"] == "AWAITING REVIEW"


def test_people_of_one_study_get_nothing_of_another(there, campaign):
    other = make_campaign(3, of=items(3, "other-"), platform="prolific")
    look(campaign)
    look(other)
    Person(there, "1").do_all(other)
    assert set(Assignment.own.values_list("hit__campaign", flat=True)) == {other.pk}


def test_a_bonus_is_paid_once_and_an_unclear_one_waits_for_a_person(
    there, campaign, monkeypatch
):
    look(campaign)
    Person(there, "1").do_all(campaign)
    pay_all(campaign)
    assignments = list(Assignment.own.order_by("pk"))
    boss = get_user_model().objects.create_superuser("boss")
    bonuses.give(assignments[0].pk, 25, key="a", reason="A hard one.", by=boss)
    look(campaign)
    look(campaign)
    assert there.paid == {"5f" + "0" * 21 + "1": 55}
    bonuses.give(assignments[2].pk, 5, key="c", reason="The last.", by=boss)
    with monkeypatch.context() as patch:
        patch.setattr(outbox, "note_result", lambda *_: (_ for _ in ()).throw(Killed))
        with pytest.raises(Killed):
            look(campaign)
    there.faults = [["POST", "bulk-bonus-payments/.*", "reset after", 1]]
    bonuses.give(assignments[1].pk, 20, key="b", reason="Another.", by=boss)
    for days in range(3):
        look(campaign, timezone.now() + timedelta(days=days))
    assert there.paid == {"5f" + "0" * 21 + "1": 80}
    waiting = OutwardCall.own.filter(kind="BONUS", state="SENDING")
    assert waiting.count() == 2
    assert "may or may not have been paid" in waiting.latest("pk").trouble


def knock(body, headers):
    kind = "application/json"
    return Client().post("/hooks/prolific/", body, content_type=kind, headers=headers)


def send(there, session, **changes):
    headers, body = there.notice(session, standin.HOOK_SECRET)
    headers = {**headers, **changes}
    return knock(body, headers), headers


@pytest.mark.every_engine
def test_a_notice_is_followed_once(there, campaign):
    wanda = come(there, campaign)
    jobs.drain()
    response, headers = send(there, wanda.session)
    assert response.status_code == 204
    wanted = ("crowd.jobs.sync_campaign", (("campaign", campaign.pk),))
    assert wanted in jobs.queued_jobs()
    jobs.drain()
    again = knock(there.notice(wanda.session, standin.HOOK_SECRET)[1], headers)
    assert again.status_code == 204
    assert wanted not in jobs.queued_jobs()
    assert PlatformNotice.own.count() == 1
    assert forget(timezone.now() + timedelta(days=7, minutes=1)) == 1


def test_a_notice_that_is_not_signed_so_is_refused(there, campaign):
    wanda = come(there, campaign)
    jobs.drain()
    signature, time = (f"X-Prolific-Request-{n}" for n in ("Signature", "Timestamp"))
    for name, said in (
        (signature, ""), (signature, "AAAA"), (signature, "ä"),
        (time, "1000"), (time, "soon"),
    ):  # fmt: skip
        assert send(there, wanda.session, **{name: said})[0].status_code == 401, said
    assert jobs.queued_jobs() == set()


def test_a_signed_notice_that_says_nothing_or_is_old_is_refused(there, settings):
    for body in (b"", b"[]", b'{"status": "x"}', b"\xff"):
        headers = standin.signed(body, standin.HOOK_SECRET)
        assert knock(body, headers).status_code == 400, body
    body = b'{"event_type": "study.status.change", "resource_id": "60"}'
    old = timezone.now().timestamp() - 301
    response = knock(body, standin.signed(body, standin.HOOK_SECRET, at=old))
    assert response.status_code == 401
    assert "too old" in response.json()["error"]
    settings.GENIE = {**settings.GENIE, "PROLIFIC_WEBHOOK_SECRET": ""}
    assert knock(body, standin.signed(body, "")).status_code == 401


def test_pay_below_the_floor_is_told_to_staff_until_it_is_mended(there, campaign):
    look(campaign)
    Person(there, "1").do_all(campaign)
    Assignment.own.update(active_seconds=60.0)
    watch(campaign)
    campaign.refresh_from_db()
    assert UNDERPAID not in campaign.notice  # three times say little
    Person(there, "2").do_all(campaign)
    Assignment.own.update(active_seconds=60.0)
    assert campaign_progress(campaign).hourly_cents == 600
    for _ in range(2):
        watch(campaign)
        campaign.refresh_from_db()
        assert campaign.notice.count(UNDERPAID) == 1
    Assignment.own.update(active_seconds=10.0)
    watch(campaign)
    campaign.refresh_from_db()
    assert campaign.notice == ""


def test_an_appeal_against_a_rejection_that_stands_is_granted_with_a_bonus(
    there, campaign, client
):
    boss = get_user_model().objects.create_superuser("boss")
    look(campaign)
    Person(there, "1").do_all(campaign)
    look(campaign)
    pk = Assignment.own.first().pk
    refused("reason-too-short", review.reject, pk, boss, "Too fast.")
    for row in Assignment.own.filter(state=State.SUBMITTED).order_by("pk"):
        assert review.reject(row.pk, boss, REASON)
    look(campaign)
    assert there.paid == {}
    row = Assignment.own.order_by("pk").first()
    one = services.against_rejection(row.worker, row.pk, "I read all of it.")
    refused("stands-there", services.grant, one.pk, by=boss, sentence="Yes.")
    client.force_login(boss)
    address = reverse("admin:quality_appeal_answer", args=[one.pk])
    page = client.get(address).text
    assert "Prolific does not allow rejections to be reversed" in page
    assert "Grant with a bonus of $0.10" in page
    assert 'name="grant"' not in page
    client.post(address, {"bonus": "x", "sentence": "You are right."})
    one.refresh_from_db()
    assert one.state == "GRANTED"
    assert "$0.10 as a bonus" in row.worker.messages.first().text
    for _ in range(3):
        look(campaign)
    assert there.paid == {"5f" + "0" * 21 + "1": 10}
    assert done_cents(campaign) == there.rewards + there.fees


@pytest.mark.every_engine
def test_low_pay_is_made_up_for_by_one_bonus_for_each_visit(there, campaign):
    boss = get_user_model().objects.create_superuser("boss")
    look(campaign)
    for name in ("1", "2"):
        Person(there, name).do_all(campaign)
    look(campaign)
    Assignment.own.update(active_seconds=30.0)
    first = Assignment.own.order_by("pk").first()
    review.approve(Assignment.own.exclude(pk=first.pk).values_list("pk", flat=True))
    run.complete(campaign.pk)
    look(campaign)
    campaign.refresh_from_db()
    # A visit of which something waits for a decision has its turn later.
    assert shortfall(campaign).n_assignments == 3
    approve_all(campaign)
    look(campaign)
    missing = shortfall(campaign)
    assert (missing.n_assignments, missing.each_cents) == (6, 3)
    assert make_up(campaign.pk, by=boss, agreed_cents=missing.total_cents)
    assert shortfall(campaign) is None
    there.faults = [["POST", "bulk-bonus-payments/.*", "reset after", 1]]
    for _ in range(3):
        look(campaign, timezone.now() + timedelta(days=2))
    assert sorted(there.paid.values()) == [39, 39]
    calls = OutwardCall.own.filter(kind="BONUS")
    # One of unknown fate is a person's to settle, and is never sent again by itself.
    assert sorted(calls.values_list("state", flat=True)) == ["DONE", "SENDING"]
    assert set(calls.values_list("amount_cents", flat=True)) == {9}


@pytest.mark.every_engine
def test_what_prolific_cannot_check_is_refused_before_publishing(there, campaign):
    row = Requirement.objects.create(pool_id=POOL, kind="TEST", test_name="careful")
    before = len(there.requests)
    jobs.enqueue(sync.JOB, campaign=campaign.pk)
    jobs.drain()
    trouble = ExternalCampaign.own.get().trouble
    assert "Prolific cannot check" in trouble
    assert "qualification careful" in trouble
    assert there.studies == {}
    assert not OutwardCall.own.exists()
    assert len(there.requests) == before
    row.delete()
    Requirement.objects.create(pool_id=POOL, kind="APPROVED", at_least=0)  # no demand
    jobs.enqueue(sync.JOB, campaign=campaign.pk)
    jobs.drain()
    assert len(there.studies) == 1
    assert ExternalCampaign.own.get().trouble == ""


@pytest.mark.parametrize("currency", ["GBP", None])
def test_a_workspace_without_dollars_is_refused_first(there, campaign, currency):
    there.currency = currency
    there.as_published = currency is not None
    jobs.enqueue(sync.JOB, campaign=campaign.pk)
    jobs.drain()
    trouble = ExternalCampaign.own.get().trouble
    assert (currency or "unknown currency") in trouble
    assert "USD" in trouble
    assert there.studies == {}
    there.currency = "USD"
    jobs.enqueue(sync.JOB, campaign=campaign.pk)
    jobs.drain()
    assert len(there.studies) == 1
