"""Workers are judged by all evidence: bans, brake, weights, the key on trial."""

from dataclasses import replace

import numpy as np
import pytest
from django.utils import timezone

from crowd.models import Campaign, Pause, Rating
from crowd.scales.base import all_scales
from crowd.workers.services import exclusions
from quality.bans.selectors import soft_weights, waits_for_decision, weight_of
from quality.detection.models import describe_suspicion
from quality.detection.selectors import LIMIT, TOO_SMALL, limits_of
from quality.detection.services import assess_pool
from quality.detection.services.assess_pool import assess, restore, retire
from quality.detection.services.evidence import evidence_of
from quality.detection.services.judge import judge
from quality.detection.stats.assess import assess_workers, excluded_by
from quality.models import Ban, DetectorFit, Grade, RetiredQuestion, Standing
from tests.crowd.making import refused
from tests.factories import answer, make_item, make_worker
from tests.quality.making import TASK as POOL
from tests.quality.making import grade, place


@pytest.fixture
def questions(campaign):
    return [
        place(
            campaign,
            make_item(campaign, f"t{number}"),
            "POSITIVE" if number % 2 else "NEGATIVE",
        )
        for number in range(16)
    ]


@pytest.fixture
def pool(campaign, questions):
    """Make workers who answer the questions and twelve real items: `pool(good, bad)`."""
    rng = np.random.default_rng(5)
    real = [make_item(campaign, f"r{number}") for number in range(12)]
    truth = rng.choice([0.25, 0.5, 0.75], 12)

    def make(n_good, n_bad):
        workers = [make_worker() for _ in range(n_good + n_bad)]
        for i, worker in enumerate(workers):
            careless = i >= n_good
            for n, test_question in enumerate(questions):
                right = rng.random() < (0.3 if careless else 0.97)
                good = right == (test_question.polarity == "POSITIVE")
                value = 0.75 if good else 0.25
                given = answer(test_question.item, worker, value)
                grade(test_question, given, correct=right)
                if n < len(real):
                    value = truth[n] + rng.choice([-0.25, 0, 0, 0.25])
                    value = rng.choice([0, 0.25, 0.5, 0.75, 1]) if careless else value
                    answer(real[n], worker, float(value))
        return workers

    return make


def test_who_is_careless_is_banned_and_the_others_count(pool):
    workers = pool(12, 2)
    banned = {ban.worker for ban in assess(POOL, simulated=False)}
    assert banned == set(workers[12:])
    assert not Pause.own.exists()
    weights = soft_weights(POOL)
    assert not {worker.pk for worker in workers[12:]} & set(weights)
    assert all(weight >= 0.75 for weight in weights.values())
    ban = Ban.own.first()
    assert "Test questions right: " in ban.reason
    assert "negative" in ban.reason
    assert ban.reason.startswith("Probability of being careless ")


def test_what_was_rated_before_reading_stopped_keeps_its_weight(pool, monkeypatch):
    pool(6, 0)
    turner = evidence_of(POOL, simulated=False).workers[0]

    def turned(*args, **kwargs):
        found = assess_workers(*args, **kwargs)
        own = args[2].worker == 0
        late = args[2].order > np.median(args[2].order[own])
        p_rating = np.where(own, np.where(late, 0.9, 0.1), found.p_rating)
        return replace(found, p_rating=p_rating)

    monkeypatch.setattr(assess_pool, "assess_workers", turned)
    assess(POOL, simulated=False)
    standing = Standing.own.get(worker=turner)
    assert standing.weight == 0.0
    assert len(standing.earlier) >= 4
    weights = soft_weights(POOL)
    item = next(iter(standing.earlier))
    assert weight_of(weights, turner, int(item)) == 1.0
    assert weight_of(weights, turner, -1) == 0.0
    assert not any(own.earlier for own in Standing.own.exclude(worker=turner))


def test_nobody_is_banned_on_evidence_that_careful_people_may_show(pool, monkeypatch):
    workers = pool(12, 0)
    fitted = assess_pool.assess_workers

    def with_doubt(*args, **options):
        found = fitted(*args, **options)
        found.p_careless[3], found.against[3] = 0.9999, 6.8
        return found

    monkeypatch.setattr(assess_pool, "assess_workers", with_doubt)
    assert assess(POOL, simulated=False) == []
    assert not Ban.own.exists()
    assert [held.worker for held in Ban.proposed.filter(pk__gt=0)] == [workers[3]]


