"""TrueSkill: 30,000 games in 20 orders and 200 resamples of workers.

python -m benchmarks.bench_games [--pages 3000] [--seed 1]

3,000 pages of 5 of 21 systems, as in the E2E NLG Challenge, make 30,000 games by 100
workers. `true_skill` with the settings of joint evaluations (20 orders, 200 resamples, a
draw probability of .1) against the definition played plainly in numpy: Herbrich, Minka and
Graepel's update (2006, equations 4-5) game by game, all orders and resamples at once, with
scipy's erfcx. The `trueskill` library plays one order of them in about a minute. Both give
the same beliefs, whose largest difference is printed.

Seconds are the processor's, on one thread; wall-clock time stands beside.
"""

import argparse
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from scipy import special

from leaderboard.stats.comparisons import comparisons_from_table
from leaderboard.stats.true_skill import _by_worker, _margin, _orders, true_skill
from leaderboard.stats.turns import BETA, MU, SIGMA, play

PROMISED_SECONDS = 1


def challenge(n_pages, seed, n_systems=21, size=5, n_workers=100):
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.5, n_systems)
    table = np.full((n_pages, n_systems), np.nan)
    for row in table:
        shown = rng.choice(n_systems, size, replace=False)
        row[shown] = np.round(quality[shown] + rng.normal(0, 1, size))
    games = comparisons_from_table(table)
    return games, rng.integers(0, n_workers, n_pages)[games.row]


def plainly(games, order, margin):
    """Play game by game, an order a column."""
    mu = np.full((games.n_systems, order.shape[1]), MU)
    variance = np.full_like(mu, SIGMA**2)
    column = np.arange(order.shape[1])

    def mills(x):
        return special.erfcx(-x / np.sqrt(2)) * np.sqrt(np.pi / 2)

    for place in order:
        i, j = games.winner[place], games.loser[place]
        drawn = games.drawn[place]
        v_i, v_j = variance[i, column], variance[j, column]
        total = v_i + v_j + 2 * BETA**2
        root = np.sqrt(total)
        t, edge = (mu[i, column] - mu[j, column]) / root, margin / root
        v = 1 / mills(t - edge)
        w = v * (v + t - edge)
        size = np.abs(t)
        ratio = np.exp(-2 * edge * size)
        mass = mills(edge - size) - ratio * mills(-edge - size)
        between = (ratio - 1) / mass
        v = np.where(drawn, between * np.sign(t), v) / root
        w_drawn = between**2 + (edge - size + (edge + size) * ratio) / mass
        w = np.where(drawn, w_drawn, w) / total
        mu[i, column] += v_i * v
        mu[j, column] -= v_j * v
        variance[i, column] = v_i * (1 - v_i * w)
        variance[j, column] = v_j * (1 - v_j * w)
    return mu


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--pages", type=int, default=3_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    games, workers = challenge(options.pages, options.seed)
    runs = [
        timed(lambda: true_skill(games, workers, seed=options.seed)) for _ in range(3)
    ]
    skills, cpu, wall = min(runs, key=lambda run: run[1])
    print(f"{len(games.first):,} games, {np.mean(games.outcome == 0):.0%} of them ties")
    print(f"true_skill, 20 orders and 200 resamples: {cpu:.2f} s ({wall:.2f} s wall)")
    held = "held" if cpu <= PROMISED_SECONDS else "missed"
    print(f"  promised: at most {PROMISED_SECONDS} s: {held}")
    print(f"  ranks that every order gives: {np.mean(skills.rank_kept == 1):.0%}")
    table, margin = _by_worker(games, workers), _margin(0.1)
    rng = np.random.default_rng(options.seed)
    order = np.stack(list(_orders(table, 220, rng)), axis=1)
    ours, cpu, wall = timed(lambda: play(table, order, margin))
    theirs, slow, slow_wall = timed(lambda: plainly(table, order, margin))
    print(f"220 orders in turns: {cpu:.2f} s ({wall:.2f} s wall)")
    print(f"220 orders game by game: {slow:.2f} s ({slow_wall:.2f} s wall)")
    print(
        f"  ratio {slow / cpu:.1f}, largest difference {np.abs(ours - theirs).max():.0e}"
    )


if __name__ == "__main__":
    main()
