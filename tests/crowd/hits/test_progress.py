from datetime import timedelta

from crowd.campaigns.services import review, run
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.hits.selectors import campaign_progress, is_done, progress_of
from crowd.models import Assignment
from crowd.worker_site.hit import worker_progress
from tests.crowd.making import (
    do_all,
    do_one,
    item,
    items,
    make_campaign,
    make_worker,
    send_in,
)


def figures(campaign):
    p = campaign_progress(campaign)
    return (p.n_hits, p.n_done, p.n_open, p.n_waiting)


def test_figures_follow_the_work():
    campaign = make_campaign(3, budget_cents=50)
    assert figures(campaign) == (3, 0, 0, 3)
    worker = make_worker()
    open_one = next_assignment(worker)
    assert figures(campaign) == (3, 0, 1, 2)
    send_in(open_one)
    next_assignment(worker)
    assert figures(campaign) == (3, 1, 1, 1)
    progress = campaign_progress(campaign)
    assert (progress.spent_cents, progress.committed_cents, progress.budget_cents) == (10, 30, 50)  # fmt: skip


def test_rejected_work_costs_nothing():
    campaign = make_campaign(1)
    review.reject(do_one(make_worker()).pk, None, "No effort.")
    assert figures(campaign) == (1, 0, 0, 1)
    assert campaign_progress(campaign).spent_cents == 0


def test_a_hit_for_several_people_is_done_when_all_have_answered():
    campaign = make_campaign(1, max_assignments=2)
    do_one(make_worker())
    assert figures(campaign) == (1, 0, 0, 1)
    # what counts is answers: until the last one comes no HIT is done
    progress = campaign_progress(campaign)
    assert (progress.n_answers, progress.n_asked, progress.n_left) == (1, 2, 1)
    assert not is_done(campaign)
    do_one(make_worker())
    assert figures(campaign) == (1, 1, 0, 0)
    assert is_done(campaign)


def test_a_campaign_is_not_done_before_it_began_or_while_somebody_is_at_work():
    campaign = make_campaign(1)
    worker = make_worker()
    assignment = next_assignment(worker)
    assert not is_done(campaign)
    give_back(assignment)
    assert not is_done(campaign)
    do_one(make_worker())
    assert is_done(campaign)
    assert not is_done(make_campaign(1, running=False))


def test_the_hourly_rate_comes_from_the_median_of_the_active_time():
    campaign = make_campaign(3)
    do_all(make_worker())
    assert campaign_progress(campaign).hourly_cents is None
    for pk, seconds in zip(
        Assignment.own.values_list("pk", flat=True), (4, 24, 1_000), strict=True
    ):
        Assignment.objects.filter(pk=pk).update(active_seconds=seconds)
    progress = campaign_progress(campaign)
    assert progress.median_active_seconds == 24
    assert progress.hourly_cents == 1_500
    assert timedelta(hours=1) / timedelta(seconds=24) * 10 == progress.hourly_cents


def test_progress_of_many_campaigns_takes_no_more_queries(django_assert_num_queries):
    worker = make_worker()
    campaigns = [make_campaign(2, of=items(2, f"{i}-")) for i in range(6)]
    do_all(worker)
    with django_assert_num_queries(6):
        found = progress_of(campaigns)
    assert sum(p.n_done for p in found.values()) == 2
    with django_assert_num_queries(5):  # the HIT type is known by now
        progress_of(campaigns[:1])


def test_two_hits_about_one_input_are_one_to_come():
    twice = [item("a", content_key="same"), item("b", content_key="same"), item("c")]
    campaign = make_campaign(of=twice)
    worker = make_worker()
    assert worker_progress(worker, [campaign]).n_all == 2
    assert len(do_all(worker)) == 2
    assert worker_progress(worker, [campaign]).n_all == 2


def test_a_worker_sees_what_is_left_for_them_and_not_for_others():
    first = make_campaign(3, of=items(3, "a-"))
    second = make_campaign(4, of=items(4, "b-"))
    worker = make_worker()
    run.pause(second.pk, None)
    do_one(worker)
    next_assignment(worker)
    run.resume(second.pk, None)
    mine = worker_progress(worker, [first])
    assert (mine.n_done, mine.n_left, mine.n_all) == (1, 2, 3)
    assert worker_progress(worker, [second]).n_left == 2
    run.pause(second.pk, None)
    second.refresh_from_db()
    assert worker_progress(worker, [second]).n_left == 0
