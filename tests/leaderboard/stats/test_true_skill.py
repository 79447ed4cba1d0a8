"""Skills against the trueskill library, and what workers have to do with them."""

import time
import warnings

import numpy as np
import pytest

from leaderboard.stats.comparisons import compare, comparisons_from_table
from leaderboard.stats.true_skill import BETA, MU, SIGMA, true_skill
from tests.leaderboard.stats.e2e import challenge
from tests.shared import needs_shared

with warnings.catch_warnings():
    # escapes in the library's docstrings, of which newer Pythons warn on compiling
    warnings.simplefilter("ignore")
    import trueskill

rng = np.random.default_rng(21)
TABLE = rng.integers(1, 5, (60, 3)) + np.array([0, 0, 2])
GAMES = comparisons_from_table(TABLE)
WORKERS = np.arange(60)[GAMES.row] % 12


def library(games, draw_probability=0.1):
    """Play games in the order given, with the library."""
    setting = trueskill.TrueSkill(
        mu=MU, sigma=SIGMA, beta=BETA, tau=0.0, draw_probability=draw_probability
    )
    ratings = [setting.create_rating() for _ in range(games.n_systems)]
    for i, j, outcome in zip(games.first, games.second, games.outcome, strict=True):
        one, two = (j, i) if outcome < 0 else (i, j)
        ratings[one], ratings[two] = trueskill.rate_1vs1(
            ratings[one], ratings[two], drawn=bool(outcome == 0), env=setting
        )
    return np.array([r.mu for r in ratings])


@pytest.mark.slow
@needs_shared
def test_the_skills_of_the_e2e_challenge_come_out_in_seconds():
    games, workers, names, known = challenge()
    started = time.process_time()
    skills = true_skill(games, workers, seed=1)
    # 42,390 games in 20 orders and 200 resamples: about a second where nothing else runs
    assert time.process_time() - started < 5
    expected = [known(f"{name}/trueskill_centred") for name in names]
    assert skills.differences == pytest.approx(expected, abs=0.02)
    ranks = np.argsort(np.argsort(-skills.differences)) + 1
    assert ranks.tolist() == [known(f"{name}/trueskill_rank") for name in names]
    # its README says so of 21 other orders
    assert skills.rank_kept.tolist() == [1.0] * len(names)
    assert skills.n_workers == known("workers")
    # fewer than the 107 workers, as some did much more than others
    assert 50 < skills.freedom < 70


def test_differences_are_to_the_mean_of_all_systems():
    skills = true_skill(GAMES, WORKERS, seed=1)
    assert skills.differences.sum() == pytest.approx(0, abs=1e-9)
    assert skills.differences[2] > 1 > max(skills.differences[:2])
    wide = skills.interval(2)
    assert 0 < wide.low < skills.differences[2] == wide.estimate < wide.high
    narrow = skills.interval(2, confidence=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high
    assert skills.p_above[2, 0] > 0.99
    assert skills.p_above + skills.p_above.T == pytest.approx(np.ones((3, 3)))


def test_games_of_few_workers_are_less_sure_than_as_many_of_many():
    few = true_skill(GAMES, (WORKERS >= 6).astype(int), seed=1)
    each = true_skill(GAMES, GAMES.row, seed=1)
    assert few.freedom < 2 < 50 < each.freedom
    assert few.p_above[2, 0] < each.p_above[2, 0]


def test_workers_who_disagree_widen_the_interval():
    games = compare([0] * 120, [1] * 120, np.repeat([1, -1], 60), 2)
    same = true_skill(games, np.arange(120) % 12, seed=1)
    split = true_skill(games, np.repeat(np.arange(12), 10), seed=1)
    assert split.errors[0, 1] > 1.5 * same.errors[0, 1]


@pytest.mark.slow
def test_shares_are_those_of_a_loop_over_resamples():
    draw = np.random.default_rng(1)
    table = TABLE[:25]
    games = comparisons_from_table(table)
    counted = np.zeros((3, 3))
    for _ in range(80):
        again = comparisons_from_table(table[draw.integers(0, 25, 25)])
        mu = library(again)
        counted += mu[:, None] > mu[None]
    skills = true_skill(games, games.row, seed=1, n_resamples=1_000)
    off = ~np.eye(3, dtype=bool)
    assert skills.shares[off] == pytest.approx(counted[off] / 80, abs=0.15)
    assert skills.shares + skills.shares.T == pytest.approx(np.ones((3, 3)))


def test_names_and_order_change_no_bit():
    plain = true_skill(GAMES, WORKERS, seed=2, n_resamples=50)
    moved = rng.permutation(len(WORKERS))
    names = np.array(list("qwertyuiopas"))[WORKERS]
    turned = compare(GAMES.second[moved], GAMES.first[moved], -GAMES.outcome[moved], 3)
    again = true_skill(turned, names[moved], seed=2, n_resamples=50)
    assert plain.differences.tolist() == again.differences.tolist()
    assert plain.errors.tolist() == again.errors.tolist()
    assert plain.shares.tolist() == again.shares.tolist()


def test_ranks_over_orders_say_what_the_order_decides():
    surely = true_skill(GAMES, WORKERS, seed=1)
    assert surely.by_order.mean(axis=1) == pytest.approx(surely.differences)
    assert surely.ranks_by_order[2].tolist() == [1] * 20
    assert surely.rank_kept[2] == 1
    # as many wins on either side: the last game decides
    even = compare([0] * 40, [1] * 40, [1, -1] * 20, 2)
    skills = true_skill(even, np.arange(40), seed=1)
    assert set(skills.ranks_by_order[0]) == {1, 2}
    assert 0 < skills.rank_kept[0] < 1
    level = true_skill(compare([0], [1], [0], 2), ["w"], seed=1)
    assert level.ranks_by_order.tolist() == [[1] * 20] * 2
    assert level.rank_kept.tolist() == [1, 1]


def test_equal_systems_are_equal():
    games = compare([0] * 10, [1] * 10, [0] * 10, 2)
    skills = true_skill(games, np.arange(10), seed=1)
    assert skills.differences == pytest.approx([0, 0], abs=1e-9)
    assert skills.p_above[0, 1] == 0.5


def test_one_worker_says_nothing_about_others():
    skills = true_skill(GAMES, np.zeros(len(WORKERS)), seed=1)
    assert skills.interval(0).ends is None
    assert skills.p_above.tolist() == [[0.5] * 3] * 3
    assert skills.differences[2] > 1


def test_without_games_everybody_stays_at_the_start():
    skills = true_skill(compare([], [], [], 2), [], seed=1)
    assert skills.differences.tolist() == [0, 0]
    idle = true_skill(compare([0], [1], [1], 3), ["w"], seed=1)
    assert idle.differences[2] == pytest.approx(0)


def test_extreme_surprises_stay_finite():
    sure = compare([0] * 2050, [1] * 2050, [1] * 2000 + [-1] * 25 + [0] * 25, 2)
    skills = true_skill(sure, np.arange(2050) % 5, seed=1, n_resamples=5)
    assert np.isfinite(skills.differences).all()
    assert np.isfinite(skills.errors).all()


def test_wrong_settings_are_refused_in_words():
    tie = compare([0], [1], [0], 2)
    with pytest.raises(ValueError, match="two resamples"):
        true_skill(tie, [1], seed=1, n_resamples=1)
