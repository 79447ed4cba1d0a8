"""One campaign of a simulated crowd: items, test questions, doubles, and who answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from genie_research.crowds.kinds import HONEST, Kind, Work, weak
from quality.counts import Floats, Ints
from quality.detection.stats.assess import Ratings, Tests
from quality.detection.stats.fitted_detector import Bools

#: Quality of the systems; standard deviations of instances and of outputs.
MEANS: Floats = np.linspace(0.44, 0.68, 5)
INSTANCE_SD, OUTPUT_SD = 0.15, 0.08
SCALE: Floats = np.linspace(0, 1, 5)
#: An edited text deserves so much less; a positive test question deserves this.
_BROKEN, _GOOD = 0.45, 0.85
_MACHINE_SD, _MACHINE_FOLLOWS = 0.15, 0.4


@dataclass(frozen=True)
class CrowdPlan:
    """A crowd and its work.

    Attributes
    ----------
    bad, weak : float
        Shares of the workers; the others are honest, of every kind equally many.
    answers : int
        Of each worker.
    tests, doubles : float
        Share of test questions among the answers; of ordinary items rated twice.
    """

    bad: float
    answers: int
    weak: float = 0.0
    n_workers: int = 60
    tests: float = 0.1
    doubles: float = 0.1


@dataclass(frozen=True)
class Campaign:
    """All answers, and each worker's kind."""

    kinds: list[str]
    honest: Bools
    tests: Tests
    ratings: Ratings


def draw_campaign(
    plan: CrowdPlan,
    rng: np.random.Generator,
    honest: Mapping[str, Kind],
    bad: Mapping[str, Kind],
) -> Campaign:
    n_bad, n_weak = round(plan.bad * plan.n_workers), round(plan.weak * plan.n_workers)
    n_honest = plan.n_workers - n_bad - n_weak
    kinds = [*_evenly(list(bad), n_bad, rng), *_evenly(list(honest), n_honest, rng)]
    functions = {**bad, **honest, "weak rater": weak}
    kinds += ["weak rater"] * n_weak
    n_tests = round(plan.tests * plan.answers)
    items = _dealt(plan, plan.answers - n_tests, rng)
    n_instances = -(-(int(items.max()) + 1) // len(MEANS))
    truth = outputs(n_instances, rng).ravel()
    machine = _machine(truth, rng)
    partners = rng.choice(SCALE, (plan.n_workers, len(truth)))
    columns: list[list[Any]] = []
    for worker, kind in enumerate(kinds):
        source = rng.integers(0, len(truth), n_tests)
        test = np.where((np.arange(n_tests) + worker) % 2, 1, -1)
        broken = np.clip(
            truth[source] - _BROKEN + rng.normal(0, 0.12, n_tests), 0.05, 0.45
        )
        deserved = np.where(test > 0, _GOOD + rng.normal(0, 0.08, n_tests), broken)
        own, order = items[worker], rng.permutation(plan.answers)
        all_of = np.concatenate([own, source])
        polarity = np.concatenate([0 * own, test])
        work = Work(
            np.concatenate([truth[own], deserved])[order],
            polarity[order],
            rng.integers(8, 40, plan.answers),
            np.concatenate([machine[own], _machine(deserved, rng)])[order],
            partners[worker // 2, all_of][order],
            SCALE,
        )
        answers, seconds = functions[kind](rng, work)
        level = np.rint(np.clip(answers, 0, 1) * (len(SCALE) - 1)) / (len(SCALE) - 1)
        place = np.arange(plan.answers)
        columns.append(
            [0.0 * place + worker, all_of[order], work.test, level, seconds, place]
        )
    worker, item, test, value, time, place = np.concatenate(columns, axis=1)
    return Campaign(
        kinds,
        np.array([kind in honest for kind in kinds]),
        *_tables(worker, item, test, value, time, place, n_instances),
    )


def _evenly(names: Sequence[str], n: int, rng: np.random.Generator) -> list[str]:
    first = int(rng.integers(len(names)))
    return [names[(first + place) % len(names)] for place in range(n)]


def _dealt(plan: CrowdPlan, n_each: int, rng: np.random.Generator) -> Ints:
    """Deal items to workers; doubles go to two different ones."""
    n = plan.n_workers * n_each
    n_items = int(np.ceil(n / (1 + plan.doubles)))
    items = np.concatenate(
        [rng.permutation(n_items), rng.permutation(n_items)[: n - n_items]]
    )
    worker = rng.permutation(np.repeat(np.arange(plan.n_workers), n_each))
    first = np.empty(n_items, dtype=np.int64)
    first[items[:n_items]] = worker[:n_items]
    while (same := np.flatnonzero(worker[n_items:] == first[items[n_items:]])).size:
        one, other = n_items + same[0], int(rng.integers(n_items, n))
        worker[[one, other]] = worker[[other, one]]
    return items[np.argsort(worker, kind="stable")].reshape(plan.n_workers, n_each)


def outputs(n_instances: int, rng: np.random.Generator) -> Floats:
    """Return what outputs deserve, shape (n_systems, n_instances)."""
    shared = MEANS[:, None] + rng.normal(0, INSTANCE_SD, n_instances)
    return np.asarray(shared + rng.normal(0, OUTPUT_SD, shared.shape))


def _machine(truth: Floats, rng: np.random.Generator) -> Floats:
    own = (1 - _MACHINE_FOLLOWS**2) ** 0.5 * rng.normal(size=len(truth))
    quality = (truth - MEANS.mean()) / 0.19
    return np.asarray(0.66 + _MACHINE_SD * (_MACHINE_FOLLOWS * quality + own))


def _tables(
    worker: Floats,
    item: Floats,
    test: Floats,
    value: Floats,
    time: Floats,
    place: Floats,
    n_instances: int,
) -> tuple[Tests, Ratings]:
    who, what, order = (column.astype(np.int64) for column in (worker, item, place))
    asked, rated = np.flatnonzero(test), np.flatnonzero(test == 0)
    good = test[asked] > 0
    tests = Tests(
        who[asked],
        np.arange(len(asked)),
        good.astype(np.int64),
        (value[asked] > 0.5) == good,
        order[asked],
        value[asked],
        what[asked] % n_instances,
        0 * asked,
        time[asked],
    )
    system, instance = np.divmod(what[rated], n_instances)
    return tests, Ratings(
        who[rated],
        what[rated],
        system,
        instance,
        0 * rated,
        value[rated],
        order[rated],
        time[rated],
    )


def deserved_means(
    honest: Mapping[str, Kind] = HONEST, n_workers: int = 6_000
) -> Floats:
    """Return each system's mean over all honest workers and outputs, in points."""
    rng = np.random.default_rng(99)
    total = np.zeros(len(MEANS))
    for kind in honest.values():
        for _ in range(n_workers):
            truth = outputs(8, rng).ravel()
            ones = np.ones(len(truth), dtype=np.int64)
            work = Work(truth, 0 * ones, 20 * ones, truth, truth, SCALE)
            value = np.rint(4 * np.clip(kind(rng, work)[0], 0, 1)) / 4
            total += value.reshape(len(MEANS), -1).mean(axis=1)
    return np.asarray(100 * total / (n_workers * len(honest)))
