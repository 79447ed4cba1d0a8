"""Compare forecasts of widths and detectable differences with simulated studies.

    python -m benchmarks.bench_outlook --studies 300 --pilots 100

Raters differ in level and in taste for systems, instances in difficulty, and outputs of
one instance, too. Each design is simulated with systems of equal quality; the detectable
difference is the one that the board's test finds in 80% of studies. The forecast is made
once from the true variances and once after each pilot; printed are the ratio of forecast
to outcome, its 10% and 90% quantiles over pilots, and the share within a third.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy import special

from leaderboard.stats.mixed import (
    Components,
    blended_components,
    pilot_components,
    usual_components,
)
from leaderboard.stats.planning import outlook
from leaderboard.stats.systems.estimates import estimate_systems


@dataclass(frozen=True)
class Design:
    n_raters: int
    n_instances: int = 80
    each: int = 1
    n_systems: int = 4
    level: float = 10.0
    taste: float = 5.0
    instance: float = 15.0
    output: float = 8.0
    noise: float = 24.0

    @property
    def n_pairs(self) -> int:
        return self.n_systems * (self.n_systems - 1) // 2


DESIGNS = [
    *(Design(n) for n in (3, 5, 10, 20)),
    Design(3, each=3),
    Design(5, each=3, level=5.0, taste=3.0),
    Design(10, n_instances=200, level=15.0, taste=8.0),
    Design(20, n_instances=300, each=2, noise=15.0),
    Design(10, level=5.0, taste=2.0, instance=10.0, output=12.0, noise=15.0),
]


def draw(design, rng, *, n_instances=None, one_system=False):
    """Draw ratings; with `one_system`, pages show the systems in turn and all rate all."""
    n = n_instances or design.n_instances
    k, r = design.n_systems, design.n_raters
    each = r if one_system else min(design.each, r)
    i, s, turn = np.meshgrid(np.arange(n), np.arange(k), np.arange(each), indexing="ij")
    first = rng.permuted(np.arange(n) % r)
    i, s, w = i.ravel(), s.ravel(), (first[i.ravel()] + turn.ravel()) % r
    if one_system:
        kept = s == i % k
        i, s, w = i[kept], s[kept], w[kept]
    values = 60 + rng.normal(0, design.instance, n)[i]
    values += rng.normal(0, design.output, (n, k))[i, s]
    values += (
        rng.normal(0, design.level, r)[w] + rng.normal(0, design.taste, (r, k))[w, s]
    )
    return values + rng.normal(0, design.noise, len(values)), s, w, i


def outcome(design, n_studies, seed, **options):
    """Return the median half-width of a mean and the difference found with 80% power."""
    widths, gaps, needed = [], [], []
    upper = np.triu_indices(design.n_systems, 1)
    level = 1 - 0.05 / 2 / design.n_pairs
    for study in range(n_studies):
        found = estimate_systems(
            *draw(design, np.random.default_rng([seed, study])), **options
        )
        reach = special.stdtrit(found.freedom, 0.975) * np.sqrt(found.variance)
        widths.append(np.diag(reach))
        gaps.append((found.means[:, None] - found.means)[upper])
        needed.append(
            (special.stdtrit(found.freedom, level) * np.sqrt(found.variance))[upper]
        )
    short = np.array(needed) - np.array(gaps)
    # a true difference as large as this moves four of five above what is needed
    return float(np.median(widths)), float(np.quantile(short, 0.8))


def forecast(design, components, *, fixed, apart):
    size = design.n_instances, design.n_raters, design.each
    return np.array(
        outlook(components, *size, fixed=fixed, apart=apart, n_pairs=design.n_pairs)
    )


def after_pilots(design, n_pilots, seed, *, n_pages, n_people):
    """Return forecasts for raters like these, from pilots of pages that all people rate."""
    small = Design(**{**vars(design), "n_raters": n_people})
    rows = []
    for pilot in range(n_pilots):
        rng = np.random.default_rng([seed, 1, pilot])
        values, system, worker, page = draw(
            small, rng, n_instances=n_pages, one_system=True
        )
        found = pilot_components(
            values,
            instances=page,
            workers=worker,
            systems=system,
            tastes=n_people * system + worker,
        )
        found = blended_components(found, usual_components(), n_people)
        rows.append(forecast(design, found, fixed=False, apart=0.5))
    return np.array(rows)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--studies", type=int, default=300)
    options.add_argument("--pilots", type=int, default=100)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    for design in DESIGNS:
        real = np.array(outcome(design, given.studies, given.seed))
        true = Components(
            design.noise**2,
            design.instance**2 + design.output**2,
            design.level**2,
            taste=design.taste**2,
        )
        share = design.output**2 / true.instance
        exact = forecast(design, true, fixed=False, apart=share) / real
        print(f"{design}\n  outcome ± {real[0]:.1f}, difference {real[1]:.1f}")
        print(f"  known variances: {exact[0]:.2f}, {exact[1]:.2f} of the outcome")
        for size in ((10, 3), (30, 5), (60, 10)):
            rows = (
                after_pilots(
                    design, given.pilots, given.seed, n_pages=size[0], n_people=size[1]
                )
                / real
            )
            for name, ratio in zip(("width", "difference"), rows.T, strict=True):
                low, middle, high = np.quantile(ratio, [0.1, 0.5, 0.9])
                within = np.mean(abs(ratio - 1) <= 1 / 3)
                print(
                    f"  pilot {size[0]} x {size[1]}, {name}: {middle:.2f} ({low:.2f} to "
                    f"{high:.2f}), within a third {100 * within:.0f}%",
                    flush=True,
                )


if __name__ == "__main__":
    main()
