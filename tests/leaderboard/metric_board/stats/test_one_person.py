"""One person against the others, compared with the plain definition, loop by loop."""

import itertools

import numpy as np
import pytest

from leaderboard.metric_board.stats.person import FEWEST_RATERS, one_person

N_SYSTEMS, N_INSTANCES = 5, 8


def _ratings(seed=1, share=0.6, n_raters=6):
    rng = np.random.default_rng(seed)
    cells = np.array(
        list(itertools.product(range(n_raters), range(N_SYSTEMS), range(N_INSTANCES)))
    )
    cells = cells[rng.random(len(cells)) < share]
    # some rate an output twice; whole numbers give ties
    cells = np.concatenate([cells, cells[:5]])
    values = np.round(cells[:, 1] + rng.normal(scale=2, size=len(cells)))
    return values, cells[:, 0] + 70, cells[:, 1], cells[:, 2]


def _person(values, workers, systems, instances):
    return one_person(
        values,
        workers,
        systems,
        instances,
        n_systems=N_SYSTEMS,
        n_instances=N_INSTANCES,
    )


def _cell_means(rows):
    cells = {}
    for value, system, instance in rows:
        cells.setdefault((system, instance), []).append(value)
    return {cell: sum(found) / len(found) for cell, found in cells.items()}


def _system_means(cells):
    systems = {}
    for (system, _), value in cells.items():
        systems.setdefault(system, []).append(value)
    return {system: sum(found) / len(found) for system, found in systems.items()}


def _slowly(values, workers, systems, instances):
    from scipy import stats

    taus, shares = [], []
    for worker in sorted(set(workers)):
        mine, others = (
            _cell_means(
                (v, s, i)
                for v, w, s, i in zip(values, workers, systems, instances, strict=True)
                if (w == worker) == own
            )
            for own in (True, False)
        )
        mine_s, others_s = _system_means(mine), _system_means(others)
        common = sorted(mine_s.keys() & others_s.keys())
        if len(common) >= 3:
            pair = [mine_s[s] for s in common], [others_s[s] for s in common]
            taus.append(stats.kendalltau(*pair).statistic)
        by_instance = []
        for instance in range(N_INSTANCES):
            both = [
                (mine[s, instance], others[s, instance])
                for s in range(N_SYSTEMS)
                if (s, instance) in mine and (s, instance) in others
            ]
            pairs = list(itertools.combinations(both, 2))
            if pairs:
                same = [np.sign(a[0] - b[0]) == np.sign(a[1] - b[1]) for a, b in pairs]
                by_instance.append(np.mean(same))
        if by_instance:
            shares.append(np.mean(by_instance))
    return np.array(taus), np.array(shares)


@pytest.mark.parametrize(("seed", "share"), [(1, 0.6), (2, 0.25), (3, 1.0)])
def test_it_is_what_the_definition_says(seed, share):
    from scipy import stats

    ratings = _ratings(seed, share)
    person = _person(*ratings)
    taus, shares = _slowly(*ratings)
    for found, slow in (
        (person["system"]["kendall"], taus),
        (person["instance"]["acc-eq"], shares),
    ):
        assert found["n"] == len(slow)
        assert found["value"] == pytest.approx(slow.mean(), abs=1e-12)
        low, high = stats.t.interval(0.95, len(slow) - 1, slow.mean(), stats.sem(slow))
        assert found["low"] == pytest.approx(max(low, found["low"]), abs=1e-12)
        assert found["high"] == pytest.approx(min(high, 1), abs=1e-12)


def test_the_order_and_names_of_people_do_not_matter():
    values, workers, systems, instances = _ratings()
    mixed = np.random.default_rng(5).permutation(len(values))
    other = _person(
        values[mixed],
        np.array([f"w{w}" for w in workers])[mixed],
        systems[mixed],
        instances[mixed],
    )
    first = _person(values, workers, systems, instances)
    assert other["n_raters"] == first["n_raters"] == 6
    assert other["system"]["pearson"]["value"] == pytest.approx(
        first["system"]["pearson"]["value"]
    )


def test_an_average_over_two_people_is_not_told():
    values, workers, systems, instances = _ratings(n_raters=FEWEST_RATERS - 1)
    assert _person(values, workers, systems, instances) is None


def test_with_one_rating_an_output_only_systems_are_compared():
    cells = np.array(list(itertools.product(range(N_SYSTEMS), range(N_INSTANCES))))
    workers = cells[:, 1] % 4  # each person has instances of their own
    values = cells[:, 0] + np.random.default_rng(2).normal(scale=0.1, size=len(cells))
    person = _person(values, workers, cells[:, 0], cells[:, 1])
    assert person["system"]["kendall"]["value"] == pytest.approx(1)
    assert person["instance"]["acc-eq"]["value"] is None
    assert person["instance"]["calibrated"]["value"] is None


def test_people_who_say_the_same_of_everything_leave_correlations_undefined():
    values, workers, systems, instances = _ratings(share=1.0)
    person = _person(np.full(len(values), 3.0), workers, systems, instances)
    assert person["system"]["pearson"]["value"] is None
    # all tie what all others tie
    assert person["system"]["pairwise-accuracy"]["value"] == 1.0
    assert person["instance"]["acc-eq"]["value"] == 1.0


def test_people_with_two_systems_each_say_nothing_of_systems():
    values, workers, systems, instances = _ratings(share=1.0)
    few = systems < 2
    person = _person(values[few], workers[few], systems[few], instances[few])
    assert person["system"]["kendall"]["value"] is None
    assert person["instance"]["acc-eq"]["value"] is not None
