"""Studies of simulated crowds and of halves of real ones."""

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from genie_research.boards.crowd_simulation import Crowd, draw_ratings, simulate_crowd
from genie_research.boards.half_crowds import half_crowds
from leaderboard.stats.systems.estimates import estimate_systems
from tests.shared import SHARED, needs_shared


def run(*args):
    out, err = StringIO(), StringIO()
    call_command("simulate_board", *map(str, args), stdout=out, stderr=err)
    return out.getvalue()


def test_a_crowd_is_drawn_as_it_is_described():
    crowd = Crowd(40, 12, 4_000, spread_sd=0.4, n_systems=3)
    rng = np.random.default_rng(1)
    values, systems, workers, instances, days = draw_ratings(crowd, rng)
    assert not days.any()
    assert np.bincount(systems).tolist() == [4_000] * 3
    assert np.bincount(instances).tolist() == [3] * 4_000
    assert len(np.unique(workers)) == 40
    means = np.array([values[workers == w].mean() for w in range(40)])
    assert means.std() == pytest.approx(12, rel=0.35)
    busy = np.bincount(workers)
    assert busy.max() > 5 * np.median(busy)
    fresh = draw_ratings(Crowd(40, 12, 400, same=False), np.random.default_rng(1))
    for k in range(5):
        own = fresh[2][fresh[1] == k]
        assert own.min() >= 40 * k
        assert own.max() < 40 * (k + 1)


def test_days_move_all_ratings_and_change_nothing_else():
    one, five = (
        draw_ratings(
            Crowd(40, 12, 2_000, n_days=n, day_sd=9.0), np.random.default_rng(1)
        )
        for n in (1, 5)
    )
    moved, days = five[0] - one[0], five[4]
    for k in range(1, 4):
        assert (five[k] == one[k]).all()
    for day in range(5):
        assert np.ptp(moved[days == day]) < 1e-9
    assert len(np.unique(moved.round(6))) == 5
    # nobody works on more than two of them
    assert max(len(np.unique(days[five[2] == w])) for w in range(40)) == 2
    with pytest.raises(ValueError, match="needs a day"):
        Crowd(40, 12, 400, n_days=0)


def test_the_first_tasks_of_a_longer_study_are_those_of_a_shorter_one():
    crowd = Crowd(10, 5, 30, n_systems=2)
    two, four = (simulate_crowd(crowd, n_tasks=n, seed=3) for n in (2, 4))
    again = simulate_crowd(crowd, n_tasks=4, seed=3)
    assert four == again
    assert four != two
    assert four.n_ratings == 60


def test_what_is_counted_is_what_the_estimates_say():
    crowd = Crowd(15, 10, 40, n_systems=3)
    found = simulate_crowd(crowd, n_tasks=3, seed=7)
    covered, pairs, errors = [], [], []
    for task in range(3):
        rng = np.random.default_rng([7, task])
        estimates = estimate_systems(*draw_ratings(crowd, rng))
        covered += [estimates.interval(name).contains(60) for name in "012"]
        pairs += [
            estimates.difference(a, b).p_value <= 0.05
            for a, b in [("0", "1"), ("0", "2"), ("1", "2")]
        ]
        errors.append(estimates.means.mean() - 60)
    assert found.coverage.value == pytest.approx(np.mean(covered))
    assert found.separated.value == pytest.approx(np.mean(pairs))
    assert found.bias.value == pytest.approx(np.mean(errors))
    assert found.bias.error == pytest.approx(np.std(errors, ddof=1) / 3**0.5)


@pytest.mark.parametrize(
    "wrong", [{"n_workers": 1}, {"n_instances": 1}, {"n_systems": 1}, {"bias_sd": -1.0}]
)
def test_a_crowd_of_nobody_is_refused(wrong):
    with pytest.raises(ValueError, match=r"crowd needs|negative"):
        Crowd(**({"n_workers": 5, "bias_sd": 1.0, "n_instances": 5} | wrong))


def test_one_task_has_no_error_of_its_own():
    with pytest.raises(ValueError, match="two tasks"):
        simulate_crowd(Crowd(5, 1, 5), n_tasks=1, seed=0)


def halves(seed=1, bias=12.0, n=2_400):
    rng = np.random.default_rng(seed)
    worker, system = rng.integers(0, 40, n), np.arange(n) % 4
    values = rng.normal(0, bias, 40)[worker] + rng.normal(0, 20, n)
    return values, system, worker, np.arange(n) // 4 % 200


def test_halves_agree_as_far_as_their_intervals_say():
    found = half_crowds(*halves(n=800), n_splits=10, seed=2)
    assert 0.9 <= found.systems <= 1
    assert 0.9 <= found.pairs <= 1
    assert found.systems_plain < 0.85
    few, again = (half_crowds(*halves(), n_splits=3, seed=2) for _ in range(2))
    assert few == again


def test_halves_do_not_depend_on_the_order_or_names_of_ratings():
    values, system, worker, instance = halves()
    mixed = np.random.default_rng(4).permutation(len(values))
    found = half_crowds(values, system, worker, instance, n_splits=3, seed=2)
    other = half_crowds(
        values[mixed], system[mixed], worker[mixed], instance[mixed], n_splits=3, seed=2
    )
    assert found.pairs == other.pairs
    assert found.half_width == pytest.approx(other.half_width)


def test_too_few_workers_or_splits_are_refused():
    with pytest.raises(ValueError, match="two workers each; there are 3"):
        half_crowds([1, 2, 3], list("aaa"), list("xyz"), [1, 2, 3], n_splits=1, seed=0)
    with pytest.raises(ValueError, match="one split"):
        half_crowds(range(4), list("aabb"), list("wxyz"), range(4), n_splits=0, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crowd", "least"),
    [(Crowd(60, 10, 300), 0.925), (Crowd(30, 15, 300, n_systems=2, same=False), 0.925)],
)
def test_a_cell_of_the_tables_comes_again(crowd, least):
    found = simulate_crowd(crowd, n_tasks=30, seed=11)
    assert found.coverage.value > least - 2 * found.coverage.error
    assert found.separated.value < 0.065 + 2 * found.separated.error
    assert found.coverage_crowd.value < 0.85
    assert found.rmse_ratio.value < 0.82 + 2 * found.rmse_ratio.error


@needs_shared
@pytest.mark.shared
@pytest.mark.slow
def test_halves_of_a_crowd_of_wmt22_agree(tmp_path):
    out = tmp_path / "out.json"
    path = SHARED / "data" / "wmt22-da" / "ratings-cs-en.csv.gz"
    run("--half-crowds", path, "--splits", 30, "--json", out)
    (found,) = json.loads(out.read_text())["crowds"]
    assert 0.92 < found["systems"] < 0.98
    assert 0.92 < found["pairs"] < 0.98
    assert found["systems_plain"] < 0.5
    assert found["width_ratio"] < 0.6
