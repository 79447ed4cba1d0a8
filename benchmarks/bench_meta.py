"""Metric meta-evaluation: swaps at once against swaps one by one, and a whole board.

python -m benchmarks.bench_meta [--systems 20] [--instances 500] [--loops 20] [--seed 0]

First the permutation tests between two metrics: ours, and a plain loop that computes the
statistic anew for each swap with scipy, as mt-metrics-eval does (--loops swaps are timed
and scaled to 1,000). Both must say the same of the same swaps; the p-values of two runs
differ by sampling. Then one metric board of 100 submissions, 12 metrics and 800
instances: every statistic, interval and test that it shows.
"""

import argparse
import resource
import time
import warnings

import numpy as np
from scipy import stats

from leaderboard.metric_board.stats.intervals import (
    grouped_interval,
    soft_accuracy_interval,
    system_interval,
)
from leaderboard.metric_board.stats.pairs import instance_statistic
from leaderboard.metric_board.stats.permutation import permutation_test
from leaderboard.metric_board.stats.soft_accuracy import soft_pairwise_accuracy
from leaderboard.metric_board.stats.system_level import SYSTEM_STATISTICS, system_rows
from leaderboard.metric_board.stats.verdicts import (
    rank_metrics,
    verdicts,
    verdicts_test,
)

PROMISED = 20
SWAPS = 1_000
THEIRS = {
    "pearson": stats.pearsonr,
    "spearman": stats.spearmanr,
    "tau-b": stats.kendalltau,
}


def scores(n_systems, n, n_metrics, rng):
    """Draw people's Likert ratings and metrics that follow them more and more poorly."""
    level = np.linspace(0, 1, n_systems)[:, None] + rng.normal(0, 0.5, n)
    people = np.clip(np.round(3 + level + rng.normal(size=(n_systems, n))), 1, 5)
    metrics = [
        level + 0.3 * people + rng.normal(0, 0.5 + 0.02 * m, (n_systems, n))
        for m in range(n_metrics)
    ]
    return people, metrics


def averaged(people, metric, statistic):
    values = [THEIRS[statistic](a, b)[0] for a, b in zip(people, metric, strict=True)]
    return np.nanmean(values)


def plain_loop(people, first, second, statistic, n_swaps, rng):
    """Swap, compute, count: one swap after the other."""
    x, y = stats.zscore(first, axis=None), stats.zscore(second, axis=None)
    observed = averaged(people, x, statistic) - averaged(people, y, statistic)
    reached = 0
    for _ in range(n_swaps):
        w = rng.integers(0, 2, x.shape)
        mixed, other = np.where(w, x, y), np.where(w, y, x)
        gap = averaged(people, mixed, statistic) - averaged(people, other, statistic)
        reached += gap >= observed
    return observed, reached / n_swaps


def timed(call):
    start = time.process_time()
    found = call()
    return found, time.process_time() - start


def against_a_loop(args):
    rng = np.random.default_rng(args.seed)
    people, (first, second) = scores(args.systems, args.instances, 2, rng)
    print(f"{SWAPS:,} swaps, {args.systems} systems x {args.instances} instances")
    worst = np.inf
    for level, tables in {
        "instance": (people.T, first.T, second.T),
        "system": tuple(t.mean(axis=1)[None] for t in (people, first, second)),
    }.items():
        for statistic in THEIRS:
            n_loops = args.loops if level == "instance" else 20 * args.loops
            (gap, share), plain = timed(
                lambda t=tables, s=statistic, n=n_loops: plain_loop(*t, s, n, rng)
            )
            arguments = (
                (people, first, second)
                if level == "instance"
                else tuple(table[0] for table in tables)
            )
            found, seconds = timed(
                lambda a=arguments, s=statistic: permutation_test(
                    *a, statistic=s, seed=args.seed, n_permutations=SWAPS
                )
            )
            plain *= SWAPS / n_loops
            error = np.sqrt(max(share * (1 - share), 0.01) / n_loops)
            same = abs(found.difference - gap) < 1e-9 and (
                abs(found.p_value - share) < 4 * error
            )
            worst = min(worst, plain / seconds if same else 0)
            print(
                f"  {level:8} {statistic:9} loop {plain:8.2f} s   ours {seconds:6.3f} s   "
                f"{plain / seconds:7,.0f} x   p {share:.3f} / {found.p_value:.3f}   "
                f"{'same' if same else 'DIFFERENT'}"
            )
    kept = "kept" if worst >= PROMISED else "NOT kept"
    print(f"promised {PROMISED} x: {kept}")


def verdict_ranking(people, metrics):
    judged = [verdicts(people, metric) for metric in metrics]
    return rank_metrics(
        [found.calibrated.accuracy for found in judged],
        lambda i, j: verdicts_test(judged[i], judged[j], seed=1).p_value,
    )


def whole_board(args):
    rng = np.random.default_rng(args.seed + 1)
    people, metrics = scores(100, 800, 12, rng)
    human = people.mean(axis=1)
    overall = np.array([metric.mean(axis=1) for metric in metrics])
    parts = {
        "system statistics": lambda: [
            system_rows(human, m, name) for m in overall for name in SYSTEM_STATISTICS
        ],
        "their intervals": lambda: [
            system_interval(people, m, statistic, seed=1)
            for m in metrics
            for statistic in SYSTEM_STATISTICS
        ],
        "soft accuracy": lambda: [soft_pairwise_accuracy(people, m) for m in metrics],
        "its intervals": lambda: [
            soft_accuracy_interval(people, m, seed=1) for m in metrics
        ],
        "tau-b by instance, intervals": lambda: [
            grouped_interval(instance_statistic(people, m, "tau-b"), seed=1)
            for m in metrics
        ],
        "tests of systems, 66 pairs": lambda: rank_metrics(
            [float(system_rows(human, m, "pairwise-accuracy")) for m in overall],
            lambda i, j: (
                permutation_test(
                    human, overall[i], overall[j], statistic="acc-eq", seed=1
                ).p_value
            ),
        ),
        "calibrated accuracy, 66 tests": lambda: verdict_ranking(people, metrics),
    }
    print("one board: 100 submissions x 12 metrics x 800 instances")
    total = 0.0
    for name, call in parts.items():
        _, seconds = timed(call)
        total += seconds
        print(f"  {name:30} {seconds:7.2f} s")
    print(f"  {'all':30} {total:7.2f} s of one core")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=20)
    parser.add_argument("--instances", type=int, default=500)
    parser.add_argument("--loops", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")  # scipy's, of constant groups
    against_a_loop(args)
    whole_board(args)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory of the process {peak:,.0f} MB")


if __name__ == "__main__":
    main()