def test_little_that_is_new_waits_unless_somebody_waits_for_it(pool, questions):
    def look():
        judge(POOL, complete=False)
        return DetectorFit.own.count(), Pause.own.count()

    worker = pool(7, 0)[0]
    grades = list(Grade.own.exclude(worker=worker)[:3])
    Grade.own.filter(pk__in=[grade.pk for grade in grades]).delete()
    assert look() == (1, 0)
    grades[0].save(force_insert=True)
    assert look() == (1, 0)
    exclusions.pause(worker, POOL)
    assert look() == (1, 1)
    Pause.own.update(created_at=timezone.now() - assess_pool.PATIENCE)
    assert look() == (2, 0)
    for one in grades[1:]:
        one.save(force_insert=True)
    assert look() == (2, 0)
    # whatever ends rests on all of it
    judge(POOL)
    assert look() == (3, 0)
    # a question that is retired changes much at once
    retire(DetectorFit.own.first(), [questions[0].pk])
    assert look() == (4, 0)
    pool(5, 0)
    assert look() == (5, 0)


def test_staff_are_told_of_a_bad_crowd_and_that_it_is_better(pool, campaign):
    Campaign.own.update(state=Campaign.State.RUNNING)
    pool(4, 9)
    assess(POOL, simulated=False)
    campaign.refresh_from_db()
    assert "answer without care" in campaign.notice
    assert waits_for_decision(POOL, simulated=False)
    assert not Ban.own.exists()
    pool(24, 0)
    assess(POOL, simulated=False)
    campaign.refresh_from_db()
    assert "answer without care" not in campaign.notice


def test_a_small_crowd_is_warned_of_and_weighs_no_one(pool):
    assert limits_of(POOL) == []
    workers = pool(6, 2)
    # three and six of 16 tests right: the key alone is beyond doubt
    banned = {ban.worker for ban in assess(POOL, simulated=False)}
    assert banned == set(workers[6:])
    assert soft_weights(POOL) == {}
    assert limits_of(POOL) == [LIMIT, TOO_SMALL]
    pool(12, 0)
    assess(POOL, simulated=False)
    assert limits_of(POOL) == [LIMIT]


def test_a_question_that_careful_workers_fail_can_be_restored(pool, questions, ada):
    pool(12, 1)
    wrong = questions[0]
    Grade.own.filter(test_question=wrong).update(correct=False)
    for _ in range(2):
        assess(POOL, simulated=False)
    before = Standing.own.order_by("pk").values_list("n_questions", flat=True)
    without = list(before)
    retired = RetiredQuestion.own.get()
    assert retired.pk == wrong.pk
    assert retired.retired_because.startswith("0 of 13 workers right.")
    assert (wrong.pk, "") not in evidence_of(POOL, simulated=False).questions
    refused("reason-missing", restore, retired.pk, by=ada, reason=" ")
    restore(retired.pk, by=ada, reason="The key is right.")
    refused("already-decided", restore, retired.pk, by=ada, reason="The key is right.")
    assert (wrong.pk, "") in evidence_of(POOL, simulated=False).questions
    # for good
    assert retire(retired.retired_by_fit, [wrong.pk]) == 0
    assess(POOL, simulated=False)
    assert list(before.all()) == [n + 1 for n in without]
    n_fits = DetectorFit.own.count()
    assess(POOL, simulated=False)
    assert DetectorFit.own.count() == n_fits


def test_as_many_are_excluded_as_keep_the_share_of_careful_ones_small():
    assert excluded_by([0.999, 0.9999, 0.5], 0.99).tolist() == [True, True, False]
    # each of them alone would be above the threshold
    assert excluded_by([0.991, 0.992, 0.1], 0.99).tolist() == [False, False, False]
    assert excluded_by([1.0, 1.0, 1.0, 0.991], 0.99).tolist() == [True] * 4


def test_programs_and_people_are_not_fitted_together(pool):
    worker = pool(4, 0)[0]
    worker.simulated = True
    worker.save()
    assert worker.pk not in evidence_of(POOL, simulated=False).workers
    assert evidence_of(POOL, simulated=True).workers == [worker.pk]


def test_a_pool_without_test_questions_is_not_assessed(pool):
    pool(3, 0)
    Grade.own.all().delete()
    assert assess(POOL, simulated=False) == []
    assert not DetectorFit.own.exists()


def test_answers_on_a_scale_without_ends_are_no_evidence(pool, campaign):
    pool(2, 0)
    assert Rating.own.exists()
    campaign.hit_type.scale = "magnitude"
    campaign.hit_type.save()
    relative = [name for name, scale in all_scales().items() if scale.relative]
    campaign.hit_type.scale = relative[0]
    campaign.hit_type.save()
    assert evidence_of(POOL, simulated=False).ratings is None


def test_a_verdict_says_what_it_rests_on():
    parts = {
        "tests": [["negative on overall", 1, 8]],
        "odds": {"tests": 5.0, "ratings": -1.0, "habits": 0.1},
        "beside": ["10 of 11 ratings of real items are the same"],
    }
    assert describe_suspicion(parts, 0.9999, 0.99) == (
        "Probability of being careless 0.9999, above 0.99. Test questions right: 1 of 8 "
        "negative on overall. Against the worker, strongly: test questions. In the "
        "worker's favor, somewhat: ratings of real items. Shown, not counted: "
        "10 of 11 ratings of real items are the same."
    )
