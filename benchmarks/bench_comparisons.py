"""Error and power of the default stopping rule, and coverage of shares' intervals.

python -m benchmarks.bench_comparisons [rule | shares | coverage | days] [--runs 2000]

Workers' log-odds are normal around the systems' difference (sd .3 to .9). `half`: one
worker gives half of the labels, the others uneven loads. Every figure has its 95%
interval (Clopper and Pearson).
"""

import argparse
from functools import cache

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binomtest

from leaderboard.stats.stopping.sequential import Comparison, SignFlips
from leaderboard.stats.systems.preferred_share import preferred_share

#: In place of a standard deviation: one worker in five prefers B in 9 of 10 pairs, the
#: others A in 6 of 10.
SKEWED = -1.0
MANY = np.random.default_rng(6).normal(size=200_000)


@cache
def centre(share, sd):
    """Return the mean of log-odds at which the mean share is `share`."""
    low, high = logit(share) - 1, logit(share) + 1
    for _ in range(30):
        middle = (low + high) / 2
        below = expit(middle + sd * MANY).mean() < share
        low, high = (middle, high) if below else (low, middle)
    return middle if share != 0.5 else 0.0


def drawn(rng, n_workers, n, loads):
    if loads == "equal":
        return rng.permutation(np.arange(n) % n_workers)
    chances = rng.dirichlet(np.ones(n_workers))
    if loads == "half":
        chances = np.r_[0.5, chances[1:] / chances[1:].sum() / 2]
    return rng.choice(n_workers, n, p=chances)


def crowd(rng, n_workers, n, *, sd, share=0.5, loads="equal"):
    lean = centre(share, sd) + sd * rng.normal(size=n_workers)
    if sd == SKEWED:
        lean = logit(np.where(rng.random(n_workers) < 0.2, 0.1, 0.6))
    worker = drawn(rng, n_workers, n, loads)
    return worker, (rng.random(n) < expit(lean[worker])).astype(float)


def n_decided(runs, n_workers, n, *, sd, share=0.5, loads="equal"):
    """Return how many comparisons are decided, and how many for A; looked at each label."""
    rng = np.random.default_rng([36, n_workers, n, int(10 * abs(sd))])
    sides = []
    for _ in range(runs):
        worker, labels = crowd(rng, n_workers, n, sd=sd, share=share, loads=loads)
        sides.append(Comparison(SignFlips(0.025)).extend(labels, worker).side)
    return runs - sides.count("undecided"), sides.count("A")


def shown(count, runs):
    found = binomtest(count, runs).proportion_ci()
    return f"{100 * count / runs:.1f}% [{100 * found.low:.1f}, {100 * found.high:.1f}]"


def rule(runs):
    for n_workers in (10, 20, 60):
        for loads in ("equal", "uneven", "half"):
            for sd in (SKEWED, 0.3, 0.6, 0.9):
                found, _ = n_decided(runs, n_workers, 500, sd=sd, loads=loads)
                print(f"equal systems: {n_workers} {loads} sd {sd}", shown(found, runs))
    for sd in (0.3, 0.6):
        _, found = n_decided(runs, 60, 600, sd=sd, share=0.65)
        print(f".65, 60 workers of 10, sd {sd}:", shown(found, runs))


def answers(rng, n_workers, n, each, *, sd, share=0.5, loads="equal", instance_sd=0.0):
    """Draw `n` answers, `each` by different workers to one instance."""
    if each == 1:
        worker, labels = crowd(rng, n_workers, n, sd=sd, share=share, loads=loads)
        return labels, worker, np.arange(n)
    lean = centre(share, np.hypot(sd, instance_sd)) + sd * rng.normal(size=n_workers)
    instance = np.repeat(np.arange(n // each), each)
    chances = rng.dirichlet(np.ones(n_workers)) if loads == "uneven" else None
    worker = np.concatenate(
        [rng.choice(n_workers, each, False, chances) for _ in range(n // each)]
    )
    odds = lean[worker] + instance_sd * rng.normal(size=n // each)[instance]
    return (rng.random(n) < expit(odds)).astype(float), worker, instance


def n_missed(runs, n_workers, n, each, **options):
    """Return how many intervals exclude the true share, and those of independent labels."""
    rng = np.random.default_rng([21, n_workers, n, each])
    truth, missed, apart = options.get("share", 0.5), 0, 0
    for _ in range(runs):
        values, worker, instance = answers(rng, n_workers, n, each, **options)
        missed += not preferred_share(values, worker, instance).contains(truth)
        mean = values.mean()
        apart += abs(mean - truth) > 1.96 * (mean * (1 - mean) / n) ** 0.5
    return missed, apart


def shares(runs):
    for n_workers in (5, 8, 10, 15):
        for each, instance_sd in ((1, 0.0), (3, 0.7)):
            for loads in ("equal", "uneven"):
                for sd in (0.0, 0.3, 0.6, 0.9):
                    found, _ = n_missed(
                        runs,
                        n_workers,
                        150,
                        each,
                        sd=sd,
                        loads=loads,
                        instance_sd=instance_sd,
                    )
                    print(f"{n_workers} x{each} {loads} sd {sd}:", shown(found, runs))


def coverage(runs):
    for n_workers, n, each, options in (
        (10, 100, 1, {"share": 0.6, "sd": 0.0}),
        (10, 100, 1, {"share": 0.6, "sd": 1.0}),
        (20, 200, 1, {"share": 0.7, "sd": 1.0}),
        (20, 200, 1, {"share": 0.7, "sd": 1.0, "loads": "uneven"}),
        (30, 60, 1, {"share": 0.85, "sd": 1.0}),
        (20, 300, 3, {"share": 0.6, "sd": 0.5, "instance_sd": 1.0}),
    ):
        found = n_missed(runs, n_workers, n, each, **options)
        print(n_workers, n, each, options, *(shown(runs - one, runs) for one in found))


def days(runs):
    """Thirty unequally busy workers of two days at most, 400 answers."""
    for n_days in (3, 5, 10):
        for day_sd in (0.0, 0.4, 0.8):
            rng, held = np.random.default_rng([8, n_days, int(10 * day_sd)]), [0, 0]
            sd = (0.7**2 + 0.7**2 + day_sd**2) ** 0.5
            for _ in range(runs):
                worker = drawn(rng, 30, 400, "uneven")
                two = rng.integers(0, n_days, (30, 2))
                day = two[worker, rng.integers(0, 2, 400)]
                odds = centre(0.6, sd) + 0.7 * rng.normal(size=30)[worker]
                odds += 0.7 * rng.normal(size=400)
                odds += day_sd * rng.normal(size=n_days)[day]
                values = (rng.random(400) < expit(odds)).astype(float)
                for i, on in enumerate((day, None)):
                    found = preferred_share(values, worker, np.arange(400), on)
                    held[i] += found.contains(0.6)
            print(n_days, day_sd, *(shown(one, runs) for one in held))


if __name__ == "__main__":
    parts = {"rule": rule, "shares": shares, "coverage": coverage, "days": days}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=parts)
    parser.add_argument("--runs", type=int, default=2_000)
    options = parser.parse_args()
    parts[options.part](options.runs)
