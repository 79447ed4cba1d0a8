"""The published data under our definitions, against values computed independently."""

import json
import math

import numpy as np
import pandas as pd
import pytest

from genie_research.papers.dynamic.effort import Stop, measure_effort
from genie_research.papers.dynamic.exact import exact_labels
from genie_research.papers.dynamic.labels import (
    CollectedVotes,
    Majority,
    MaxThree,
    OneWorker,
)
from genie_research.papers.dynamic.simulation import (
    FixedWorker,
    FreshRequests,
    Population,
    SimulatedVotes,
)
from leaderboard.stats.stopping.sequential import Hoeffding, NormalMixture
from tests.shared import SHARED, needs_shared

LOSER = {"v1": "A", "r1": "B"}  # which side the cost slip of the published code hits
SETTINGS = {"0.25": 3500, "0.125": 5000}


def truth(prefix, part=""):
    if not (SHARED / "data" / "truth.json").exists():
        return []
    items = json.loads((SHARED / "data" / "truth.json").read_text())["items"]
    return [
        item for item in items if item["id"].startswith(prefix) and part in item["id"]
    ]


def collected(experiment):
    labels = pd.read_csv(SHARED / "data" / "dynamic" / f"{experiment}.csv")
    per_pair = (
        (labels["winner"] == "CGA").groupby(labels["pair_id"]).agg(["sum", "size"])
    )
    return CollectedVotes(per_pair["sum"], per_pair["size"])


def strategy_of(key, experiment):
    return {
        "mv7": Majority(7),
        "mv5": Majority(5),
        "max3": MaxThree(),
        "max3_slip": MaxThree(slip=LOSER[experiment]),
        "one": OneWorker(),
    }[key]


def stop_of(reading, delta):
    if reading == "cs":
        return Stop(NormalMixture(delta))
    return Stop(Hoeffding(delta), reading)


@needs_shared
@pytest.mark.parametrize(
    "item",
    # one delta of three for each experiment
    truth("dynamic.table6.v1.", ".0.01.") + truth("dynamic.table6.r1.", ".0.001."),
    ids=lambda item: item["id"],
)
def test_the_effort_on_collected_labels_is_that_of_many_runs(item):
    _, _, experiment, key, zero, digits, reading = item["id"].split(".")
    outcomes = strategy_of(key, experiment).outcomes(collected(experiment))
    found = exact_labels(stop_of(reading, float(f"{zero}.{digits}")), outcomes)
    expected, runs = item["expected"], 20_000
    decided = expected["decided"]
    assert found.mean == pytest.approx(
        expected["mean"], abs=4 * expected["sd"] / math.sqrt(runs * decided) + 0.3
    )
    assert found.share_decided == pytest.approx(
        decided, abs=4 * math.sqrt(decided * (1 - decided) / runs) + 0.003
    )


@needs_shared
@pytest.mark.parametrize("item", truth("dynamic.table7."), ids=lambda item: item["id"])
def test_the_share_of_runs_that_decide_is_that_of_many_runs(item):
    _, _, experiment, zero, digits = item["id"].split(".")
    outcomes = OneWorker().outcomes(collected(experiment))
    for reading, expected in item["expected"].items():
        found = exact_labels(stop_of(reading, float(f"{zero}.{digits}")), outcomes)
        p = expected / 100
        assert found.share_decided == pytest.approx(
            p, abs=4 * math.sqrt(p * (1 - p) / 20_000)
        )


@needs_shared
@pytest.mark.parametrize("requests", ["seed21", "fresh", "fresh_sd0.1"])
@pytest.mark.parametrize("mean", SETTINGS)
def test_the_simulation_needs_the_labels_of_the_reference_runs(requests, mean):
    runs, n, rng = 1000, SETTINGS[mean], np.random.default_rng(17)
    folder = SHARED / "data" / "dynamic"
    z = np.loadtxt(folder / "sim_seed21_z.txt")[:n]
    pool = np.loadtxt(folder / "sim_seed21_capability.txt")
    listed = np.clip(float(mean) + math.sqrt(0.1) * z, -1, 1)
    population = Population(float(mean), 0.01 if "sd0.1" in requests else 0.1, n)
    strategies = {
        "mv7": Majority(7),
        "mv5": Majority(5),
        "max3": MaxThree(distinct=False),
        "one": OneWorker(),
        "fixed": None,
    }
    wanted = truth(f"dynamic.table3.{requests}.{mean}.")
    for key, strategy in strategies.items():
        if requests != "seed21":
            labelling = FreshRequests(population, strategy, pool)
        elif strategy is None:
            labelling = FixedWorker(pool, listed)
        else:
            labelling = strategy.outcomes(SimulatedVotes(pool, listed))
        readings = ("last", "first")
        samples = measure_effort(
            labelling, [Stop(Hoeffding(0.001), r) for r in readings], runs, rng
        )
        for reading, sample in zip(readings, samples, strict=True):
            [item] = [i for i in wanted if i["id"].endswith(f".{key}.{reading}")]
            expected = item["expected"]
            assert sample.mean == pytest.approx(
                expected["mean"],
                abs=4 * expected["sd"] / math.sqrt(runs) + 0.005 * expected["mean"],
            ), item["id"]
