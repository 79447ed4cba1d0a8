from datetime import timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import review
from crowd.campaigns.services.work import give_back, next_assignment, release_overdue
from crowd.models import HIT, Assignment, Consent, Worker
from crowd.workers.services import exclusions
from genie.lib.database import prepare
from tests.crowd.making import (
    POOL,
    do_all,
    do_one,
    items,
    make_campaign,
    make_worker,
    send_in,
)

State = Assignment.State


def contents(assignments):
    return [a.hit.items.get().content_key for a in assignments]


@pytest.mark.every_engine
def test_the_text_of_a_query_is_written_once_and_its_rows_are_read_anew():
    written = []

    @prepare
    def read(platform, pk=None, *, simulated):
        written.append(simulated)
        rows = Worker.objects.filter(platform=platform, simulated=simulated)
        return (
            rows if pk is None else rows.filter(pk=pk).values_list("pk", "limited_to")
        )

    one, two = make_worker(), make_worker()
    Worker.objects.filter(pk=two.pk).update(limited_to=["a"], platform="elsewhere")
    assert read("selfhosted", one.pk, simulated=False) == [(one.pk, [])]
    assert read("selfhosted", two.pk, simulated=False) == []
    Worker.objects.filter(pk=two.pk).update(platform="selfhosted")
    assert read("selfhosted", two.pk, simulated=False) == [(two.pk, ["a"])]
    assert written == [False]
    assert {one, two} <= {*read("selfhosted", simulated=False)}
    assert read("selfhosted", one.pk, simulated=True) == []
    assert written == [False, False, True]


@pytest.mark.every_engine
def test_hits_go_out_in_their_stored_order():
    campaign = make_campaign(6)
    done = do_all(make_worker())
    positions = Assignment.own.order_by("pk").values_list("hit__position", flat=True)
    assert list(positions) == list(range(6))
    assert {a.hit.campaign_id for a in done} == {campaign.pk}


def test_a_worker_has_one_open_assignment_and_gets_it_back():
    make_campaign(3)
    worker = make_worker()
    first = next_assignment(worker)
    assert next_assignment(worker).pk == first.pk
    assert Assignment.own.count() == 1
    assignment = next_assignment(make_worker())
    assert assignment.deadline_at - assignment.accepted_at == timedelta(minutes=30)
    assert assignment.reward_cents == 10


@pytest.mark.every_engine
def test_nobody_gets_the_same_input_twice_in_a_pool():
    make_campaign(3, of=items(3, "first-"))
    make_campaign(4, of=items(4, "second-"))
    done = contents(do_all(make_worker()))
    assert sorted(done) == ["input-0", "input-1", "input-2", "input-3"]


@pytest.mark.parametrize("end", ["returned", "expired", "rejected"])
def test_what_was_seen_is_not_shown_again_whatever_became_of_it(end):
    make_campaign(1)
    worker = make_worker()
    assignment = next_assignment(worker)
    if end == "returned":
        give_back(assignment)
    elif end == "expired":
        release_overdue(timezone.now() + timedelta(days=1))
    else:
        send_in(assignment)
        review.reject(assignment.pk, None, "No effort.")
    assert HIT.own.get().n_available == 1
    assert next_assignment(worker) is None
    assert next_assignment(make_worker()) is not None


def test_without_consent_there_is_no_work():
    make_campaign(1)
    worker = make_worker(agreed=False)
    assert next_assignment(worker) is None
    worker = make_worker()
    Consent.own.update(text_sha256="0" * 64)
    assert next_assignment(worker) is None


def test_excluded_workers_get_nothing():
    make_campaign(1)
    make_campaign(1, pool="other")
    worker = make_worker(POOL, "other")
    exclusions.exclude(worker, POOL, "Sorry.")
    assert next_assignment(worker).hit.campaign.pool_id == "other"
    nobody = make_worker(POOL, "other")
    Worker.objects.filter(pk=nobody.pk).update(excluded=True)
    nobody.refresh_from_db()
    assert next_assignment(nobody) is None


def test_workers_of_another_platform_and_programs_get_nothing_here():
    make_campaign(1, platform="mturk")
    assert next_assignment(make_worker()) is None
    make_campaign(1)
    assert next_assignment(make_worker(simulated=True)) is None
    make_campaign(1, of=items(1, "s-"), simulated=True)
    assert next_assignment(make_worker(simulated=True)).hit.campaign.simulated


def test_an_open_assignment_whose_time_is_over_makes_room_for_the_next():
    make_campaign(2)
    worker = make_worker()
    first = next_assignment(worker)
    Assignment.own.update(deadline_at=timezone.now() - timedelta(hours=1))
    second = next_assignment(worker)
    first.refresh_from_db()
    assert first.state == State.EXPIRED
    assert second.hit_id != first.hit_id
    assert HIT.objects.get(pk=first.hit_id).n_available == 1


def test_handing_out_asks_little_of_many_hits(django_assert_max_num_queries):
    # The worker has seen the inputs of the first 30 HITs of the second campaign.
    make_campaign(of=items(30, "first-"))
    worker = make_worker()
    assert len(do_all(worker)) == 30
    make_campaign(of=items(500, "second-"))
    with django_assert_max_num_queries(21):
        assignment = next_assignment(worker)
    with django_assert_max_num_queries(8):
        send_in(assignment)
    assert do_one(worker)
