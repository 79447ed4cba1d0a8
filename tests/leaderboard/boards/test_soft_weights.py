"""Ratings of workers who may be careless count less, and a release says how much."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from leaderboard.evaluation.selectors.board_ratings import weighed
from leaderboard.evaluation.services import refit
from leaderboard.models import BoardFit, Score
from leaderboard.releases import bundle
from leaderboard.releases.make import make
from leaderboard.releases.rebuilding.rebuild import rebuild
from leaderboard.stats.systems import estimates
from leaderboard.stats.systems.estimates import estimate_systems
from quality.bans.selectors import soft_weights
from quality.models import Ban, DetectorFit, Standing
from tests.factories import make_task, make_team, make_user, make_worker
from tests.kept import kept
from tests.leaderboard.boards.pages.judged import judge


def crowd(seed=0, n_bad=15):
    rng = np.random.default_rng(seed)
    system, instance = np.repeat(np.arange(3), 300), np.tile(np.arange(300), 3)
    worker = rng.integers(0, 60, 900)
    values = 60 + 5 * system + rng.normal(0, 10, 60)[worker]
    values = values + rng.normal(0, 8, 300)[instance] + rng.normal(0, 12, 900)
    careless = worker < n_bad
    values = np.where(careless, rng.uniform(20, 120, 900), values)
    return values, system, worker, instance, careless


@pytest.mark.slow
def test_the_error_holds_what_is_unsure_of_who_is_careful(monkeypatch):
    *ratings, careless = crowd()
    _, _, worker, _ = ratings
    doubtful = np.unique(worker[careless])
    half = estimate_systems(*ratings, weights=np.where(careless, 0.5, 1.0))
    rng = np.random.default_rng(3)
    means = []
    for _ in range(60):
        kept = rng.random(doubtful.size) < 0.5
        weights = np.where(np.isin(worker, doubtful[~kept]), 0.0, 1.0)
        means.append(estimate_systems(*ratings, weights=weights).means)
    spread = np.var(means, axis=0, ddof=1)
    weigh = estimates.weigh
    monkeypatch.setattr(
        estimates, "weigh", lambda *args: replace(weigh(*args), cleaning=0.0)
    )
    sure = estimate_systems(*ratings, weights=np.where(careless, 0.5, 1.0))
    # in or out: so far the mean moves with that draw alone
    extra = np.diag(half.worker_part - sure.worker_part)
    assert (extra > 0.5 * spread).all()
    assert (extra < 2 * spread).all()


def test_weights_of_one_and_of_zero_for_all_change_no_mean():
    *ratings, _ = crowd()
    plain = estimate_systems(*ratings)
    full = estimate_systems(*ratings, weights=np.ones(900))
    none = estimate_systems(*ratings, weights=np.zeros(900))
    assert none.means.tolist() == plain.means.tolist()
    assert full.means.tolist() == plain.means.tolist()
    np.testing.assert_allclose(full.variance, plain.variance, rtol=1e-12)


def test_weights_of_zero_are_as_good_as_leaving_out():
    values, system, worker, instance, careless = crowd()
    weighed = estimate_systems(
        values, system, worker, instance, weights=np.where(careless, 0.0, 1.0)
    )
    rest = [column[~careless] for column in (values, system, worker, instance)]
    without = estimate_systems(*rest)
    assert np.abs(weighed.means - without.means).max() < 0.4
    errors, wanted = (np.sqrt(np.diag(fit.variance)) for fit in (weighed, without))
    assert np.abs(errors / wanted - 1).max() < 0.05
    np.testing.assert_allclose(
        weighed.effective_workers, without.effective_workers, rtol=0.05
    )


def test_without_other_effects_the_means_are_weighted_means():
    """As numpy averages them; each system has workers of its own and no instances."""
    rng = np.random.default_rng(4)
    worker = np.arange(400) % 40
    system = (worker >= 20).astype(int)
    values = rng.normal(50, 10, 400)
    weights = rng.uniform(0.1, 1, 40)[worker]
    fit = estimate_systems(values, system, worker, weights=weights)
    for number in range(2):
        own = system == number
        wanted = np.average(values[own], weights=weights[own])
        assert fit.means[number] == pytest.approx(wanted, abs=1e-9)


def test_what_was_rated_with_care_before_a_worker_stopped_reading_counts():
    values, system, worker, instance, careless = crowd(2)
    late = careless & (instance % 2 == 1)
    # what the careless rated before was rated with care
    rng = np.random.default_rng(5)
    honest = 60 + 5 * system + rng.normal(0, 12, 900)
    values = np.where(careless & ~late, honest, values)
    ratings = (values, system, worker, instance)
    by_rating = estimate_systems(*ratings, weights=np.where(late, 0.0, 1.0))
    without = estimate_systems(*(column[~late] for column in ratings))
    assert np.abs(by_rating.means - without.means).max() < 0.4
    error, wanted = (np.sqrt(np.diag(fit.variance)) for fit in (by_rating, without))
    assert np.abs(error / wanted - 1).max() < 0.1
    # one worker is one worker
    assert by_rating.n_workers.tolist() == estimate_systems(*ratings).n_workers.tolist()
    assert by_rating.n.sum() == 900


def test_doubt_about_who_is_careful_widens_the_interval():
    values, system, worker, instance, careless = crowd(1)
    half = estimate_systems(
        values, system, worker, instance, weights=np.where(careless, 0.5, 1.0)
    )
    plain = estimate_systems(values, system, worker, instance)
    # the estimate lies between both, and its error has what is unsure of them
    gone = estimate_systems(
        values, system, worker, instance, weights=np.where(careless, 0.0, 1.0)
    )
    for i in range(3):
        low, high = sorted((plain.means[i], gone.means[i]))
        assert low - 0.2 <= half.means[i] <= high + 0.2
    sure = half.worker_part.diagonal() - _doubt(half, values, system, worker, careless)
    assert (half.worker_part.diagonal() > sure).all()


def _doubt(fit, values, system, worker, careless):
    """Repeat drawing who counts; give the variance of plain means from that alone."""
    rng = np.random.default_rng(0)
    means = []
    for _ in range(400):
        kept = ~careless | (rng.random(60) < 0.5)[worker]
        means.append([values[kept & (system == s)].mean() for s in range(3)])
    return np.var(means, axis=0)


def test_a_rating_of_its_own_weight_is_found_by_its_item():
    import pandas as pd

    weights = {"7": 0.1, "7:31": 0.75}
    table = pd.DataFrame({"worker": [7, 7, 8], "item": [31, 32, 31]})
    assert weighed(table, weights)["weight"].tolist() == [0.75, 0.1, 1.0]
    # where a row is not one item's, the worker's is the last one
    alone = weighed(table[["worker"]], weights)
    assert alone["weight"].tolist() == [0.1, 0.1, 1.0]


@pytest.fixture
def task(db):
    return kept("two by six workers", _task)


def _task():
    nina = make_user("nina")
    task = make_task(n_instances=12, sample_size=12)
    workers = [make_worker() for _ in range(6)]
    both = {"owner": nina, "team": make_team("Heron", nina), "workers": workers}
    judge(task, 0.8, seed=1, system="Kite", **both)
    judge(task, 0.4, seed=2, system="Wren", **both)
    refit.refit_board(task)
    return task


def doubt(task, worker, weight):
    made = {"n_workers": 6, "seed": 0, "code_version": "0"}
    of = {"pool_id": task.slug, "polarity": "", "detector": "all-evidence"}
    fit, _ = DetectorFit.objects.get_or_create(**of, defaults=made)
    said = {"n_questions": 3, "p_careless": 1 - weight, "weight": weight}
    Standing.objects.create(pool_id=task.slug, worker=worker, fit=fit, **said)


def means(task):
    rows = Score.objects.filter(submission__task=task, superseded_at=None)
    return {row.submission.system_name: row.estimates for row in rows}


def raters(task):
    from crowd.models import Worker

    return list(Worker.own.order_by("pk"))


def test_a_board_follows_weights_once_a_day(task):
    before = means(task)
    doubt(task, raters(task)[0], 0.3)
    assert refit.due() == []
    assert not refit.refit(task)
    BoardFit.objects.update(created_at=timezone.now() - timedelta(days=2))
    assert refit.due() == [task.pk]
    refit.refit_board(task)
    assert refit.due() == []
    after = means(task)
    assert after["Kite"]["adjusted"] != before["Kite"]["adjusted"]
    # this crowd's mean is Genie's, and stays
    assert after["Kite"]["plain"] == before["Kite"]["plain"]


def test_a_release_states_weights_and_gives_the_same_numbers_again(task, tmp_path):
    doubt(task, raters(task)[0], 0.3)
    BoardFit.objects.update(created_at=timezone.now() - timedelta(days=2))
    refit.refit_board(task)
    made = make(task, tmp_path / "release")
    rows = bundle.read_table(made.folder, "judgments")
    assert {row["weight"] for row in rows} == {0.3, 1.0}
    assert rebuild(made.folder).n_same["estimates"] > 0


def test_whom_staff_decided_about_counts_in_full_or_not_at_all(task, settings):
    first, second, third = raters(task)[:3]
    for worker in (first, second, third):
        doubt(task, worker, 0.4)
    Ban.objects.create(worker=first, pool_id=task.slug, reason="careless")
    Ban.objects.create(worker=second, pool_id=task.slug, state="LIFTED")
    assert soft_weights(task.slug) == {str(third.pk): 0.4}
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}
    assert soft_weights(task.slug) == {}
