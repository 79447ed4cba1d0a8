"""Verdicts are kept for workers of whom a fit says something new; nothing is lost by it."""

import pytest

from leaderboard.releases.gathering.results import detector_fits
from leaderboard.releases.pseudonyms import Pseudonyms
from quality.detection.selectors import verdicts_of
from quality.detection.services.judge import counts_of, judge
from quality.detection.stats.detectors import detect
from quality.models import DetectorFit, Grade, Placement, Verdict
from tests.factories import (
    answer,
    make_evaluation,
    make_item,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
)
from tests.kept import kept

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def genies_detector(settings):
    """Judge by counts of test questions alone, as Genie does."""
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}


POOL = "tidy-news"


@pytest.fixture
def task():
    return make_task(POOL)


@pytest.fixture
def grade(task):
    """Grade answers of a worker to negative questions: `grade(worker, "rrw")`."""
    nina = make_user("nina")
    submission = make_submission(
        task, team=make_team("Heron", nina), owner=nina, state="ANNOTATING"
    )
    campaign = make_evaluation(submission).campaign

    def give(worker, marks):
        for mark in marks:
            item = make_item(campaign, f"t{Placement.objects.count()}")
            placement = Placement.objects.create(
                campaign=campaign, item=item, polarity="NEGATIVE"
            )
            Grade.objects.create(
                placement=placement,
                assignment=answer(item, worker, 0.25),
                worker=worker,
                pool=POOL,
                polarity="NEGATIVE",
                correct=mark == "r",
            )

    return give


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
    fit = DetectorFit.objects.first()
    found = detect(
        counts.n_correct,
        counts.n_questions,
        detector=fit.detector,
        threshold_posterior=0.99,
        seed=fit.seed,
    )
    return counts, [float(p) for p in found.p_noisy]


def test_the_first_fit_keeps_a_verdict_of_every_worker(crowd):
    assert Verdict.objects.count() == len(crowd)


def test_one_more_answer_keeps_one_more_verdict(crowd, grade):
    grade(crowd[3], "r")
    judge(POOL)
    newest = DetectorFit.objects.first()
    assert DetectorFit.objects.count() == 2
    assert [v.worker for v in Verdict.objects.filter(fit=newest)] == [crowd[3]]
    assert newest.n_workers == len(crowd)


@pytest.mark.every_engine
def test_each_workers_last_verdict_has_their_counts_of_now(crowd, grade):
    for worker, marks in [(crowd[0], "w"), (crowd[1], "rr"), (crowd[0], "r")]:
        grade(worker, marks)
        judge(POOL)
    counts, p_noisy = fresh_detection()
    for place, worker in enumerate(counts.workers):
        last = Verdict.objects.filter(worker=worker).latest("pk")
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
    said = verdicts_of(DetectorFit.objects.first())
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
    fit = DetectorFit.objects.get()
    DetectorFit.objects.update(posteriors=[])
    fit.refresh_from_db()
    assert len(verdicts_of(fit)) == len(crowd)


def test_a_noisy_worker_on_whom_nobody_has_decided_is_in_every_fit(
    crowd, grade, monkeypatch
):
    monkeypatch.setattr(
        "quality.detection.services.judge.carry_out", lambda *_, **__: []
    )
    careless = make_worker()
    grade(careless, "wwwwwwwwww")
    judge(POOL)
    grade(crowd[0], "r")
    judge(POOL)
    for fit in DetectorFit.objects.order_by("-pk")[:2]:
        assert fit.verdicts.filter(worker=careless, noisy=True).exists()


def test_a_fit_with_another_rate_speaks_of_every_worker_though_none_differs(
    task, crowd
):
    judge(POOL, noisy_below={"NEGATIVE": 0.8})
    newest = DetectorFit.objects.order_by("pk").last()
    assert newest.threshold_rate == 0.8
    assert [row.worker_id for row in verdicts_of(newest)] == [one.pk for one in crowd]
    records, _ = detector_fits(task, Pseudonyms(b"k" * 32))
    assert len(records) == len(crowd)
