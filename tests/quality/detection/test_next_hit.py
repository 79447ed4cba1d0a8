"""Test questions go where they are needed, and nobody can tell when."""

import random
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from crowd.campaigns.services import run
from crowd.campaigns.services.work import give_back, next_assignment
from crowd.models import HIT, Pause, Rating
from genie.lib.serving import caches
from quality.bans import services
from quality.detection.services import next_hit
from quality.detection.services.assess_pool import assess
from quality.detection.services.evidence import Record, record_of
from quality.detection.stats.schedule import EarlyStop
from quality.detection.stats.workers.answers import NO_YES
from quality.models import Ban, DetectorFit, HeldExclusion, Standing, TestQuestion
from quality.test_questions.services import grade
from tests.crowd.making import POOL, items, make_campaign, make_worker, send_in
from tests.factories import make_user
from tests.kept import kept

CHANCE = random.Random(1)
KINDS = {"POSITIVE": NO_YES[1], "NEGATIVE": NO_YES[0]}


@pytest.fixture(autouse=True)
def _same_draws(monkeypatch):
    """Draw alike whatever ids the workers have: databases go on counting."""
    CHANCE.seed(1)
    draw, numbers = next_hit._draw, {}

    def drawn(worker, pool, record):
        number = numbers.setdefault(worker.pk, len(numbers) + 1)
        return draw(SimpleNamespace(pk=number), pool, record)

    monkeypatch.setattr(next_hit, "_draw", drawn)


