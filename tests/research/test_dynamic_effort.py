import itertools
import math

import numpy as np
import pytest

from genie_research.papers.dynamic.effort import Stop, measure_effort
from genie_research.papers.dynamic.exact import exact_labels
from genie_research.papers.dynamic.labels import CollectedVotes, MaxThree, OneWorker
from genie_research.papers.dynamic.stopped_series import first_crossings, last_runs
from leaderboard.stats.stopping.sequential import BetaMixture, Hoeffding

FEW = CollectedVotes([7, 10, 2, 6, 9, 5, 8, 10, 1], [10] * 9)
MANY = CollectedVotes(np.random.default_rng(8).integers(3, 11, 120), [10] * 120)
STOPS = [
    Stop(Hoeffding(0.2)),
    Stop(Hoeffding(0.2), "last"),
    Stop(BetaMixture(0.2, a=1, b=1)),
    Stop(BetaMixture(0.2, a=1, b=1), "last"),
]


@pytest.mark.parametrize("stop", STOPS, ids=repr)
@pytest.mark.parametrize("strategy", [OneWorker(), MaxThree(), MaxThree(slip="B")])
def test_the_exact_effort_is_the_sum_over_everything_that_can_happen(stop, strategy):
    outcomes = strategy.outcomes(FEW)
    kinds, n = range(len(outcomes.labels)), outcomes.n_requests
    n = min(n, 9 if len(kinds) == 2 else 6)
    outcomes = type(outcomes)(outcomes.labels, outcomes.costs, outcomes.chances[:, :n])
    paths = np.array(list(itertools.product(kinds, repeat=n)))
    chance = np.prod(outcomes.chances[paths, np.arange(n)], axis=1)
    stopper = first_crossings if stop.reading == "first" else last_runs
    stopped = stopper(stop.rule, outcomes.labels[paths].astype(int))
    cost = np.where(np.arange(n) < stopped.n[:, None], outcomes.costs[paths], 0).sum(
        axis=1
    )
    decided = stopped.side != 0
    share = chance[decided].sum()
    exact = exact_labels(stop, outcomes)
    assert exact.share_decided == pytest.approx(share)
    if share > 0:
        mean = (chance * cost)[decided].sum() / share
        square = (chance * cost**2)[decided].sum() / share
        assert exact.mean == pytest.approx(mean)
        assert exact.sd == pytest.approx(math.sqrt(square - mean**2), abs=1e-5)
    else:
        assert math.isnan(exact.mean)


def test_many_runs_come_to_the_exact_effort():
    outcomes = MaxThree(slip="A").outcomes(MANY)
    stops = [
        Stop(Hoeffding(0.05)),
        Stop(Hoeffding(0.05), "last"),
        Stop(BetaMixture(0.05)),
    ]
    samples = measure_effort(outcomes, stops, 5_000, np.random.default_rng(6))
    for stop, sample in zip(stops, samples, strict=True):
        exact = exact_labels(stop, outcomes)
        n = 5_000 * exact.share_decided
        decided = sample.labels[sample.side != 0]
        assert decided.mean() == pytest.approx(
            exact.mean, abs=4 * exact.sd / math.sqrt(n) + 1e-9
        )
        assert decided.std() == pytest.approx(exact.sd, rel=0.05, abs=1e-9)
        spread = math.sqrt(exact.share_decided * (1 - exact.share_decided) / 5_000)
        assert sample.share_decided == pytest.approx(
            exact.share_decided, abs=4 * spread + 1e-12
        )
