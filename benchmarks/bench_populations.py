"""Inference for these raters and for raters like these, by simulation.

python -m benchmarks.bench_populations [--draws 400] [--seed 1] [--only NAME ...]

Each row is a design: raters, inputs, systems, and who rates what. It prints for both
populations the share of pairs of equal systems that ranks separate (each pair by itself,
and after Holm's correction), the coverage of systems' 95% intervals and of differences,
the median half-width of a difference, and for designs with unequal systems how often at
least `enough` of the pairs are separated. Errors are Monte-Carlo standard errors over
draws. The truth of these raters is the mean over them, each with the same weight.
`unseen_populations.zip` has other simulators, by a person who had not read the code.
"""

import argparse
import os
from dataclasses import dataclass

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
from scipy import special

from leaderboard.stats.systems.estimates import Population, estimate_systems
from leaderboard.stats.systems.ranks import rank_systems

#: Means per judge of the study of N1, in the order of four systems.
N1 = np.array([[79, 64, 52, 38], [89, 76, 72, 66], [87, 78, 61, 60]], float)


@dataclass(frozen=True)
class Design:
    """Raters, inputs and systems; standard deviations in points of a scale to 100.

    Parameters
    ----------
    each : int or None
        Raters of each output; None if all rate it.
    busy : float
        Standard deviation of the logarithm of raters' loads.
    steps : float
        Distance of the possible answers; 0 for continuous ones.
    """

    raters: int
    inputs: int
    systems: int = 4
    gap: float = 0.0
    level: float = 10.0
    input: float = 10.0
    taste: float = 0.0
    noise: float = 20.0
    each: int | None = None
    busy: float = 0.0
    steps: float = 0.0
    means: object = None
    enough: int = 0
    largest: float = 0.0
    scatter: float = 0.0


DESIGNS = {
    "issue": Design(3, 80, gap=8, enough=5),
    "issue, no levels": Design(3, 80, gap=8, enough=5, level=0, input=0),
    "n1": Design(3, 20, means=N1, enough=4),
    "n1, sd 25": Design(3, 20, means=N1, enough=4, noise=25),
    "equal": Design(3, 80),
    "equal, no effects": Design(3, 80, level=0, input=0),
    "equal, strong levels": Design(3, 80, level=30, input=30),
    "equal, taste": Design(3, 80, taste=8),
    "equal, few inputs": Design(3, 8),
    "equal, two inputs": Design(3, 2),
    "equal, 5 steps": Design(3, 40, steps=25),
    "equal, two answers": Design(3, 20, steps=100),
    "one rater": Design(1, 40),
    "two raters": Design(2, 40),
    "3, one each": Design(3, 80, each=1),
    "3, one each, taste": Design(3, 80, each=1, taste=8),
    "3, one each, uneven": Design(3, 80, each=1, busy=1),
    "3, one each, uneven, taste": Design(3, 80, each=1, busy=1, taste=8),
    "3, two each, uneven": Design(3, 40, each=2, busy=1),
    "4, one each, strong levels": Design(4, 60, each=1, level=25, busy=0.7),
    "5, one each, uneven": Design(5, 100, each=1, busy=1),
    "5, one each, uneven, taste": Design(5, 100, each=1, busy=1, taste=8),
    "10, one each": Design(10, 60, each=1, busy=0.5),
    "20, one each, taste": Design(20, 100, systems=5, each=1, busy=1, taste=5),
    "20, one with 60%": Design(20, 100, systems=5, each=1, largest=0.6),
    "20, one with 60%, taste": Design(20, 100, systems=5, each=1, largest=0.6, taste=5),
    "40, scatter": Design(40, 100, systems=5, each=1, busy=1, scatter=0.5),
    "10 each, strong levels, taste": Design(10, 30, level=30, input=30, taste=8),
    "5 each, strong levels, taste": Design(5, 60, level=30, input=30, taste=8),
    "3 each, strong levels, taste": Design(3, 80, level=30, input=30, taste=8),
    "10, three each, strong, taste": Design(
        10, 60, level=30, input=30, taste=8, each=3, busy=0.5
    ),
    "40, ten inputs": Design(40, 10, each=3, busy=1),
}


def draw(design, rng):
    """Draw ratings, and the truths of these raters and of raters like these."""
    r, m, s = design.raters, design.inputs, design.systems
    means = 50 - design.gap * np.arange(s)
    level = rng.normal(0, design.level, r)
    own = means + level[:, None] + rng.normal(0, design.taste, (r, s))
    if design.means is not None:
        own = design.means
    share = np.exp(rng.normal(0, design.busy, r))
    if design.largest:
        share = np.r_[design.largest, np.full(r - 1, (1 - design.largest) / (r - 1))]
    # raters of an output, drawn without replacement by their loads
    keys = rng.gumbel(size=(m, s, r)) + np.log(share)
    rank = np.argsort(np.argsort(-keys, axis=2), axis=2)
    i, k, j = np.nonzero(rank < (design.each or r))
    values = own[j, k] + rng.normal(0, design.input, m)[i]
    spread = design.noise * np.exp(rng.normal(0, design.scatter, r))
    values = values + spread[j] * rng.normal(0, 1, len(i))
    if design.steps:
        values = np.clip(np.round(values / design.steps) * design.steps, 0, 100)
    order = rng.permutation(len(i))
    truth = {Population.THESE: own.mean(axis=0), Population.LIKE: means}
    return (values[order], k[order], j[order], i[order]), truth


def measure(design, population, n_draws, seed):
    s = design.systems
    upper = np.triu_indices(s, 1)
    rows = []
    for task in range(n_draws):
        ratings, truths = draw(design, np.random.default_rng([seed, task]))
        found = estimate_systems(*ratings, population=population)
        truth = truths[population][[int(name) for name in found.systems]]
        reach = special.stdtrit(np.nan_to_num(found.freedom, nan=1.0), 0.975)
        reach = reach * np.sqrt(found.variance)
        gap = found.means[:, None] - found.means
        wrong = np.abs(gap - (truth[:, None] - truth)) > reach + 1e-9
        off = np.abs(found.means - truth) > np.diag(reach) + 1e-9
        adjusted = rank_systems(found).p_values[upper] <= 0.05
        rows.append(
            [
                (found.p_values[upper] <= 0.05).mean(),
                adjusted.mean(),
                1 - off.mean(),
                1 - wrong[upper].mean(),
                np.median(reach[upper]),
                np.median(np.diag(reach)),
                adjusted.sum() >= design.enough,
            ]
        )
    table = np.array(rows, float)
    return (
        table.mean(axis=0),
        table.std(axis=0) / n_draws**0.5,
        np.median(table, axis=0),
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--population", nargs="*", default=["these", "like"])
    options = parser.parse_args()
    print(
        f"{'design':30}{'':7}{'p<=.05':>12}{'Holm':>7}{'coverage':>13}{'of pairs':>13}"
        f"{'+- pair':>9}{'+- mean':>9}{'enough':>8}"
    )
    for name, design in DESIGNS.items():
        if options.only and name not in options.only:
            continue
        for population in map(Population, options.population):
            mean, error, median = measure(
                design, population, options.draws, options.seed
            )
            parts = [
                f"{100 * a:5.1f} ± {100 * b:3.1f}"
                for a, b in zip(mean, error, strict=True)
            ]
            print(
                f"{name:30}{population:7}{parts[0]:>12}{100 * mean[1]:7.1f}"
                f"{parts[2]:>13}{parts[3]:>13}{median[4]:9.2f}{median[5]:9.2f}"
                f"{100 * mean[6]:8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
