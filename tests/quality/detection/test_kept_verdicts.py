"""Verdicts are kept for workers of whom a fit says something new; nothing is lost by it."""

from functools import partial

import pytest

from leaderboard.releases.gathering.results import detector_fits
from leaderboard.releases.pseudonyms import Pseudonyms
from quality.detection.selectors import verdicts_of
from quality.detection.services.judge import counts_of, judge
from quality.detection.stats.detectors import detect
from quality.models import DetectorFit, Verdict
from tests.factories import make_worker
from tests.kept import kept
from tests.quality.making import TASK as POOL
from tests.quality.making import graded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("genies_detector")]


@pytest.fixture
def grade(campaign):
    """Grade answers of a worker to negative questions: `grade(worker, "rrw")`."""
    return partial(graded, campaign)


@pytest.fixture
def crowd(grade):
    """Forty honest workers who have answered six questions each."""

    def judged():
        workers = [make_worker() for _ in range(40)]
        for worker in workers:
            grade(worker, "rrrrrr")
        judge(POOL)
        return workers

    return list(kept("forty honest workers", judged))


def fresh_detection():
    counts = counts_of(POOL, "NEGATIVE", simulated=False)
    fit = DetectorFit.own.first()
    found = detect(
        counts.n_correct,
        counts.n_questions,
        detector=fit.detector,
        threshold_posterior=0.99,
        seed=fit.seed,
    )
    return counts, [float(p) for p in found.p_noisy]


def test_the_first_fit_keeps_all_verdicts_and_one_more_answer_one_more(crowd, grade):
    assert Verdict.own.count() == len(crowd)
    grade(crowd[3], "r")
    judge(POOL)
    newest = DetectorFit.own.first()
    assert DetectorFit.own.count() == 2
    assert [v.worker for v in Verdict.own.filter(fit=newest)] == [crowd[3]]
    assert newest.n_workers == len(crowd)


@pytest.mark.every_engine
def test_each_workers_last_verdict_has_their_counts_of_now(crowd, grade):
    for worker, marks in [(crowd[0], "w"), (crowd[1], "rr"), (crowd[0], "r")]:
        grade(worker, marks)
        judge(POOL)
    counts, p_noisy = fresh_detection()
    for place, worker in enumerate(counts.workers):
        last = Verdict.own.filter(worker=worker).latest("pk")
        assert (last.n_correct, last.n_questions) == (
            counts.n_correct[place],
            counts.n_questions[place],
        )
        assert last.p_noisy == pytest.approx(p_noisy[place], abs=0.01)


def test_what_the_newest_fit_says_of_everybody_can_be_looked_up_exactly(crowd, grade):
    for place, marks in enumerate(["w", "rw", "r", "wwww"]):
        grade(crowd[place], marks)
        judge(POOL)
    counts, p_noisy = fresh_detection()
    said = verdicts_of(DetectorFit.own.first())
    assert [v.worker_id for v in said] == counts.workers
    assert [v.n_correct for v in said] == counts.n_correct
    assert [v.n_questions for v in said] == counts.n_questions
    assert [v.p_noisy for v in said] == p_noisy


def test_a_release_holds_every_worker_that_the_last_fit_judged(crowd, grade, task):
    grade(crowd[7], "rrr")
    judge(POOL)
    records, fits = detector_fits(task, Pseudonyms(b"key"))
    assert len(records) == fits["NEGATIVE"]["n_workers"] == len(crowd)
    assert fits["NEGATIVE"]["n_asked"] == 6 * 40 + 3
    _, p_noisy = fresh_detection()
    assert sorted(row["p_noisy"] for row in records) == sorted(p_noisy)


@pytest.mark.every_engine
def test_fits_of_before_with_all_their_verdicts_are_still_read(crowd):
    fit = DetectorFit.own.get()
    DetectorFit.own.update(posteriors=[])
    fit.refresh_from_db()
    assert len(verdicts_of(fit)) == len(crowd)


def test_a_noisy_worker_who_waits_is_in_every_fit(crowd, grade, monkeypatch):
    monkeypatch.setattr(
        "quality.detection.services.judge.carry_out", lambda *_, **__: []
    )
    careless = make_worker()
    grade(careless, "wwwwwwwwww")
    judge(POOL)
    grade(crowd[0], "r")
    judge(POOL)
    for fit in DetectorFit.own.order_by("-pk")[:2]:
        assert fit.verdicts.filter(worker=careless, noisy=True).exists()


def test_a_fit_with_another_rate_speaks_of_every_worker(task, crowd):
    judge(POOL, noisy_below={"NEGATIVE": 0.8})
    newest = DetectorFit.own.order_by("pk").last()
    assert newest.threshold_rate == 0.8
    assert [row.worker_id for row in verdicts_of(newest)] == [one.pk for one in crowd]
    records, _ = detector_fits(task, Pseudonyms(b"k" * 32))
    assert len(records) == len(crowd)
