"""Measure differences of systems whose crowds differ and are linked by anchors.

    python -m benchmarks.bench_campaigns --boards 400

Each system has a separate campaign and crowd; each later campaign rates outputs of the
first system, too. Printed are the coverage of 95% intervals of all differences, without
and with anchors, with the Monte-Carlo error over boards, and the median width with
anchors as a multiple of that without.
"""

import argparse
from dataclasses import dataclass

import numpy as np
from scipy import special

from leaderboard.stats.systems.estimates import estimate_systems


@dataclass(frozen=True)
class Board:
    crowd_sd: float = 0.0
    n_systems: int = 5
    n_workers: int = 10
    n_instances: int = 100
    n_anchors: int = 20
    bias_sd: float = 10.0
    load_sd: float = 1.0
    instance_sd: float = 15.0
    output_sd: float = 8.0
    noise_sd: float = 24.0


DESIGNS = {
    "as in S16": {},
    "even loads": {"load_sd": 0.0},
    "equal workers": {"bias_sd": 0.0},
    "strict workers": {"bias_sd": 15.0},
    "300 instances": {"n_instances": 300},
    "two systems": {"n_systems": 2},
    "ten systems": {"n_systems": 10},
    "three workers": {"n_workers": 3, "load_sd": 0.3},
    "quiet ratings": {"noise_sd": 10.0, "bias_sd": 5.0, "output_sd": 4.0},
    "60 workers": {"n_workers": 60, "n_instances": 300},
}
CROWD_SDS = (0.0, 2.5, 5.0, 10.0)


def draw_board(board, rng):
    """Draw values, systems, workers, instances and campaigns of equally good systems."""
    n, k, w = board.n_instances, board.n_systems, board.n_workers
    instance = rng.normal(0, board.instance_sd, n)
    output = rng.normal(0, board.output_sd, (k, n))
    anchors = rng.permutation(n)[: board.n_anchors]
    parts = []
    for campaign in range(k):
        level = rng.normal(0, board.crowd_sd) + rng.normal(0, board.bias_sd, w)
        share = np.exp(rng.normal(0, board.load_sd, w))
        again = anchors if campaign else anchors[:0]
        place = np.concatenate([np.arange(n), again])
        system = np.repeat([campaign, 0], [n, len(again)])
        who = rng.choice(w, len(place), p=share / share.sum())
        value = 60 + instance[place] + output[system, place] + level[who]
        value += rng.normal(0, board.noise_sd, len(place))
        parts.append(
            (value, system, campaign * w + who, place, np.full(len(place), campaign))
        )
    return [np.concatenate(columns) for columns in zip(*parts, strict=True)]


def covered(found):
    """Return whether each interval of a difference contains 0, and its half-width."""
    upper = np.triu_indices(len(found.systems), 1)
    gap = (found.means[:, None] - found.means)[upper]
    reach = special.stdtrit(found.freedom[upper], 0.975) * np.sqrt(
        found.variance[upper]
    )
    return np.abs(gap) <= reach, reach


def measure(board, n_boards, seed=0):
    """Return coverage without and with anchors, its error, and the ratio of widths."""
    rows = []
    for number in range(n_boards):
        *columns, campaigns = draw_board(board, np.random.default_rng([seed, number]))
        own = columns[1] == campaigns
        before = covered(estimate_systems(*(column[own] for column in columns)))
        rows.append(
            (*before, *covered(estimate_systems(*columns, campaigns=campaigns)))
        )
    without, width, linked, linked_width = map(np.array, zip(*rows, strict=True))
    error = linked.mean(axis=1).std() / n_boards**0.5
    ratio = np.median(linked_width) / np.median(width)
    return float(without.mean()), float(linked.mean()), float(error), float(ratio)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--boards", type=int, default=400)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=DESIGNS)
    given = options.parse_args()
    for name in given.designs:
        for sd in CROWD_SDS:
            board = Board(sd, **DESIGNS[name])
            before, now, error, ratio = measure(board, given.boards, given.seed)
            print(
                f"{name}, crowds ± {sd:g}: without anchors {100 * before:.1f}%, with "
                f"{100 * now:.1f} ± {100 * error:.1f}%, width x {ratio:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
