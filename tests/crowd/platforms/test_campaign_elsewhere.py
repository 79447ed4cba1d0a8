"""A campaign of ours on a server of Mechanical Turk's protocol, from offer to payment."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import reissue, run
from crowd.campaigns.services.more_answers import ask_for_more
from crowd.elsewhere.services import collect, sync
from crowd.hits.selectors import campaign_progress
from crowd.hits.services.build import shared_hit_type
from crowd.hits.services.platforms import external_slugs, pays_itself
from crowd.jobs import PAGES
from crowd.models import (
    Assignment,
    Campaign,
    Commitment,
    ExternalSession,
    LedgerEntry,
    QualificationTest,
    QualificationType,
    RequesterHIT,
    RequesterHITType,
    Requirement,
)
from crowd.money.services import bonuses, budgets
from crowd.platforms.base import SessionEvent
from crowd.requester.protocol import clock
from crowd.requester.questions.questions import read_question
from crowd.requester.services import turns
from crowd.workers.services import exclusions
from genie.lib import jobs
from tests.crowd.making import POOL, hit_type, item
from tests.crowd.platforms.elsewhere import REASON, Elsewhere
from tests.factories import make_user

State = Assignment.State


@pytest.fixture
def elsewhere(turk):
    return Elsewhere(turk)


@pytest.mark.every_engine
def test_a_campaign_is_posted_answered_approved_and_paid_once(elsewhere, turk):
    elsewhere.look()
    elsewhere.look()
    assert turk.n_posted() == 2
    sessions = elsewhere.answer_all()
    assert elsewhere.look() == 2
    assert elsewhere.look() == 0
    assert elsewhere.answers().count() == 2
    assert set(elsewhere.answers().values_list("value", flat=True)) == {0.75}
    assert set(elsewhere.assignments().values_list("state", flat=True)) == {"SUBMITTED"}
    assert elsewhere.done_cents() == 0
    assert elsewhere.approve_all() == 2
    elsewhere.look()
    elsewhere.look()
    assert {turk.status(session) for session in sessions} == {"approved"}
    assert elsewhere.done_cents() == turk.charged_cents() == 2 * (10 + 2)
    row = elsewhere.assignments().first()
    for _ in range(2):
        bonuses.give(row.pk, 25, key="thanks", reason="It took longer.", by=turk.staff)
        elsewhere.look()
    assert turk.paid_cents("Wanda") == 2 * 10 + 25
    assert turk.charged_cents() == 24 + 30
    elsewhere.check_books()
    assert "mturk" in external_slugs()
    assert pays_itself(elsewhere.campaign)


def test_what_was_quoted_is_what_is_charged(turk):
    elsewhere = Elsewhere(turk, n=1, max_assignments=10)
    quoted = elsewhere.campaign.fee_cents
    assert quoted == 4  # twice 20 % from ten assignments on
    elsewhere.look()
    for name in ["Ann", "Bea"]:
        elsewhere.answer_all(name)
    elsewhere.look()
    elsewhere.approve_all()
    elsewhere.look()
    assert turk.charged_cents() == 2 * (10 + 4)
    elsewhere.check_books()
    assert campaign_progress(elsewhere.campaign).spent_cents == turk.charged_cents()


def test_a_page_that_is_too_long_to_post_is_served_by_us(turk, settings, client):
    settings.GENIE = {**settings.GENIE, "SITE_URL": "https://genie.example.org"}
    long = [item("long", text="A long answer. " * 5_000), item("short")]
    elsewhere = Elsewhere(turk, of=long)
    elsewhere.look()
    kinds = {}
    for name in elsewhere.hit_ids():
        question = read_question(RequesterHIT.objects.get(entity_id=name).question)
        kinds[question.kind] = question.content
    assert set(kinds) == {"html", "external"}
    page = kinds["html"]
    assert "A short answer." in page
    assert 'name="answer-0-0"' in page
    assert "externalSubmit" in page
    assert ":root {" in page.split("<style>")[1]
    assert "http://" not in page
    assert "https://" not in page
    assert 'src="' not in page
    assert "&#x27;" not in page.split("<script>")[1]
    address = kinds["external"].removeprefix("https://genie.example.org")
    answer = client.get(address)
    page = answer.text
    assert 'name="answer-0-0"' in page
    assert "A long answer." in page
    policy = answer["Content-Security-Policy"]
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy).group(1)
    assert page.count(f'<script nonce="{nonce}"') == page.count("<script")
    assert "X-Frame-Options" not in answer
    assert client.get(f"{address[:-3]}xx/").status_code == 404
    assert len(elsewhere.answer_all()) == elsewhere.look() == 2


def test_rejected_work_is_asked_for_again_and_not_paid(elsewhere, turk):
    first, *_ = elsewhere.get_answers()
    elsewhere.reject(first)
    elsewhere.approve_all()
    elsewhere.look()
    assert turk.status(first) == "rejected"
    assert turk.row(first).feedback == REASON
    again = elsewhere.answer_all("Wilma")
    assert len(again) == 1
    elsewhere.look()
    elsewhere.approve_all()
    elsewhere.look()
    assert turk.charged_cents() == 2 * 12
    elsewhere.check_books()


def test_a_banned_workers_hits_go_out_again_but_not_to_them(elsewhere, turk):
    elsewhere.get_answers()
    worker = Assignment.own.first().worker
    exclusions.exclude(worker, POOL, "No more of this work.")
    reissue.replace_answers(worker, POOL)
    elsewhere.look()
    assert elsewhere.answer_all() == []  # Wanda has done them, and is kept away
    assert len(elsewhere.answer_all("Wilma")) == 2
    elsewhere.look()
    elsewhere.approve_all()
    elsewhere.look()
    assert turk.charged_cents() == 4 * 12
    elsewhere.check_books()
    exclusions.include(worker, POOL)
    elsewhere.look()
    assert elsewhere.calls("INCLUDE").get().state == "DONE"


def test_more_answers_are_asked_for_there_and_paid_with_the_fee(elsewhere, turk):
    elsewhere.get_answers()
    before = elsewhere.campaign.budget_cents
    price = ask_for_more(
        elsewhere.campaign.pk,
        1,
        shown=1,
        agreed_cents=2 * 12,
        by=turk.staff,
        reason="Too wide.",
    )
    assert price.n_places == 2
    elsewhere.look()
    elsewhere.look()
    assert sorted(RequesterHIT.own.values_list("max_assignments")) == [(2,)] * 2
    assert elsewhere.answer_all() == []
    assert len(elsewhere.answer_all("Wilma")) == 2
    assert elsewhere.answer_all("Wanja") == []
    elsewhere.look()
    elsewhere.approve_all()
    elsewhere.look()
    assert turk.n_posted() == 2
    assert turk.charged_cents() == 4 * 12
    elsewhere.campaign.refresh_from_db()
    assert elsewhere.campaign.budget_cents == before + 24
    elsewhere.check_books()


def test_pause_and_stop_reach_them_and_late_work_is_still_paid(
    elsewhere, turk, monkeypatch
):
    elsewhere.look()
    run.pause(elsewhere.campaign.pk, None)
    elsewhere.look()
    assert not elsewhere.place.is_open
    assert elsewhere.answer_all() == []
    run.resume(elsewhere.campaign.pk, None)
    elsewhere.look()
    assert elsewhere.place.is_open
    hit = RequesterHIT.own.order_by("pk").first()
    late = turns.accept(hit, turk.worker("Wanda"))
    assert run.stop(elsewhere.campaign.pk, None, "Enough.")
    # The same end to the second is refused as carried out, and HITs would stay open.
    later = timezone.now() + timedelta(minutes=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    elsewhere.look()
    assert elsewhere.answer_all("Wilma") == []
    turns.submit(late, turk.worker("Wanda"), [("answer-0-0", "1")])
    assert elsewhere.look() == 1
    elsewhere.approve_all()
    elsewhere.look()
    assert turk.charged_cents() == 12
    elsewhere.check_books()


@pytest.mark.every_engine
def test_a_second_answer_after_the_end_is_paid_from_the_campaigns_account(elsewhere):
    """Somebody answers a HIT again that went out again; by then the account is closed."""
    elsewhere.get_answers()
    campaign = elsewhere.campaign
    budgets.commit(key=campaign.key, pool=POOL, amount_cents=60, by=make_user("boss"))
    assert run.stop(campaign.pk, None, "Enough.")
    budgets.settle(campaign.key, campaign_progress(campaign).spent_cents)
    before = Commitment.own.get().amount_cents
    assert before == 2 * 12
    first = ExternalSession.own.earliest("pk")
    again = SessionEvent(
        session_id="again-1",
        worker_id=first.worker.platform_worker_id,
        status="submitted",
        hit_id=elsewhere.hit_ids()[0],
        answers={"answer-0-0": "1"},
    )
    collect.collect(campaign, [again], PAGES)
    assert ExternalSession.objects.get(session_id="again-1").problem == collect.TWICE
    assert campaign_progress(campaign).spent_cents == 3 * 12
    assert Commitment.own.get().amount_cents == 3 * 12


def test_a_long_campaign_is_renewed_before_its_hits_end(elsewhere, turk, monkeypatch):
    elsewhere.look()
    start = timezone.now()
    for days in (11, 22):
        later = start + timedelta(days=days)
        monkeypatch.setattr(clock, "now", lambda later=later: later)
        elsewhere.look(now=later)
        elsewhere.look(now=later)
    assert elsewhere.calls("RESUME").count() == 2
    ends = RequesterHIT.own.order_by("expires_at").first().expires_at
    assert ends > start + timedelta(days=22 + 2)
    assert len(elsewhere.answer_all()) == 2


def test_what_was_posted_is_renewed_though_one_hit_was_refused(elsewhere):
    elsewhere.look()
    first = elsewhere.calls("POST").order_by("pk")[:1]
    elsewhere.calls("POST").filter(pk__in=first).update(state="FAILED", done_at=None)
    elsewhere.look(now=timezone.now() + timedelta(days=11))
    assert elsewhere.calls("RESUME").get().state == "DONE"


def test_nothing_is_posted_that_the_account_cannot_pay(turk):
    dear = hit_type(reward_cents=1_000)
    elsewhere = Elsewhere(turk, n=10, hit_type=dear)
    elsewhere.look()
    assert turk.n_posted() == 0
    assert "$120.00" in elsewhere.place.trouble
    assert "$100.00" in elsewhere.place.trouble
    # nor what is more than was approved
    elsewhere = Elsewhere(turk)
    Campaign.own.filter(pk=elsewhere.campaign.pk).update(budget_cents=1)
    elsewhere.look()
    assert turk.n_posted() == 0
    assert "more than the budget of $0.01" in elsewhere.place.trouble


def test_answers_that_cannot_be_used_are_kept_and_asked_for_again(elsewhere, turk):
    elsewhere.look()
    name = elsewhere.hit_ids()[0]
    turk.do(name, "Wanda", [("answer-0-0", "seven"), ("doNotRedirect", "true")])
    elsewhere.look()
    odd = elsewhere.assignments().get()
    assert odd.replaced_at is not None
    assert odd.ratings.count() == 0
    session = odd.session_work.session
    assert "not a valid answer on the scale" in session.problem
    assert "seven" in session.raw
    elsewhere.look()
    assert len(elsewhere.answer_all("Wilma")) == 2


def test_what_the_platform_approved_is_paid_and_a_late_rejection_gives_way(
    elsewhere, turk, monkeypatch
):
    first, *_ = elsewhere.get_answers()
    elsewhere.reject(first)
    monkeypatch.setattr(clock, "now", lambda: timezone.now() + timedelta(days=3))
    elsewhere.look()
    elsewhere.look()
    assert set(elsewhere.assignments().values_list("state", flat=True)) == {"APPROVED"}
    elsewhere.check_books()
    assert turk.charged_cents() == 24
    hit = Assignment.objects.get(session_work__session__session_id=first).hit
    assert (hit.n_available, hit.max_assignments) == (0, 1)


@pytest.mark.every_engine
def test_requirements_go_along(turk):
    Requirement.objects.create(pool_id=POOL, kind="APPROVED", at_least=500)
    Requirement.objects.create(pool_id=POOL, kind="APPROVED_PERCENT", at_least=98)
    Requirement.objects.create(pool_id=POOL, kind="COUNTRY", countries="us gb")
    Elsewhere(turk).look()
    kind = RequesterHITType.own.get()
    assert [one.get("IntegerValues") for one in kind.requirements] == [
        None,
        [500],
        [98],
        None,
    ]
    assert kind.requirements[3]["LocaleValues"] == [
        {"Country": "GB"},
        {"Country": "US"},
    ]


def test_a_qualification_test_of_ours_is_given_and_graded_there(turk):
    test = QualificationTest.objects.create(
        name="reads-well",
        pool_id=POOL,
        title="Reading",
        introduction="Two questions.",
        state="PUBLISHED",
        hit_type=shared_hit_type(hit_type()),
        pass_percent=75,
        wait_hours=2,
        seed=1,
    )
    test.questions.create(
        text="Is <b> a tag?", choices="No\nYes", expected={"choice": 1}, position=0
    )
    data = item("drawn").data
    test.questions.create(data=data, expected={"good": True}, position=1)
    Requirement.objects.create(pool_id=POOL, kind="TEST", test_name="reads-well")
    elsewhere = Elsewhere(turk)
    elsewhere.look()
    assert elsewhere.place.trouble == ""
    kind = QualificationType.objects.get(name__startswith="Reading")
    assert kind.name == "Reading (reads-well, version 1)"
    assert "Is &lt;b&gt; a tag?" in kind.test
    assert "To be rated: A short answer." in kind.test
    right = re.findall(r"<SelectionIdentifier>([^<]*)<", kind.answer_key)
    assert right == ["1", "1", "0.75"]  # "Yes"; "Strongly agree" and "Agree"
    assert kind.retry_seconds == 7200
    assert elsewhere.answer_all() == []


@pytest.mark.every_engine
def test_a_test_that_cannot_go_along_stops_the_campaign_in_words(turk, settings):
    settings.GENIE = {**settings.GENIE, "PLATFORMS": {"mturk": turk.options}}
    Requirement.objects.create(pool_id=POOL, kind="TEST", test_name="nowhere")
    elsewhere = Elsewhere(turk)
    jobs.enqueue(sync.JOB, campaign=elsewhere.campaign.pk)
    jobs.drain()
    assert "'nowhere' is in use" in elsewhere.place.trouble
    assert turk.n_posted() == 0
    Requirement.own.all().delete()
    jobs.enqueue(sync.JOB, campaign=elsewhere.campaign.pk)
    jobs.drain()
    assert elsewhere.place.trouble == ""
    assert turk.n_posted() == 2


def test_another_environment_than_the_campaigns_is_not_talked_to(elsewhere, turk):
    elsewhere.look()
    other = turk.fresh()
    other.environment = "production"
    elsewhere.answer_all()
    assert elsewhere.look(other) == 0
    assert "endpoint" in elsewhere.place.trouble
    assert elsewhere.assignments().count() == 0
    assert Campaign.own.get().state == "RUNNING"
    assert not LedgerEntry.own.exists()
