"""Dynamic simulation: all strategies and settings, against one Python loop per label.

python -m benchmarks.bench_dynamic [--iterations 1000] [--loop-iterations 2] [--seed 21]

Both sides do the work of the paper's table 3: 3 settings x 5 strategies, the paper's rule
(delta .001) read as the last unbroken run. The loop draws workers, compares capabilities
with difficulties and keeps running shares in plain Python; it is timed on few iterations,
in the same process. The means of both are printed side by side: it is the same study.
"""

import argparse
import math
import resource
import time

import numpy as np

from genie_research.papers.dynamic.effort import Stop, measure_effort
from genie_research.papers.dynamic.labels import Majority, MaxThree, OneWorker
from genie_research.papers.dynamic.simulation import (
    FixedWorker,
    Population,
    SimulatedVotes,
    draw_difficulties,
)
from leaderboard.stats.stopping.sequential import Hoeffding

DELTA = 0.001
SETTINGS = [(0.25, 3500), (0.125, 5000), (0.0625, 15000)]
STRATEGIES = {
    "7 Workers": Majority(7),
    "5 Workers": Majority(5),
    "Max 3 Workers": MaxThree(distinct=False),
    "Fixed Worker": None,
    "One Worker": OneWorker(),
}
PROMISED = 300
MEMORY_MB = 1024


def one_label(capability, difficulty, rng):
    return 1 if rng.random() < (capability * difficulty + 1) / 2 else 0


def loop_iteration(name, pool, requests, rng):
    fixed = pool[int(rng.random() * len(pool))]
    labels, costs = [], []
    for difficulty in requests:
        if name == "Fixed Worker":
            found = [one_label(fixed, difficulty, rng)]
        elif name == "One Worker":
            worker = pool[int(rng.random() * len(pool))]
            found = [one_label(worker, difficulty, rng)]
        elif name == "Max 3 Workers":
            found = []
            while len(found) < 2 or (len(found) == 2 and found[0] != found[1]):
                worker = pool[int(rng.random() * len(pool))]
                found.append(one_label(worker, difficulty, rng))
        else:
            chosen = set()
            while len(chosen) < int(name[0]):
                chosen.add(int(rng.random() * len(pool)))
            found = [one_label(pool[w], difficulty, rng) for w in chosen]
        labels.append(1 if sum(found) * 2 > len(found) else 0)
        costs.append(len(found))
    total, cost, effort, side = 0, 0, 0, 0
    for n, label in enumerate(labels, 1):
        total += label
        cost += costs[n - 1]
        share, bound = total / n, math.sqrt(-math.log(DELTA) / (2 * n))
        now = 1 if share - bound > 0.5 else -1 if share + bound < 0.5 else 0
        if now != side:
            effort, side = cost, now
    return effort if side else cost


class PlainRandom:
    """Uniform numbers one at a time, without numpy's cost of a scalar draw."""

    def __init__(self, rng):
        self.rng, self.block, self.at = rng, [], 0

    def random(self):
        if self.at == len(self.block):
            self.block, self.at = self.rng.random(100_000).tolist(), 0
        self.at += 1
        return self.block[self.at - 1]


def study(seed):
    rng = np.random.default_rng(seed)
    for mean, n in SETTINGS:
        population = Population(mean, 0.1, n)
        pool = population.draw_workers(rng)[0]
        yield mean, pool, draw_difficulties(n, mean, 0.1, rng)


def run_ours(iterations, seed):
    means, stops = {}, [Stop(Hoeffding(DELTA), "last")]
    rng = np.random.default_rng(seed + 1)
    for mean, pool, requests in study(seed):
        votes = SimulatedVotes(pool, requests)
        for name, strategy in STRATEGIES.items():
            labelling = (
                strategy.outcomes(votes) if strategy else FixedWorker(pool, requests)
            )
            [sample] = measure_effort(labelling, stops, iterations, rng)
            means[mean, name] = sample.mean
    return means


def run_loop(iterations, seed):
    means = {}
    rng = PlainRandom(np.random.default_rng(seed + 2))
    for mean, pool, requests in study(seed):
        pool, requests = pool.tolist(), requests.tolist()
        for name in STRATEGIES:
            efforts = [
                loop_iteration(name, pool, requests, rng) for _ in range(iterations)
            ]
            means[mean, name] = sum(efforts) / iterations
    return means


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--loop-iterations", type=int, default=2)
    parser.add_argument("--seed", type=int, default=21)
    options = parser.parse_args()
    start = time.perf_counter()
    ours = run_ours(options.iterations, options.seed)
    ours_seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    start = time.perf_counter()
    loop = run_loop(options.loop_iterations, options.seed)
    loop_seconds = time.perf_counter() - start
    for key in ours:
        print(
            f"mu {key[0]:<7} {key[1]:14} ours {ours[key]:8.0f}  loop {loop[key]:8.0f}"
        )
    each = ours_seconds / options.iterations
    loop_each = loop_seconds / options.loop_iterations
    ratio = loop_each / each
    print(
        f"ours {ours_seconds:.2f} s for {options.iterations} iterations"
        f" ({each * 1000:.2f} ms each), {memory:.0f} MB at most;"
        f" loop {loop_each * 1000:.0f} ms each; ratio {ratio:.0f}"
    )
    if ratio < PROMISED or memory > MEMORY_MB:
        raise SystemExit(f"promised: {PROMISED} times faster, under {MEMORY_MB} MB")


if __name__ == "__main__":
    main()
