"""Bootstrap: one system against scipy, and 100 systems against pair by pair.

python -m benchmarks.bench_bootstrap [--repeats 5] [--pairs 60] [--seed 1]

1. 800 ratings, 10,000 resamples, percentile interval: `bootstrap_mean` against
   `scipy.stats.bootstrap`, on 5-point, slider and continuous ratings; the slowest counts.
2. 100 systems x 800 instances, all 4,950 pairs, 10,000 resamples: `bootstrap_ranking` against
   a paired bootstrap of each pair by itself, done by our own `paired_bootstrap` (a sample
   of the pairs is timed and scaled), and against the best that scipy offers: one
   `scipy.stats.bootstrap` of all systems on the same resamples, and numpy for the pairs.

Seconds are the processor's, on one thread, so that a busy machine changes little. Both
sides run in one process, and what they find is compared: speed at another answer
would be no speed. Memory is the peak that each call allocates.
"""

import argparse
import os
import time
import tracemalloc

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from scipy import stats

from genie_research.papers.rankme.all_pairs import bootstrap_ranking
from leaderboard.stats.intervals import bootstrap_mean
from leaderboard.stats.paired import paired_bootstrap

RESAMPLES = 10_000
PROMISED_MEAN = 5
PROMISED_PAIRS = 20
# against code that does what ours does: less is to be gained
PROMISED_AT_ONCE = 10
N_PAIRS = 100 * 99 // 2


def fastest(work, repeats):
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return min(seconds), result


def peak_mb(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def by_scipy(values, seed):
    return stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    )


def one_system(seed, repeats):
    rng = np.random.default_rng(seed)
    kinds = {
        "5-point": rng.integers(0, 5, 800) / 4,
        "slider": rng.integers(0, 101, 800).astype(float),
        "continuous": rng.normal(size=800),
    }
    ratios = []
    for name, values in kinds.items():
        ours, found = fastest(lambda v=values: bootstrap_mean(v, seed=seed), repeats)
        theirs, expected = fastest(lambda v=values: by_scipy(v, seed), repeats)
        ends = expected.confidence_interval
        error = stats.sem(values)
        apart = max(abs(found.low - ends.low), abs(found.high - ends.high)) / error
        if apart > 0.2:
            raise SystemExit(f"{name}: the intervals differ by {apart:.2f} errors")
        ratios.append(theirs / ours)
        print(
            f"800 {name:10} ours {ours * 1e3:6.2f} ms"
            f" {peak_mb(lambda v=values: bootstrap_mean(v, seed=seed)):6.1f} MB;"
            f" scipy {theirs * 1e3:6.1f} ms"
            f" {peak_mb(lambda v=values: by_scipy(v, seed)):6.1f} MB;"
            f" ratio {ratios[-1]:.0f}"
        )
    return min(ratios)


def all_by_scipy(table, seed):
    """Share of resamples in which each system is above each other, ties one half."""
    drawn = stats.bootstrap(
        (table.T,),
        np.mean,
        n_resamples=RESAMPLES,
        method="percentile",
        axis=-1,
        batch=20,
        rng=np.random.default_rng(seed),
    ).bootstrap_distribution
    shares = np.empty((len(drawn), len(drawn)))
    for i, means in enumerate(drawn):
        gaps = means - drawn
        shares[i] = ((gaps > 1e-12).mean(axis=1) + (gaps >= -1e-12).mean(axis=1)) / 2
    return shares


def all_pairs(seed, repeats, n_timed):
    rng = np.random.default_rng(seed)
    quality = rng.normal(0, 0.15, 100)
    table = rng.normal(2, 1, (800, 1)) + quality + rng.normal(0, 0.8, (800, 100))
    table = np.clip(np.rint(table), 0, 4) / 4
    ours, found = fastest(lambda: bootstrap_ranking(table, seed=seed), repeats)
    chosen = rng.permutation(np.column_stack(np.triu_indices(100, k=1)))[:n_timed]
    theirs, shares = fastest(lambda: all_by_scipy(table, seed), 1)
    start = time.process_time()
    for i, j in chosen:
        paired_bootstrap(table[:, i], table[:, j], seed=seed)
    own = (time.process_time() - start) / n_timed * N_PAIRS
    apart = np.abs(found.p_above - shares).max()
    if apart > 0.04:  # the greatest of 4,950, each with an error of 0.007
        raise SystemExit(f"the shares of resamples differ by {apart:.3f}")
    print(
        f"100 x 800, all pairs: ours {ours:.2f} s"
        f" {peak_mb(lambda: bootstrap_ranking(table, seed=seed)):.0f} MB; all at once with"
        f" scipy and numpy {theirs:.1f} s, ratio {theirs / ours:.0f}; pair by pair with"
        f" our own {own:.1f} s, ratio {own / ours:.0f} (from {n_timed} pairs);"
        f" shares at most {apart:.3f} apart"
    )
    return own / ours, theirs / ours


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    mean = one_system(options.seed, options.repeats)
    pairs, at_once = all_pairs(options.seed, options.repeats, options.pairs)
    found = (mean, pairs, at_once)
    promised = (PROMISED_MEAN, PROMISED_PAIRS, PROMISED_AT_ONCE)
    if any(ratio < least for ratio, least in zip(found, promised, strict=True)):
        raise SystemExit(f"promised: {promised} times faster")


if __name__ == "__main__":
    main()
