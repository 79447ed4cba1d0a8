import numpy as np
import pytest

from leaderboard.stats.clustered import clustered_mean, is_nested
from leaderboard.stats.intervals import bootstrap_mean


def crossed(draw, sd_instance, sd_worker, n_instances=60, n_workers=25):
    """Three ratings of each instance by three different workers; the mean is 0."""
    instance = np.repeat(np.arange(n_instances), 3)
    worker = np.concatenate(
        [draw.choice(n_workers, 3, replace=False) for _ in range(n_instances)]
    )
    ratings = (
        draw.normal(0, sd_instance, n_instances)[instance]
        + draw.normal(0, sd_worker, n_workers)[worker]
        + draw.normal(size=len(instance))
    )
    return ratings, {"instance": instance, "worker": worker}


def by_worker(draw, sizes, sd_worker):
    worker = np.repeat(np.arange(len(sizes)), sizes)
    noise = draw.normal(size=len(worker))
    return draw.normal(0, sd_worker, len(sizes))[worker] + noise, {"worker": worker}


@pytest.mark.slow
@pytest.mark.parametrize(
    "simulate",
    [
        lambda draw: by_worker(draw, [15] * 30, 0.5),
        lambda draw: by_worker(draw, [60] * 3 + [20] * 10 + [5] * 20, 0.4),
        lambda draw: crossed(draw, 0.7, 0.4),
        lambda draw: crossed(draw, 0.7, 0.0),
        lambda draw: crossed(draw, 0.0, 0.0),
    ],
    ids=["workers", "unequal workers", "crossed", "no worker effect", "no effects"],
)
def test_nominal_95_percent_intervals_cover_95_percent(simulate):
    draw = np.random.default_rng(8)
    covered = []
    for seed in range(60):
        ratings, factors = simulate(draw)
        interval = clustered_mean(ratings, factors, seed=seed, n_resamples=400)
        covered.append(interval.contains(0.0))
    # four standard errors of so few
    assert np.mean(covered) >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / 60)


def test_with_one_rating_per_worker_it_is_the_plain_bootstrap():
    ratings = np.random.default_rng(1).integers(0, 5, 600) / 4
    alone = clustered_mean(ratings, {"worker": np.arange(600)}, seed=1)
    plain = bootstrap_mean(ratings, seed=1)
    assert alone.half_width == pytest.approx(plain.half_width, rel=0.05)


def test_neither_names_nor_order_of_workers_and_instances_change_anything():
    draw = np.random.default_rng(2)
    ratings, factors = crossed(draw, 0.5, 0.5)
    plain = clustered_mean(ratings, factors, seed=4)
    order = draw.permutation(len(ratings))
    new_names = draw.permutation(25)
    moved = clustered_mean(
        ratings[order],
        {
            "worker": new_names[factors["worker"]][order],
            "instance": factors["instance"][order],
        },
        seed=4,
    )
    assert (moved.low, moved.high) == (plain.low, plain.high)
    assert clustered_mean(ratings, factors, seed=4) == plain


def test_instances_rated_once_each_are_carried_by_their_worker():
    ratings, factors = by_worker(np.random.default_rng(3), [10] * 12, 0.5)
    instances = {"instance": np.arange(120), **factors}
    both = clustered_mean(ratings, instances, seed=1)
    alone = clustered_mean(ratings, factors, seed=1)
    assert (both.low, both.high) == (alone.low, alone.high)
    assert both.covers == "instance (120), worker (12)"
    assert is_nested(np.arange(120), factors["worker"])
    assert not is_nested(factors["worker"], np.arange(120))


def test_two_names_for_one_factor_count_once():
    ratings, factors = by_worker(np.random.default_rng(3), [10] * 12, 0.5)
    twice = clustered_mean(ratings, {**factors, "day": factors["worker"]}, seed=1)
    alone = clustered_mean(ratings, factors, seed=1)
    assert (twice.low, twice.high) == (alone.low, alone.high)


def test_a_single_day_is_named_as_not_covered():
    ratings, factors = by_worker(np.random.default_rng(3), [10] * 12, 0.5)
    interval = clustered_mean(ratings, {**factors, "day": ["mon"] * 120}, seed=1)
    assert interval.covers == "worker (12); not day (only one)"
    with pytest.raises(ValueError, match="only one day"):
        clustered_mean(ratings, {"day": ["mon"] * 120}, seed=1)


def test_few_days_widen_the_interval():
    day = np.repeat(np.arange(3), 100)
    draw = np.random.default_rng(5)
    ratings = draw.normal(0, 0.3, 3)[day] + draw.normal(size=300)
    three = clustered_mean(ratings, {"day": day}, seed=1)
    # the naive percentile interval of three means cannot leave their range
    means = [ratings[day == d].mean() for d in range(3)]
    assert three.half_width > np.ptp(means) / 2


def test_equal_ratings_have_no_variation_and_say_so():
    interval = clustered_mean([1.0] * 6, {"worker": list("aabbcc")}, seed=1)
    assert interval.half_width == 0


def test_broken_input_is_refused_in_words():
    with pytest.raises(ValueError, match="no ratings"):
        clustered_mean([], {"worker": []}, seed=1)
    with pytest.raises(ValueError, match="finite"):
        clustered_mean([1, np.nan], {"worker": ["a", "b"]}, seed=1)
