import re
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.services import review
from crowd.campaigns.services.work import next_assignment
from crowd.models import (
    HIT,
    Assignment,
    Budget,
    Campaign,
    Commitment,
    Invitation,
    LedgerEntry,
    QualificationGrant,
    QualificationTest,
    Worker,
)
from crowd.money.services import budgets
from crowd.workers.services import exclusions, invitations
from tests.crowd.making import (
    POOL,
    do_all,
    do_one,
    item,
    items,
    make_campaign,
    make_worker,
    text_of,
)
from tests.factories import act, make_user, signed_in

State = Assignment.State


def page_of(model, pk=None):
    if pk is None:
        return reverse(f"admin:crowd_{model}_changelist")
    return reverse(f"admin:crowd_{model}_change", args=[pk])


def said():
    return list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True))  # fmt: skip


@pytest.mark.every_engine
def test_the_list_shows_how_far_and_how_dear_each_campaign_is(office):
    make_campaign(4, budget_cents=80)
    worker = make_worker()
    do_one(worker)
    next_assignment(worker)
    Assignment.own.filter(state=State.SUBMITTED).update(active_seconds=24)
    page = text_of(office.get(page_of("campaign")))
    assert "1 of 4 (25%)" in page
    assert "1 / 2" in page
    assert "$0.10" in page
    assert "$0.80" in page
    assert "$15.00" in page


@pytest.mark.every_engine
def test_lists_take_as_many_queries_for_many_rows_as_for_one(office, ada):
    def fill(n):
        for _ in range(n):
            number = Campaign.own.count()
            campaign = make_campaign(2, of=items(2, f"{number}-"), pool=f"pool-{number}")  # fmt: skip
            do_all(make_worker(campaign.pool_id))
            invitations.invite(ada, "note")
            budgets.commit(key=campaign.key, pool=campaign.pool_id, amount_cents=1, by=ada)  # fmt: skip
            Budget.objects.create(pool=campaign.pool, limit_cents=5)

    def queries():
        counted = {}
        for model in ("campaign", "hit", "assignment", "worker", "ledgerentry", "invitation", "budget", "commitment", "hittype"):  # fmt: skip
            with CaptureQueriesContext(connection) as captured:
                assert office.get(page_of(model)).status_code == 200
            counted[model] = len(captured)
        return counted

    fill(1)
    queries()  # what is cached is cached now
    few = queries()
    fill(2)
    many = queries()
    assert {model for model in few if many[model] > few[model]} == set()


def test_stopping_asks_once_more_and_wants_a_reason(office):
    campaign = make_campaign(3)
    do_one(make_worker())
    first = act(office, "crowd_campaign", "stop_selected", campaign)
    page = text_of(first)
    assert "1 of 3" in page
    assert "Spent so far $0.10" in page
    assert "checked" not in first.text  # whether to publish is nobody's default
    for half in ({"reason": " ", "publish": "no"}, {"reason": "Wrong texts."}):
        act(
            office, "crowd_campaign", "stop_selected", campaign, confirmed="yes", **half
        )
        campaign.refresh_from_db()
        assert campaign.state == Campaign.State.RUNNING
    act(office, "crowd_campaign", "stop_selected", campaign, confirmed="yes", reason="Wrong texts", publish="no")  # fmt: skip
    campaign.refresh_from_db()
    assert campaign.state == Campaign.State.STOPPED
    assert campaign.publish_partial is False
    assert said() == ["Stopped: Wrong texts. The results so far are not published."]


@pytest.mark.every_engine
def test_a_campaigns_own_page_has_its_figures_and_its_brakes(office):
    campaign = make_campaign(2)
    response = office.get(page_of("campaign", campaign.pk))
    assert "0 of 2" in text_of(response)
    assert 'value="stop_selected"' in response.text
    assert 'value="pause_selected"' in response.text
    assert 'name="_save"' not in response.text
    hits = re.search(r'href="([^"]+campaign__id__exact[^"]+)"', response.text).group(1)
    assert office.get(hits).status_code == 200


def test_an_assignments_page_shows_what_the_worker_saw_and_said(office):
    make_campaign(of=[item("k", text="<script>alert(1)</script>", question="=cmd()")])
    done = do_one(make_worker(), remark="]]> odd")
    response = office.get(page_of("assignment", done.pk))
    assert "<script>alert(1)" not in response.text
    assert "<script>alert(1)</script>" in unescape(response.text)
    assert "=cmd()" in text_of(response)
    assert "]]> odd" in text_of(response)
    assert "0.75" in text_of(response)
    hit = office.get(page_of("hit", done.hit_id))
    assert "<script>alert(1)" not in hit.text
    assert str(done.worker) in text_of(hit)


def test_the_list_of_workers_shows_earnings_and_closed_pools(office):
    make_campaign(2)
    worker = make_worker()
    one, _ = do_all(worker)
    review.approve([one.pk])
    exclusions.exclude(worker, "other", "Sorry.")
    row = re.search(rf"<tr>.*?{worker.pseudonym}.*?</tr>", office.get(page_of("worker")).text, re.S)  # fmt: skip
    cells = re.findall(r'class="field-(\w+)">(.*?)</td>', row.group(0), re.S)
    assert dict(cells) | {
        "n_sent_in": "2",
        "pending_money": "$0.10",
        "approved_money": "$0.10",
        "paid": "$0.00",
    } == dict(cells)
    assert "Sorry." in text_of(office.get(page_of("worker", worker.pk)))