def campaign_of(n):
    campaign = make_campaign(of=items(n), key=f"{n} HITs")
    hits = HIT.objects.filter(campaign=campaign).order_by("position")
    for number, hit in enumerate(hits[n * 4 // 5 :]):
        TestQuestion.objects.create(
            campaign=campaign,
            item=hit.items.get(),
            polarity="POSITIVE" if number % 2 else "NEGATIVE",
        )
    return campaign


@pytest.fixture
def campaign():
    return kept("HITs with test questions", partial(campaign_of, 100))


def is_test(assignment):
    return TestQuestion.own.filter(item__hit=assignment.hit_id).exists()


def work(worker, n, right=True):
    met = []
    for _ in range(n):
        assignment = next_assignment(worker)
        if assignment is None:
            break
        met.append(is_test(assignment))
        send_in(assignment)
        test_question = TestQuestion.own.filter(item__hit=assignment.hit_id).first()
        if test_question is None:
            value = CHANCE.choice([0.5, 0.75, 1.0] if right else [0.0, 0.5, 1.0])
        else:
            value = float((test_question.polarity == "POSITIVE") is right)
        Rating.objects.filter(assignment=assignment).update(value=value)
    return met


def test_test_questions_come_all_along_and_as_many_of_either_polarity(campaign):
    worker = make_worker()
    met = work(worker, 40)
    assert 5 <= sum(met) <= 12
    assert sum(met[10:]) >= 2
    counts = record_of(worker, POOL)
    assert counts.n_shown == 40
    (neg, n_neg), (pos, n_pos) = (own for _, own in sorted(counts.counts().items()))
    assert abs(n_pos - n_neg) <= 1
    assert (pos, neg) == (n_pos, n_neg)


def test_the_first_item_is_no_more_of_a_test_than_others(campaign):
    """Knowing the schedule does not tell what a newcomer is asked first."""
    allowance = next_hit._affordable(campaign)
    nobody = Record(0)
    p = EarlyStop().probability({}, KINDS)
    share = next_hit.test_probability(
        0, p, allowance, options=next_hit.ScheduleOptions()
    )
    drawn = [next_hit._draw(make_worker(), POOL, nobody) < share for _ in range(60)]
    assert 3 <= sum(drawn) <= 30


def test_all_that_was_approved_is_answered_and_no_more():
    campaign_of(30)
    met = work(make_worker(), 40)
    assert (len(met), sum(met)) == (30, 6)


@pytest.mark.every_engine
def test_what_comes_next_is_repeatable_and_depends_on_a_secret(campaign, settings):
    record = record_of(make_worker(), POOL)
    workers = [make_worker() for _ in range(8)]
    drawn = [next_hit._draw(worker, POOL, record) for worker in workers]
    assert drawn == [next_hit._draw(worker, POOL, record) for worker in workers]
    settings.SECRET_KEY = "another"
    assert drawn != [next_hit._draw(worker, POOL, record) for worker in workers]


def test_giving_a_hit_back_does_not_draw_it_again(campaign):
    worker = make_worker()
    shown = []
    for _ in range(12):
        assignment = next_assignment(worker)
        shown.append(is_test(assignment))
        give_back(assignment)
    assert record_of(worker, POOL).n_shown == 12
    assert 0 < sum(shown) < 12


def test_with_several_campaigns_and_shares_claiming_takes_few_queries_too(campaign):
    other = make_campaign(of=items(40, "other-"))
    for each in (campaign, other):
        run.limit_share(each, 0.9, follows_crowd=False)
    worker = make_worker()
    work(worker, 6)
    with CaptureQueriesContext(connection) as captured:
        assert next_assignment(worker) is not None
    assert len(captured) <= 24


def test_what_is_handed_out_between_two_counts_is_known(campaign):
    worker = make_worker()
    work(worker, 10)
    counted_then = next_hit._affordable(campaign)
    caches.computed.clear()
    assert next_hit._affordable(campaign) == counted_then
    with CaptureQueriesContext(connection) as captured:
        next_hit._affordable(campaign)
    assert len(captured) == 1
    assert "SUM" not in captured[0]["sql"]


def test_campaigns_without_test_questions_take_one_query_more():
    make_campaign(30)
    worker = make_worker()
    with CaptureQueriesContext(connection) as captured:
        next_assignment(worker)
    asked = [query for query in captured if "quality_testquestion" in query["sql"]]
    assert len(asked) == 1


@pytest.mark.every_engine
def test_who_fails_the_first_ones_waits_until_the_pool_is_assessed(campaign):
    for _ in range(2):
        work(make_worker(), 6)
    careless = make_worker()
    met = work(careless, 40, right=False)
    assert len(met) <= 15
    assert Pause.own.get().worker == careless
    assert next_assignment(careless) is None
    assert not Ban.own.exists()
    # the others go on
    assert next_assignment(make_worker()) is not None
    grade(campaign)
    assess(POOL, simulated=False)
    # in so small a crowd, a person decides
    assert Standing.own.get(worker=careless).p_careless > 0.99
    assert Pause.own.get().worker == careless
    assert not Ban.own.exists()


@pytest.mark.every_engine
def test_whom_people_have_decided_about_is_not_paused(campaign):
    worker = make_worker()
    work(worker, 40, right=False)
    assert Pause.own.exists()
    grade(campaign)
    assess(POOL, simulated=False)
    fit = DetectorFit.own.get()
    verdict = fit.verdicts.filter(worker=worker).get()
    services.hold(POOL, [verdict])
    assert Pause.objects.filter(worker=worker).exists()
    boss = make_user("boss", is_staff=True)
    held = HeldExclusion.own.get()
    services.refuse(held.pk, by=boss, reason="The key is wrong.")
    assert not Pause.own.exists()
    assert next_assignment(worker) is not None


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ({}, 0.2, 0.2),
        ({"POSITIVE": (3, 3), "NEGATIVE": (3, 3)}, 0.0, 0.02),
        ({"POSITIVE": (4, 4), "NEGATIVE": (0, 4)}, 0.95, 1.0),
        ({"POSITIVE": (0, 4), "NEGATIVE": (4, 4)}, 0.95, 1.0),
        ({"POSITIVE": (6, 12), "NEGATIVE": (6, 12)}, 0.9, 1.0),
        ({"POSITIVE": (9, 12), "NEGATIVE": (11, 12)}, 0.0, 0.1),
        ({"NEGATIVE": (0, 1)}, 0.2, 0.8),
    ],
)
def test_the_first_answers_speak_for_or_against_somebody(counts, low, high):
    p = EarlyStop().probability(counts, KINDS)
    assert low - 1e-9 <= p <= high + 1e-9


def test_what_a_fit_has_seen_counts_once():
    seen = {"POSITIVE": (4, 4), "NEGATIVE": (1, 4)}
    early = EarlyStop(0.4, seen=seen)
    assert early.probability(seen, KINDS) == pytest.approx(0.4)
    more = early.probability({**seen, "NEGATIVE": (1, 5)}, KINDS)
    less = early.probability({**seen, "NEGATIVE": (2, 5)}, KINDS)
    assert less < 0.4 < more < EarlyStop(0.4).probability(seen, KINDS)


def test_a_hard_key_makes_nobody_careless():
    """Honest people who like references in 62 % of cases are hardly ever paused."""
    rng = np.random.default_rng(3)
    early = EarlyStop(0.15, {"POSITIVE": 0.62, "NEGATIVE": 0.9})
    n_paused = 0
    for _ in range(300):
        right = {"POSITIVE": 0, "NEGATIVE": 0}
        for n in range(1, 9):
            right["POSITIVE"] += bool(rng.random() < 0.62)
            right["NEGATIVE"] += bool(rng.random() < 0.9)
            counts = {kind: (k, n) for kind, k in right.items()}
            if early.probability(counts, KINDS) > 0.95:
                n_paused += 1
                break
    assert n_paused <= 3


def test_genies_detectors_pause_nobody(campaign, settings):
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}
    met = work(make_worker(), 25, right=False)
    assert len(met) == 25
    assert not Pause.own.exists()
