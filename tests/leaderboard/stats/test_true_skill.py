from __future__ import annotations

import numpy as np
import pytest

from leaderboard.stats.comparisons import compare, comparisons_from_table
from leaderboard.stats.true_skill import (
    BETA,
    MU,
    SIGMA,
    _play,
    skill_shares,
    true_skill,
    trueskill,
)

rng = np.random.default_rng(21)
TABLE = rng.integers(1, 5, (60, 3)) + np.array([0, 0, 2])


@pytest.mark.parametrize("draw_probability", [0.1, 0.5])
@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_the_closed_form_update_is_the_librarys(draw_probability, tau):
    games = comparisons_from_table(TABLE)
    theirs = true_skill(games, draw_probability=draw_probability, tau=tau)
    margin = trueskill.calc_draw_margin(
        draw_probability, 2, trueskill.TrueSkill(beta=BETA)
    )
    mu, variance = np.full((3, 1), MU), np.full((3, 1), SIGMA**2)
    for i, j, outcome in zip(games.first, games.second, games.outcome, strict=True):
        _play(mu, variance, i, j, np.array([outcome]), margin, tau**2)
    assert mu[:, 0] == pytest.approx([s.mu for s in theirs], abs=1e-6)
    assert np.sqrt(variance[:, 0]) == pytest.approx([s.sigma for s in theirs], abs=1e-6)


def test_the_better_system_comes_out_above_and_more_games_make_surer():
    few = true_skill(comparisons_from_table(TABLE[:10]))
    many = true_skill(comparisons_from_table(TABLE))
    assert many[2].mu > max(many[0].mu, many[1].mu)
    assert all(m.sigma < f.sigma for m, f in zip(many, few, strict=True))


def test_swapping_winner_and_loser_mirrors_the_skills():
    forth = true_skill(compare([0, 0, 1], [1, 1, 0], [1, 0, 1], 2))
    back = true_skill(compare([1, 1, 0], [0, 0, 1], [1, 0, 1], 2))
    assert forth[0].mu == pytest.approx(back[1].mu)
    listed = true_skill(compare([1, 1, 0], [0, 0, 1], [-1, 0, -1], 2))
    assert listed[0].mu == pytest.approx(forth[0].mu)


def test_a_system_without_a_game_keeps_its_first_belief():
    idle = true_skill(compare([0], [1], [1], 3))[2]
    assert (idle.mu, idle.sigma) == pytest.approx((25, 25 / 3))
    assert [s.mu for s in true_skill(compare([], [], [], 2))] == [25, 25]


def test_a_tie_draws_unequal_systems_together():
    before = true_skill(compare([0] * 5, [1] * 5, [1] * 5, 2))
    after = true_skill(compare([0] * 6, [1] * 6, [1] * 5 + [0], 2))
    assert after[0].mu - after[1].mu < before[0].mu - before[1].mu


def test_shares_are_those_of_a_loop_over_resamples():
    draw = np.random.default_rng(1)
    table = TABLE[:25]
    counted = np.zeros((3, 3))
    for _ in range(150):
        games = comparisons_from_table(table[draw.integers(0, 25, 25)])
        mu = np.array([s.mu for s in true_skill(games)])
        counted += mu[:, None] > mu[None]
    shares = skill_shares(table, seed=1, n_resamples=4_000)
    off = ~np.eye(3, dtype=bool)
    assert shares[off] == pytest.approx(counted[off] / 150, abs=0.15)
    assert shares + shares.T == pytest.approx(np.ones((3, 3)))


def test_same_seed_same_shares_whatever_the_order_of_the_rows():
    plain = skill_shares(TABLE, seed=2, n_resamples=200)
    moved = skill_shares(rng.permutation(TABLE), seed=2, n_resamples=200)
    assert np.array_equal(plain, moved)


def test_equal_systems_share_evenly():
    assert skill_shares([[1, 1]] * 10, seed=1).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert skill_shares([[1.0]], seed=1).tolist() == [[0.5]]


def test_extreme_surprises_stay_finite():
    games = compare([0] * 2000 + [1] * 50, [1] * 2000 + [0] * 50, [1] * 2050, 2)
    table = np.column_stack([np.r_[np.ones(2000), np.zeros(50)], np.zeros(2050) + 0.5])
    assert all(np.isfinite([s.mu, s.sigma]).all() for s in true_skill(games))
    assert np.isfinite(skill_shares(table, seed=1, n_resamples=20)).all()


def test_wrong_settings_are_refused_in_words():
    tie = compare([0], [1], [0], 2)
    with pytest.raises(ValueError, match="There are ties"):
        true_skill(tie, draw_probability=0)
    with pytest.raises(ValueError, match="draw probability"):
        true_skill(tie, draw_probability=1)
    with pytest.raises(ValueError, match="Tau"):
        true_skill(tie, tau=-1)
    with pytest.raises(ValueError, match="finite rating"):
        skill_shares([[1, np.nan]], seed=1)
    with pytest.raises(ValueError, match="finite rating"):
        skill_shares(np.empty((0, 2)), seed=1)
    with pytest.raises(ValueError, match="one resample"):
        skill_shares([[1, 2]], seed=1, n_resamples=0)
