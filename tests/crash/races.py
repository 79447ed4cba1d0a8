"""Several people at the same moment: one table of races, each to be run often.

The tests run a few rounds of each, `python -m benchmarks.bench_races` hundreds.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from threading import Barrier
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.contrib.auth import get_user_model
from django.db import connections
from django.test import RequestFactory
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.models import OrmQ

from crowd.campaigns.services import claim as pages
from crowd.campaigns.services import review, run, undo, work
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.hits.services.build import extend
from crowd.models import HIT, Assignment, Campaign, LedgerEntry, Rating, Requester
from crowd.money.services import payouts
from crowd.requester import api as wire
from crowd.requester.services import access_keys
from crowd.requester.services.money import account
from genie.lib import jobs
from genie.lib.errors import GenieError
from leaderboard.models import Release, Task
from leaderboard.releases import queued
from quality.bans.services import ban
from quality.models import Ban
from tests.crowd.making import (
    answers_for,
    do_one,
    hit_type,
    items,
    make_campaign,
    make_worker,
    send_in,
)
from tests.crowd.requester.making import TYPE, html
from tests.factories import make_task

N_THREADS = 4
State, Entry = Assignment.State, LedgerEntry.State
Race = Callable[["Runners", str], None]
RACES: dict[str, Race] = {}
_numbers = itertools.count(1)


class Runners:
    """Threads that start together, each with a connection that it keeps."""

    def __init__(self, pool: ThreadPoolExecutor) -> None:
        self.pool = pool

    def at_once(self, *calls: Callable[[], Any]) -> list[Any]:
        """Give what each call came to; a refusal is a result, too."""
        barrier = Barrier(len(calls))

        def one(call: Callable[[], Any]) -> Any:
            barrier.wait(timeout=60)
            try:
                return call()
            except GenieError as error:
                return error

        return list(self.pool.map(one, calls))


@contextmanager
def runners() -> Iterator[Runners]:
    with ThreadPoolExecutor(N_THREADS) as pool:
        yield Runners(pool)
        everywhere = Barrier(N_THREADS)

        def close(_: int) -> None:
            everywhere.wait(timeout=60)
            connections.close_all()

        list(pool.map(close, range(N_THREADS)))


def race(race_of: Race) -> Race:
    RACES[race_of.__name__.replace("_", " ")] = race_of
    return race_of


def refused(results: list[Any]) -> list[str]:
    return [one.code for one in results if isinstance(one, GenieError)]


def ledger(assignment: Assignment) -> LedgerEntry:
    return LedgerEntry.objects.get(assignment=assignment)


@race
def the_last_place_of_a_hit(to: Runners, pool: str) -> None:
    campaign = make_campaign(1, pool=pool)
    workers = [make_worker(pool) for _ in range(N_THREADS)]
    got = to.at_once(*[lambda w=w: next_assignment(w) for w in workers])
    assert sum(one is not None for one in got) == 1
    assert campaign.hits.get().n_available == 0
    assert Assignment.objects.filter(hit__campaign=campaign).count() == 1


@race
def two_tabs_of_one_worker(to: Runners, pool: str) -> None:
    campaign = make_campaign(3, pool=pool)
    worker = make_worker(pool)
    got = to.at_once(*[lambda: next_assignment(worker)] * N_THREADS)
    assert len({one.pk for one in got}) == 1
    assert sum(campaign.hits.values_list("n_available", flat=True)) == 2


@race
def a_double_click_on_send(to: Runners, pool: str) -> None:
    make_campaign(1, pool=pool)
    assignment = next_assignment(make_worker(pool))
    got = to.at_once(*[lambda: send_in(assignment)] * N_THREADS)
    assert {one.state for one in got} == {State.SUBMITTED}
    assert Rating.objects.filter(assignment=assignment).count() == 1
    assert ledger(assignment).state == Entry.PLANNED


@race
def sending_in_and_returning(to: Runners, pool: str) -> None:
    make_campaign(1, pool=pool)
    assignment = next_assignment(make_worker(pool))
    again = Assignment.objects.get(pk=assignment.pk)
    to.at_once(lambda: send_in(assignment), lambda: give_back(again))
    assignment.refresh_from_db()
    free = HIT.objects.get(pk=assignment.hit_id).n_available
    n = Rating.objects.filter(assignment=assignment).count()
    assert (assignment.state, free, n) in {
        (State.SUBMITTED, 0, 1),
        (State.RETURNED, 1, 0),
    }
    assert LedgerEntry.objects.filter(assignment=assignment).count() == n


@race
def a_page_sent_in_twice_while_its_time_runs_out(to: Runners, pool: str) -> None:
    campaign = make_campaign(
        6, pool=pool, hit_type=hit_type(form={"items_per_page": 3})
    )
    worker = make_worker(pool)
    got = to.at_once(*[lambda: pages.next_page(worker)] * N_THREADS)
    page = max(got, key=len)
    assert len(page) == 3
    assert {pages.first_on(one).pk for one in got} == {pages.first_on(page).pk}
    sent = [answers_for(one) for one in page]
    late = timezone.now() + timedelta(hours=9)
    to.at_once(
        lambda: work.submit_page(page, sent),
        lambda: work.submit_page(page, sent),
        lambda: work.release_overdue(late),
    )
    mine = Assignment.objects.filter(pk__in=[one.pk for one in page])
    n = Rating.objects.filter(assignment__in=mine).count()
    ends = set(mine.values_list("state", flat=True))
    free = sum(campaign.hits.values_list("n_available", flat=True))
    # all of it, or nothing
    assert (n, free) == ((3, 3) if ends == {State.SUBMITTED} else (0, 6))
    assert ends in ({State.SUBMITTED}, {State.EXPIRED})
    assert LedgerEntry.objects.filter(assignment__in=mine).count() == n


@race
def the_same_work_approved_twice(to: Runners, pool: str) -> None:
    make_campaign(1, pool=pool)
    done, sam = do_one(make_worker(pool)), a_person("sam")
    got = to.at_once(*[lambda: review.approve([done.pk], by=sam)] * 3)
    assert sorted(got) == [0, 0, 1]
    assert ledger(done).state == Entry.PLANNED


@race
def an_answer_changed_while_it_is_decided(to: Runners, pool: str) -> None:
    make_campaign(1, pool=pool)
    done, sam = do_one(make_worker(pool), "0.25"), a_person("sam")
    changed, *_ = to.at_once(
        lambda: undo.change_page([done], [answers_for(done, "1")]),
        lambda: review.approve([done.pk], by=sam),
        lambda: review.reject(done.pk, sam, "No effort."),
    )
    done.refresh_from_db()
    late = isinstance(changed, GenieError)
    # before the decision or not at all; the reward is that of one answer
    assert Rating.objects.get(assignment=done).value == (0.25 if late else 1.0)
    assert (done.state, ledger(done).state) in {
        (State.APPROVED, Entry.PLANNED),
        (State.REJECTED, Entry.CANCELLED),
    }


@race
def work_paid_by_two_people(to: Runners, pool: str) -> None:
    make_campaign(1, pool=pool)
    done, sam = do_one(make_worker(pool)), a_person("sam")
    review.approve([done.pk])
    mine = LedgerEntry.objects.filter(assignment=done)
    got = to.at_once(
        *[lambda i=i: payouts.by_hand(mine.all(), sam, f"{i}") for i in range(3)]
    )
    assert sorted(got) == [0, 0, 1]


@race
def a_ban_while_the_worker_answers(to: Runners, pool: str) -> None:
    campaign = make_campaign(2, pool=pool)
    worker, sam = make_worker(pool), a_person("sam")
    assignment = next_assignment(worker)
    to.at_once(
        lambda: send_in(assignment),
        lambda: ban(worker, pool, by=sam, reason="Careless."),
        lambda: ban(worker, pool, by=sam, reason="Careless."),
    )
    assert Ban.objects.filter(worker=worker, pool=pool).count() == 1
    assignment.refresh_from_db()
    assert assignment.state in {State.SUBMITTED, State.RETURNED}, assignment.state
    sent = assignment.state == State.SUBMITTED
    assert LedgerEntry.objects.filter(assignment=assignment).count() == sent
    # whoever comes next can do all of it
    assert sum(campaign.hits.values_list("n_available", flat=True)) == 2
    assert next_assignment(worker) is None


@race
def more_hits_while_the_campaign_ends(to: Runners, pool: str) -> None:
    campaign, sam = make_campaign(1, pool=pool), a_person("sam")
    added, stopped, done = to.at_once(
        lambda: extend(campaign.pk, items(1, prefix="more-")),
        lambda: run.stop(campaign.pk, sam, "Enough."),
        lambda: run.complete(campaign.pk),
    )
    campaign.refresh_from_db()
    over = isinstance(added, GenieError)
    assert campaign.hits.count() == (1 if over else 2)
    assert (stopped, campaign.state) in {
        (True, Campaign.State.STOPPED),
        (False, Campaign.State.COMPLETE),
    }
    assert done is not stopped
    assert next_assignment(make_worker(pool)) is None


@race
def hits_added_twice_for_the_same_money(to: Runners, pool: str) -> None:
    # 10 cents for each HIT, a fifth of it for the platform at most
    campaign = make_campaign(1, pool=pool, budget_cents=30)
    more = [items(1, prefix=f"more-{i}-") for i in range(N_THREADS)]
    got = to.at_once(*[lambda m=m: extend(campaign.pk, m) for m in more])
    n = campaign.hits.count()
    assert n * 10 <= 30
    assert set(refused(got)) == {"over-budget"}
    assert n == 1 + N_THREADS - len(refused(got))


@race
def a_requester_who_spends_twice(to: Runners, pool: str) -> None:
    sam = a_person("sam")
    requester = Requester.objects.create(name=pool)
    key, secret = access_keys.create_key(requester, sam)
    # pays for two HITs of 0.48
    access_keys.deposit(requester, 100, key="start", by=sam)

    def post() -> int:
        wanted = {**TYPE, "LifetimeInSeconds": 3600, "Question": html()}
        return wire.endpoint(_signed(key.key_id, secret, wanted)).status_code

    got = to.at_once(*[post] * N_THREADS)
    assert sorted(got) == [200, 200, 400, 400]
    money = account(requester)
    assert (money.available, money.on_hold) == (4, 96)


@race
def two_releases_of_one_task(to: Runners, pool: str) -> None:
    task = Task.objects.filter(slug="raced").first() or make_task("raced")
    got = to.at_once(*[lambda: queued.request(task)] * 3)
    assert len({row.pk for row in got}) == 1
    assert jobs.queued_jobs() == {(queued.RUNNER.job, (("pk", got[0].pk),))}
    assert OrmQ.objects.count() == 1
    ended = to.at_once(
        lambda: queued.cancel(got[0]), lambda: queued.cancel(got[1]), a_release_of(task)
    )
    assert sorted(ended[:2]) == [False, True]
    assert Release.objects.filter(task=task, state__in=queued.UNDER_WAY).count() <= 1
    Release.objects.all().delete()
    OrmQ.objects.all().delete()


@race
def one_job_claimed_by_several_queues(to: Runners, pool: str) -> None:
    jobs.enqueue("genie.lib.jobs.forget_old", days=3)
    waiting = OrmQ.objects.get()
    # django-q2 looks for what was queued before this moment
    OrmQ.objects.update(lock=timezone.now() - timedelta(seconds=1))
    brokers = [get_broker() for _ in range(N_THREADS)]
    got = to.at_once(*[broker.dequeue for broker in brokers])
    assert [claim for claims in got for claim in claims or []] == [
        (waiting.pk, waiting.payload)
    ]
    OrmQ.objects.all().delete()


def a_release_of(task: Task) -> Callable[[], Release]:
    return lambda: queued.request(task)


def a_person(name: str) -> Any:
    # without a password: to make one takes longer than the race
    return get_user_model().objects.get_or_create(username=name)[0]


def _signed(key_id: str, secret: str, arguments: dict[str, Any]) -> Any:
    body = json.dumps(arguments).encode()
    headers = {
        "Host": "testserver",
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": f"{wire.TARGET}CreateHIT",
    }
    request = AWSRequest("POST", "http://testserver/turk/", data=body, headers=headers)
    SigV4Auth(Credentials(key_id, secret), "mturk-requester", "us-east-1").add_auth(
        request
    )
    return RequestFactory().post(
        "/turk/",
        body,
        content_type=headers["Content-Type"],
        headers=dict(request.headers),
    )


def run_round(name: str, to: Runners) -> None:
    """Run a race once; each round has a pool of its own, and nothing left to do after."""
    RACES[name](to, f"race-{next(_numbers)}")
    running = Campaign.own.filter(state=Campaign.State.RUNNING)
    running.update(state=Campaign.State.STOPPED)
