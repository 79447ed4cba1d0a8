"""The pages around the work: the list with others' pace, settings, days, mail, consent."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from crowd import jobs as crowd_jobs
from crowd.campaigns.services import review, work_records
from crowd.models import (
    Assignment,
    Consent,
    ConsentVersion,
    LedgerEntry,
    Message,
    PaymentDetails,
    Profile,
    Requirement,
    WorkerRecord,
    WorkRecord,
)
from crowd.money.services import payouts
from crowd.money.services import payouts as payment_details
from crowd.workers.services import invitations
from genie.lib import jobs
from leaderboard.teams.services import leave
from quality.appeals import services as appeals
from quality.jobs import renew_work_records
from tests.crowd.making import POOL, do_all, do_one, make_campaign, make_worker, text_of
from tests.crowd.worker_site.test_worker_site import ANSWER, start
from tests.factories import make_user, signed_in

SETTINGS = {"time_zone": "UTC", "goes_on": "next"}


def choose(site, **fields):
    return site.post(reverse("work:settings"), {**SETTINGS, **fields})


def pace(n_people, seconds):
    for number in range(n_people):
        assignment = do_one(make_worker())
        Assignment.objects.filter(pk=assignment.pk).update(
            active_seconds=seconds[number % len(seconds)]
        )


def test_an_hour_is_priced_at_others_pace_once_there_are_enough_people(site):
    make_campaign(8)
    pace(4, [40.0])
    renew_work_records()
    page = text_of(site.get(reverse("work:home")))
    assert re.search(r"about \d+ seconds each about \$[\d.]+ an hour", page)
    pace(1, [500.0])
    renew_work_records()
    page = text_of(site.get(reverse("work:home")))
    assert "about 40 seconds each about $9.00 an hour" in page
    assert "3 left for you" in page


def test_one_person_of_many_answers_does_not_set_the_pace(wim):
    make_campaign(12)
    pace(5, [30.0])
    do_all(wim)
    Assignment.objects.filter(worker=wim).update(active_seconds=1.0)
    work_records.renew({})
    assert WorkRecord.objects.get(key__startswith="work:").median_seconds == 30


def test_the_record_of_those_who_decide(site, without_decoys, wim):
    make_campaign(4)
    done = [assignment.pk for assignment in do_all(wim)]
    sent = timezone.now() - timedelta(hours=30)
    Assignment.own.update(submitted_at=sent)
    review.approve(done[:3])
    review.reject(done[3], None, "Too fast.")
    appeal = appeals.against_rejection(wim, done[3], "I read it.")
    renew_work_records()
    page = text_of(site.get(reverse("work:home")))
    assert "75% of the last 4 HITs approved" in page
    assert "usually decided within 30 hours" in page
    assert "appeal" not in page.lower()  # not answered yet
    appeals.grant(appeal.pk, by=make_user("sam", is_staff=True), sentence="Right.")
    renew_work_records()
    page = text_of(site.get(reverse("work:home")))
    assert "100% of the last 4 HITs approved" in page
    assert "1 of 1 appeal granted" in page


def test_times_are_in_the_zone_that_was_guessed_or_chosen(site, wim):
    make_campaign(1)
    do_all(wim)
    Assignment.own.update(submitted_at=datetime(2026, 3, 1, 20, 30, tzinfo=UTC))
    earnings, zone = reverse("work:earnings"), reverse("work:zone")
    page = site.get(earnings)
    assert 'id="zone"' in page.text
    assert "time zone: UTC" in text_of(page)
    assert site.post(zone, {"time_zone": "Mars/Olympus"}).status_code == 200
    assert site.post(zone, {"time_zone": "Asia/Kolkata"}).status_code == 204
    page = site.get(earnings)
    assert 'id="zone"' not in page.text
    assert "time zone: Asia/Kolkata" in text_of(page)
    # past midnight there: another day
    assert '<time datetime="2026-03-02">' in page.text
    site.post(zone, {"time_zone": "Europe/Berlin"})  # a guess changes no choice
    assert Profile.own.get().time_zone == "Asia/Kolkata"
    choose(site, time_zone="Pacific/Auckland")
    assert "time zone: Pacific/Auckland" in text_of(site.get(earnings))
    assert choose(site, time_zone="Mars/Olympus").status_code == 422


def test_only_what_some_work_needs_is_asked(site, wim):
    page = site.get(reverse("work:settings")).text
    assert 'name="country"' not in page
    assert 'name="languages"' not in page
    campaign = make_campaign(1)
    for kind, field in (("COUNTRY", "countries"), ("LANGUAGE", "languages")):
        Requirement.objects.create(
            campaign=campaign, kind=kind, **{field: "IN NP" if kind == "COUNTRY" else "hi ne"}
        )  # fmt: skip
    home = reverse("work:home")
    assert choose(site, languages=["de"]).status_code == 422  # no work needs it
    page = text_of(site.get(home))
    assert "for people who live in IN, NP" in page
    assert "for people who speak Hindi, Nepali" in page
    assert choose(site, country="IN", languages=["hi"]).status_code == 302
    assert ">Start<" in site.get(home).text
    # nobody tries one country after another
    choose(site, country="US", languages=["hi"])
    assert Profile.own.get().country == "IN"
    with pytest.raises(invitations.GenieError, match="30 days"):
        invitations.choose_profile(
            wim, invitations.Chosen("UTC", True, False, country="NP")
        )
    # what staff have checked counts more
    WorkerRecord.objects.create(worker=wim, country="DE")
    assert ">Start<" not in site.get(home).text


def test_who_wants_to_comes_back_to_the_list_after_each_hit(site):
    make_campaign(3)
    choose(site, goes_on="list")
    assert "you return to this list" in text_of(site.get(reverse("work:home")))
    _, address = start(site)
    assert site.post(address, ANSWER)["Location"] == reverse("work:home")
    choose(site, goes_on="next")
    _, address = start(site)
    assert "/hit/" in site.post(address, ANSWER)["Location"]


def test_words_that_were_agreed_to_are_shown_after_they_have_changed(site, wim):
    make_campaign(1)
    given = Consent.objects.get(worker=wim)
    Consent.objects.filter(pk=given.pk).update(text_sha256="0" * 64)
    ConsentVersion.objects.create(sha256="0" * 64, html="<p>The old words.</p>")
    address = reverse("work:agreed", args=[given.pk])
    assert address in site.get(reverse("work:settings")).text
    page = text_of(site.get(address))
    assert "The old words." in page
    assert "these are the words of that day" in page
    other = signed_in(make_worker(user=make_user("other")).user)
    assert other.get(address).status_code == 404


def test_the_sums_of_all_days_are_those_of_the_purse(site, wim):
    make_campaign(4)
    done = [assignment.pk for assignment in do_all(wim)]
    review.approve(done[:2])
    review.reject(done[3], None, "No.")
    first = Assignment.objects.get(pk=done[0])
    Assignment.objects.filter(pk=done[0]).update(
        submitted_at=timezone.now() - timedelta(days=3)
    )
    for key, cents in (("fair-pay:x", 7), ("bonus:x", 5)):
        LedgerEntry.objects.create(
            idempotency_key=key,
            campaign=first.hit.campaign,
            assignment=first,
            kind=LedgerEntry.Kind.BONUS,
            amount_cents=cents,
        )
    response = site.get(reverse("work:earnings"))
    days = list(response.context["days"])
    assert [(day.cents, day.pending_cents) for day in days] == [(32, 10), (10, 0)]
    earned = response.context["earnings"]
    assert sum(day.cents for day in days) == earned.pending + earned.approved
    page = text_of(response)
    assert "Judge answers: 2 HITs" in page
    assert "Top-up to the minimum hourly pay: Judge answers $0.07" in page
    assert "Bonus: Judge answers $0.05" in page


def look():
    crowd_jobs.look_for_news()
    jobs.drain()
    sent, mail.outbox = list(mail.outbox), []
    return sent


def test_who_asked_is_told_once_a_day_of_work_that_they_can_do(site, wim):
    wim.user.email = "wim@example.org"
    wim.user.save()
    make_campaign(1)
    choose(site, wants_news="on")
    assert look() == []  # what was there already is no news
    barred = make_campaign(1, pool="seas")
    Requirement.objects.create(campaign=barred, kind="APPROVED", at_least=500)
    assert look() == []  # nobody is told of work that they cannot do
    make_campaign(2, pool="weather-2")
    sent = look()
    assert [one.to for one in sent] == [["wim@example.org"]]
    assert "Judge answers" in sent[0].subject
    make_campaign(2, pool="weather-3")
    assert look() == []  # at most one a day
    Profile.own.update(mailed_at=timezone.now() - timedelta(hours=24, minutes=1))
    assert len(look()) == 1
    off = re.search(r"/work/no-news/\S+", sent[0].body)[0]
    assert off in sent[0].extra_headers["List-Unsubscribe"]
    stranger = Client(enforce_csrf_checks=True)
    stranger.get(off)  # programs that look at links end nothing
    assert Profile.own.get().wants_news
    assert stranger.post(off, {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert not Profile.own.get().wants_news
    assert stranger.post(off[:-2] + "/").status_code == 404


def test_without_an_address_nothing_is_offered(site):
    assert "wants_news" not in site.get(reverse("work:settings")).text


def test_who_leaves_takes_along_what_they_said_and_leaves_what_was_earned(site, wim):
    make_campaign(2)
    done = do_all(wim)
    review.approve([done[0].pk])
    review.reject(done[1].pk, None, "No.")
    choose(site, time_zone="Asia/Kolkata")
    data = site.get(reverse("leaderboard:my-data")).json()["worker"]
    assert data["profile"]["time_zone"] == "Asia/Kolkata"
    assert data["consents"][0]["pool"] == POOL
    assert "voluntary" in data["consents"][0]["words"]
    address = reverse("leaderboard:leave")
    assert "enter them before you leave" in text_of(site.get(address))
    recipient = payment_details.Recipient("Wim", "GB82WEST12345698765432")
    payment_details.save_details(wim, "BANK", recipient)
    assert "enter them before" not in text_of(site.get(address))
    assert "$0.10 approved and not paid" in text_of(site.get(address))
    assert "The next payout, on" in text_of(site.get(reverse("work:earnings")))
    leave.delete(wim.user.pk)
    assert not Profile.own.exists()
    assert not Message.objects.filter(worker=wim).exists()
    # no minimum keeps the last money back; then nobody knows any more where it went
    fin = make_user("fin", is_staff=True)
    [run] = payouts.plan(timezone.localdate(), fin)
    payouts.file(run, fin, "sepa", 10)
    crowd_jobs.plan_payouts()
    assert PaymentDetails.objects.exists()
    outcome = payouts.Outcome(run.payouts.get().pk, payouts.PAID)
    payouts.settle([outcome], fin)
    crowd_jobs.plan_payouts()
    assert not PaymentDetails.objects.exists()
    paid = LedgerEntry.objects.get(assignment__worker=wim, state="DONE")
    assert paid.amount_cents == 10