@pytest.mark.every_engine
def test_an_invitations_link_is_shown_once_and_works(office):
    add = reverse("admin:crowd_invitation_add")
    form = {"note": "for Wim", "places": 1, "n_links": 1}
    for days in ("0", "-1", "x", "", "9999"):
        office.post(add, {**form, "days": days})
    assert not Invitation.own.exists()
    response = office.post(add, {**form, "days": 3})
    link = re.search(r'value="(http[^"]+)"', response.text).group(1)
    assert "no-store" in response["Cache-Control"]
    token = link.rstrip("/").rsplit("/", 1)[-1]
    row = Invitation.own.get()
    assert 2 <= (row.expires_at - timezone.now()).days <= 3
    for page in (page_of("invitation"), page_of("invitation", row.pk), add):
        assert token not in office.get(page).text
    wim = signed_in(make_user("wim"))
    wim.post(link)
    assert Worker.own.get().user.get_username() == "wim"
    text = office.post(add, {**form, "days": 3, "places": 4, "n_links": 3, "code": "sea"}).text  # fmt: skip
    assert len(set(re.findall(r"https?://[^\s<]+/work/invitation/[^\s<]+", text))) == 3
    assert Invitation.objects.filter(places=4, code="sea").count() == 3


def test_one_message_goes_to_many_workers_and_a_note_only_to_staff(office):
    workers = [make_worker(), make_worker()]
    page = page_of("worker")
    chosen = {"_selected_action": [worker.pk for worker in workers], "confirmed": "yes"}
    words = {"subject": "New <texts>", "text": "They are about the sea."}
    office.post(page, {**chosen, **words, "action": "write_selected"})
    office.post(page, {**chosen, "action": "note_selected", "reason": "Writes well."})
    for worker in workers:
        assert worker.messages.get().subject == "New <texts>"
    assert said() == ["Wrote: New <texts>"] * 2 + ["Note: Writes well."] * 2
    text = office.get(page_of("worker", workers[0].pk)).text
    assert "New &lt;texts&gt;" in text


@pytest.mark.every_engine
def test_budgets_show_what_is_left_and_staff_change_the_limit(office, ada):
    budgets.commit(key="a", pool=POOL, amount_cents=700, by=ada)
    own = Budget.objects.create(pool_id=POOL, limit_cents=1_000)
    page = text_of(office.get(page_of("budget")))
    assert "$10.00 $7.00 $3.00" in page
    site = Budget.objects.get(pool=None)
    assert "the whole site" in page
    limit = {"limit_cents": 2_000, "pool": "moved"}
    assert "This field is required" in text_of(office.post(page_of("budget", own.pk), limit))  # fmt: skip
    office.post(page_of("budget", own.pk), {**limit, "why": "A second grant."})
    own.refresh_from_db()
    assert (own.pool_id, own.limit_cents) == (POOL, 2_000)
    assert said() == ["Changed Limit cents. Reason: A second grant."]
    office.post(page_of("budget", site.pk), {"limit_cents": -5, "why": "A try."})
    site.refresh_from_db()
    assert site.limit_cents > 0
    assert LogEntry.objects.count() == 1


@pytest.mark.every_engine
def test_rewards_are_marked_paid_with_their_reference(office):
    make_campaign(3)
    one, two, _ = do_all(make_worker())
    review.approve([one.pk, two.pk])
    entries = list(LedgerEntry.own)
    asked = act(office, "crowd_ledgerentry", "mark_paid_selected", *entries)
    assert "Total $0.20" in text_of(asked)
    assert "1 skipped" in text_of(asked)
    act(office, "crowd_ledgerentry", "mark_paid_selected", *entries, confirmed="yes", reference="transfer 17")  # fmt: skip
    act(office, "crowd_ledgerentry", "mark_paid_selected", *entries, confirmed="yes", reference="transfer 18")  # fmt: skip
    states = LedgerEntry.own.order_by("pk").values_list("state", "platform_id")
    assert list(states) == [
        ("DONE", "transfer 17"),
        ("DONE", "transfer 17"),
        ("PLANNED", ""),
    ]


@pytest.mark.every_engine
def test_rows_of_record_cannot_be_edited_or_deleted_by_hand(office, ada):
    make_campaign(1)
    do_one(make_worker())
    budgets.commit(key="a", pool=POOL, amount_cents=7, by=ada)
    for kind in (Campaign, HIT, Assignment, LedgerEntry, Worker, Commitment):
        model, pk = kind._meta.model_name, kind.own.get().pk
        page, add = page_of(model, pk), reverse(f"admin:crowd_{model}_add")
        delete = reverse(f"admin:crowd_{model}_delete", args=[pk])
        assert office.get(page).status_code == 200, model
        assert office.post(page, {"state": "DONE"}).status_code == 403, model
        assert office.get(delete).status_code == 403, model
        assert office.get(add).status_code == 403, model


def test_many_workers_get_a_qualification_at_once_and_are_found_by_it(office):
    QualificationTest.objects.create(
        name="sea", title="The sea", pool_id=POOL, version=1, seed=1
    )
    workers = [make_worker() for _ in range(3)]
    make_worker()
    page = page_of("worker")
    chosen = {"_selected_action": [worker.pk for worker in workers[1:]]}
    sent = {**chosen, "confirmed": "yes", "action": "grant_selected", "name": "sea"}
    office.post(page, {**sent, "days": 9})
    sent["_selected_action"] = [worker.pk for worker in workers]
    answer = office.post(page, sent, follow=True)
    assert "granted to 1; 2 had it already" in answer.text
    grants = QualificationGrant.own.order_by("worker")
    assert [grant.expires_at is None for grant in grants] == [True, False, False]
    assert all(worker.messages.count() == 1 for worker in workers)
    found = office.get(page, {"qualification": "sea"}).text
    assert [w.pseudonym in found for w in Worker.own.order_by("pk")] == [True] * 3 + [False]  # fmt: skip
