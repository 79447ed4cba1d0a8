"""A pilot: measured by a few people, proposed, taken over; its ratings go nowhere else."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from crowd.campaigns.selectors.offers import offers
from crowd.campaigns.services import claim
from crowd.models import Assignment, Campaign, Rating, Worker
from crowd.money.models import Commitment
from crowd.workers.services import invitations
from crowd.workers.services import invitations as consent
from leaderboard.evaluation.decide import MAY_DECIDE
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.services.simulate import Crowd, Player
from leaderboard.models import Draft, HumanEvaluation, Task
from leaderboard.studio.services import keep
from leaderboard.studio.views.access import MAY_INVITE
from tests.cast import allow
from tests.crowd.making import make_campaign
from tests.factories import make_user
from tests.leaderboard.studio.test_new import WIDE, csv_of
from tests.leaderboard.studio.test_pages import MAKES, asked, at, begin, text

WANTED = {"begin": "", "n_items": "10", "n_people": "3", "shown_cents": "0"}


@pytest.fixture
def draft(mia):
    begin(mia, {"a.csv": csv_of(WIDE)})
    mia.post(at(Draft.objects.get(), "ask"), asked())
    return Draft.objects.get()


def start(client, draft, **changes):
    after = draft.state.get("pilots", 0)
    sent = {**WANTED, "after": after, **changes}
    page = text(client.post(at(draft, "pilot"), sent))
    draft.refresh_from_db()
    return page


def judge(campaign, *names, seconds=30.0):
    """Let people who came by the link judge all; each page takes them so long."""
    workers = [Worker.objects.get(user__username=name) for name in names]
    for worker in workers:
        consent.give_consent(worker, campaign.pool_id)
    good = {"ada": 0.9, "bob": 0.2}

    def quality(item):
        return good["ada" if "good" in item.data["prediction"] else "bob"]

    crowd = Crowd(
        [Player(worker, "diligent") for worker in workers], quality=quality, seed=3
    )
    crowd.work()
    for number, one in enumerate(Assignment.own.order_by("pk")):
        one.active_seconds = seconds + number % 3 - 1
        one.save()


def invited(page, *names):
    link = re.search(r'value="http://testserver/work/invitation/([^"/]+)', page)[1]
    for name in names:
        invitations.redeem(link, make_user(name))


def test_who_came_for_a_pilot_finds_it_before_all_other_work(mia, draft):
    other = make_campaign(starts_at=timezone.now() - timedelta(days=1))
    invited(start(mia, draft), "guest")
    worker = Worker.objects.get(user__username="guest")
    pilot = Campaign.own.exclude(pk=other.pk).get()
    assert [offer.pool for offer in offers(worker)] == [pilot.pool_id, other.pool_id]


def test_from_the_link_to_proposals_that_are_taken_over(mia, draft):
    page = text(mia.get(at(draft, "people")))
    assert "Too few to say" in page
    page = start(mia, draft, joins="on")
    campaign = Campaign.own.get()
    assert (campaign.hits.count(), campaign.state) == (10, "RUNNING")
    assert {*campaign.hits.values_list("max_assignments", flat=True)} == {3}
    invited(page, "ned", "nora")
    assert "not measured yet" in text(mia.get(at(draft, "pilot")))
    judge(campaign, "mia", "ned", "nora")
    page = text(mia.get(at(draft, "pilot")))
    assert "30 of 30" in page
    assert "<dt>median time per page</dt><dd>30 s</dd>" in page
    # 30 seconds at 15 dollars an hour
    assert "at $15 an hour</dt><dd>$0.13</dd>" in page
    assert re.search(r"agreement, overall</dt><dd>α = 0\.\d\d", page)
    # volunteers are proposed no reward, and nothing is taken over unasked
    assert not re.search(r'name="reward" value="0', page)
    assert "measured" not in Draft.objects.get().state
    data = {"take": "", "reward": "0.13", "n_items": "8", "ratings": "2"}
    assert mia.post(at(draft, "pilot"), data)["Location"] == at(draft, "people")
    ask = keep.ask_of(Draft.objects.get())
    assert (ask.seconds, ask.reward_cents, ask.n_items, ask.ratings) == (30, 13, 8, 2)
    page = text(mia.get(at(draft, "people")))
    assert "time per page, from the pilot</dt><dd>30 s" in page
    campaign.refresh_from_db()
    assert campaign.state == "COMPLETE"


def test_who_is_paid_is_proposed_what_is_fair(mia, draft):
    mia.post(at(draft, "people"), {"who": "invited", "ratings": "1", "reward": "0.40"})
    page = start(mia, draft, joins="on", n_people="2", n_items="5")
    invited(page, "ned")
    judge(Campaign.own.get(), "mia", "ned", seconds=61.0)
    page = text(mia.get(at(draft, "pilot")))
    assert 'name="reward" value="0.26"' in page


def test_its_ratings_are_nowhere_but_in_the_pilot(mia, draft):
    start(mia, draft, joins="on")
    campaign = Campaign.own.get()
    judge(campaign, "mia")
    mia.post(at(draft, "pilot"), {"take": "", "ratings": "1"})
    mia.post(at(draft, "people"), {"who": "link", "ratings": "1"})
    mia.post(at(draft, "start"), {"load": ""})
    task = Task.own.get()
    assert Rating.own.exists()
    assert campaign.pool_id != task.slug
    assert not HumanEvaluation.objects.filter(campaigns__campaign=campaign).exists()
    assert current_fit(task) is None
    # what has been loaded is piloted no more
    draft.refresh_from_db()
    assert mia.get(at(draft, "pilot"))["Location"] == at(draft, "start")


def test_a_price_is_shown_before_it_is_paid_and_freed_when_it_ends(mia, draft):
    page = start(mia, draft, reward="0.10")
    assert "at most <strong>$3.00</strong>" in page
    assert not Campaign.own.exists()
    start(mia, draft, reward="0.10", shown_cents="300", joins="on")
    assert Commitment.own.get().amount_cents == 300
    start(mia, draft, joins="on")
    assert Campaign.own.count() == 1
    judge(Campaign.own.get(), "mia")
    mia.post(at(draft, "pilot"), {"stop": ""})
    assert Commitment.own.get().amount_cents == 100
    start(mia, draft)
    assert Campaign.own.count() == 2
    assert len({one.pool_id for one in Campaign.own}) == 2


def test_a_page_that_is_sent_again_once_its_pilot_is_over_approves_nothing(mia, draft):
    first = {"reward": "0.10", "shown_cents": "300", "after": "0", "joins": "on"}
    start(mia, draft, **first)
    mia.post(at(draft, "pilot"), {"stop": ""})
    assert "Not approved yet" in start(mia, draft, **first)
    assert Campaign.own.count() == 1


@pytest.mark.parametrize("may", [MAY_DECIDE, MAY_INVITE])
def test_who_may_not_approve_or_invite_starts_none(draft, may):
    user = make_user("max", is_staff=True)
    allow(user, MAKES, may)
    client = Client()
    client.force_login(user)
    draft.owner = user
    draft.save()
    assert "Staff with permission to approve" in text(client.get(at(draft, "pilot")))
    assert client.post(at(draft, "pilot"), WANTED).status_code == 403
    assert not Campaign.own.exists()


def test_it_ends_with_its_draft(mia, draft):
    start(mia, draft, joins="on")
    mia.post(at(draft, "delete"))
    assert Campaign.own.get().state == "STOPPED"


def test_what_was_stopped_while_somebody_was_at_work_is_settled_later(mia, draft):
    start(mia, draft, reward="0.10", shown_cents="300", joins="on")
    campaign = Campaign.own.get()
    worker = Worker.objects.get(user__username="mia")
    consent.give_consent(worker, campaign.pool_id)
    open_work = claim.next_assignment(worker, campaign.pool_id)
    mia.post(at(draft, "delete"))
    keep.forget_old()
    assert Commitment.own.get().amount_cents == 300
    Assignment.objects.filter(pk=open_work.pk).update(state="RETURNED")
    keep.forget_old()
    assert Commitment.own.get().amount_cents == 0


def test_pairs_have_a_pilot_as_well(mia, draft):
    mia.post(at(draft, "ask"), asked(question_1="Which is better?"))
    page = start(mia, draft, n_people="2", joins="on")
    invited(page, "ned")
    campaign = Campaign.own.get()
    assert campaign.hit_type.scale == "two-choice"
    assert "The questions have changed" not in page
    mia.post(at(draft, "ask"), asked(question_1="Which is shorter?"))
    assert "The questions have changed" in text(mia.get(at(draft, "pilot")))


def test_a_pilot_pays_nothing_or_the_minimum(mia, draft):
    start(mia, draft, reward="0.01", shown_cents="30")
    assert not Campaign.own.exists()
    page = text(mia.get(at(draft, "pilot")))
    assert "The pilot’s reward pays $0.01" in page or "reward pays $0.01" in page
    start(mia, draft, reward="0.10", shown_cents="300")
    assert Campaign.own.get().hit_type.reward_cents == 10
