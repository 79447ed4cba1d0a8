"""Nobody does more than a share of a campaign, and no campaign hangs for it silently."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from crowd.campaigns.selectors.offers import offers
from crowd.campaigns.services import claim, run
from crowd.campaigns.services.run import HELD_BY_SHARES, STARVED
from crowd.campaigns.services.run import watch_crowd as watch
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.hits.services.build import extend
from crowd.models import Assignment, Campaign, Worker
from crowd.worker_site.hit import worker_progress
from crowd.workers.selectors.eligible import SHARE_DONE, in_turns_with, used_up
from tests.crowd.making import do_all, do_one, items, make_campaign, make_worker
from tests.factories import act, make_user


def limited(n, share=0.1, *, follows_crowd=False, **fields):
    campaign = make_campaign(n, **fields)
    run.limit_share(campaign, share, follows_crowd=follows_crowd)
    return campaign


def limit_of(campaign):
    campaign.refresh_from_db()
    return campaign.hits_per_worker


def notice_of(campaign):
    campaign.refresh_from_db()
    return campaign.notice


def test_a_worker_does_a_share_and_gets_no_more():
    campaign = limited(20)
    worker = make_worker()
    give_back(next_assignment(worker))  # counts for no share
    assert len(do_all(worker)) == 2
    assert next_assignment(worker) is None
    assert used_up(worker, [campaign]) == {campaign.pk}
    assert len(do_all(make_worker())) == 2


def test_a_share_is_of_all_places_rounded_up_and_all_or_elsewhere_is_no_limit():
    for n, share, limit in [(880, 0.1, 88), (881, 0.1, 89), (3, 0.1, 1), (7, 0.5, 4)]:
        assert limit_of(limited(n, share)) == limit
    assert limit_of(limited(10, 0.3, max_assignments=2)) == 6
    assert limit_of(limited(10, 1.0)) is None
    assert limit_of(limited(10, platform="mturk")) is None


def test_with_one_share_done_the_other_campaigns_go_on():
    first = limited(10, of=items(10, "a-"))
    second = make_campaign(of=items(10, "b-"))
    worker = make_worker()
    done = [assignment.hit.campaign_id for assignment in do_all(worker)]
    assert done.count(first.pk) == 1
    assert done.count(second.pk) == 9


def test_home_says_why_there_is_no_more(client):
    limited(20)
    worker = make_worker(user=make_user("wanda"))
    client.force_login(worker.user)
    assert offers(worker)[0].n_left == 2
    assert not offers(worker)[0].lacking
    do_all(worker)
    page = client.get(reverse("work:home")).text
    assert str(SHARE_DONE) in page
    assert "none left for you at the moment" in page
    assert ">Start<" not in page
    page = client.post(reverse("work:next"), follow=True).text
    assert str(SHARE_DONE) in page


def test_progress_counts_to_the_end_of_the_share():
    campaign = limited(20, 0.2)
    worker = make_worker()
    do_one(worker)
    next_assignment(worker)
    progress = worker_progress(worker, in_turns_with(worker, campaign))
    assert (progress.n_done, progress.n_left, progress.at_least) == (1, 3, False)


def test_progress_is_of_all_that_comes_in_turns():
    campaigns = [make_campaign(of=items(9, f"{i}-")) for i in range(3)]
    worker = make_worker()
    for n in range(6):
        assignment = next_assignment(worker)
        of_it = in_turns_with(worker, assignment.hit.campaign)
        assert {campaign.pk for campaign in of_it} == {one.pk for one in campaigns}
        progress = worker_progress(worker, of_it)
        assert (progress.n_done, progress.n_all) == (n, 9)
        do_one(worker)


@pytest.mark.parametrize("n_workers", [1, 3])
def test_a_small_crowd_finishes_by_default(n_workers):
    workers = [make_worker() for _ in range(n_workers)]
    campaign = limited(30, follows_crowd=True)
    assert limit_of(campaign) == min(30, -(-60 // n_workers))
    for worker in workers:
        do_all(worker)
    assert Assignment.own.count() == 30


def test_a_larger_crowd_makes_the_share_smaller_and_fewer_people_larger():
    workers = [make_worker() for _ in range(4)]
    campaign = limited(40, follows_crowd=True)
    assert limit_of(campaign) == 20
    workers += [make_worker() for _ in range(16)]
    watch(campaign)
    assert limit_of(campaign) == 4
    Worker.objects.filter(pk__in=[w.pk for w in workers[10:]]).update(excluded=True)
    watch(campaign)
    assert limit_of(campaign) == 8


def test_who_has_seen_all_that_waits_does_not_make_the_crowd_larger():
    make_campaign(of=items(10, "first-"))
    seen = [make_worker() for _ in range(3)]
    do_all(seen[0])
    campaign = limited(10, of=items(10, "second-"), follows_crowd=True)
    assert limit_of(campaign) == 10


def test_before_anybody_is_here_nothing_is_limited_and_soon_it_is():
    campaign = limited(40, follows_crowd=True)
    assert limit_of(campaign) is None
    for _ in range(40):
        make_worker()
    watch(campaign)
    assert limit_of(campaign) == 4


def test_staff_are_told_when_only_those_are_left_who_did_their_share():
    campaign = limited(10, 0.4)
    first, second = make_worker(), make_worker()
    do_all(first)
    assert not watch(campaign)
    do_all(second)
    assert watch(campaign)
    assert notice_of(campaign) == HELD_BY_SHARES
    third = make_worker()
    assert not watch(campaign)
    assert notice_of(campaign) == ""
    do_all(third)
    assert not watch(campaign)


def test_staff_are_told_when_nobody_else_came_for_a_day():
    campaign = limited(10, 0.4)
    make_worker()
    do_all(make_worker())
    assert not watch(campaign)
    tomorrow = timezone.now() + timedelta(hours=24, minutes=1)
    assert watch(campaign, tomorrow)
    assert notice_of(campaign) == HELD_BY_SHARES


def test_elsewhere_staff_are_told_after_a_day_without_anybody():
    campaign = limited(10, 0.4, platform="panel")
    worker = make_worker()
    Worker.own.update(platform="panel")
    worker.refresh_from_db()
    do_all(worker)
    assert not watch(campaign)
    assert watch(campaign, timezone.now() + timedelta(hours=24, minutes=1))
    assert notice_of(campaign) == HELD_BY_SHARES


def test_nobody_is_missed_without_open_hits_or_held_by_a_share_who_could_not_go_on():
    campaign = limited(1, 0.5)
    do_all(make_worker())
    assert not watch(campaign)
    assert notice_of(campaign) == ""
    campaign = limited(2, 0.5)
    worker = make_worker()
    do_all(worker)
    Worker.own.update(excluded=True)
    assert watch(campaign)
    assert notice_of(campaign) == STARVED


def test_a_campaign_for_one_worker_has_no_limit():
    campaign = limited(10)
    claim.reserve_for_one_worker(campaign)
    assert limit_of(campaign) is None
    assert len(do_all(make_worker())) == 10


def test_hits_that_are_added_enlarge_the_share():
    campaign = limited(10, 0.2)
    extend(campaign.pk, items(20, "more-"))
    run.refresh_share(campaign)
    assert limit_of(campaign) == 6


def staff(client, *permissions):
    user = make_user("staff", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)
    return user


def lift(client, campaign):
    yes = {"confirmed": "yes", "reason": "Only two of us."}
    return act(client, "crowd_campaign", "lift_share_selected", campaign, **yes)


def test_staff_lift_it_and_the_log_says_so(client):
    user = staff(client, "view_campaign", "change_campaign")
    campaign = limited(10)
    worker = make_worker()
    do_all(worker)
    watch(campaign)
    page = client.get(reverse("admin:crowd_campaign_change", args=[campaign.pk])).text
    assert "Lift the limit per worker" in page
    assert "1 HIT (10%)" in page
    assert HELD_BY_SHARES.split(".")[0] in page
    lift(client, campaign)
    assert limit_of(campaign) is None
    assert "Only two of us." in LogEntry.objects.get(user=user).change_message
    watch(campaign)
    assert notice_of(campaign) == ""
    assert len(do_all(worker)) == 9
    page = client.get(reverse("admin:crowd_campaign_change", args=[campaign.pk])).text
    assert "Lift the limit per worker" not in page


def test_a_lifted_limit_does_not_come_back():
    campaign = limited(10)
    stale = Campaign.objects.get(pk=campaign.pk)
    boss = make_user("boss")
    assert run.lift_share(campaign.pk, boss, "Enough.")
    campaign.hits.update(max_assignments=3)
    run.refresh_share(stale)
    assert limit_of(campaign) is None
    assert not run.lift_share(campaign.pk, boss, "Again.")


def test_limits_take_one_query_more_whatever_the_campaign(django_assert_num_queries):
    worker = make_worker()
    campaigns = [make_campaign(of=items(6, f"{i}-")) for i in range(6)]
    do_one(worker)

    def n_queries():
        with CaptureQueriesContext(connection) as captured:
            do = next_assignment(worker)
        give_back(do)
        return len(captured)

    before = n_queries()
    for campaign in campaigns[:2]:
        run.limit_share(campaign, 0.5, follows_crowd=False)
    assert n_queries() == before + 1
    for campaign in campaigns[2:]:
        run.limit_share(campaign, 0.5, follows_crowd=False)
    assert n_queries() == before + 1
