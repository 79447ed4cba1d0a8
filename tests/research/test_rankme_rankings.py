import itertools
import json

import pandas as pd
import pytest

from genie_research.papers.rankme.all_pairs import bootstrap_ranking
from leaderboard.stats.comparisons import comparisons_from_table
from leaderboard.stats.true_skill import true_skill
from tests.shared import SHARED, needs_shared

SYSTEMS = ["slug2slug", "tgen", "sheffield"]
PAIRS = list(itertools.combinations(range(3), 2))
MEASURED = list(
    itertools.product(
        ["likert", "plainme", "rankme"], ["informativeness", "naturalness"]
    )
)


def truth(name):
    items = json.loads((SHARED / "data" / "truth.json").read_text())["items"]
    return next(i for i in items if i["id"] == name)


def ratings(method, criterion):
    """A row per (instance, k-th judgement of it), a column per system."""
    path = SHARED / "data" / "rankme" / f"setup2_{method}_{criterion}.csv"
    frame = pd.read_csv(path)
    nth = frame.groupby(["mr_id", "system"]).cumcount().rename("nth")
    table = frame.pivot_table(
        index=["mr_id", nth], columns="system", values=criterion, aggfunc="first"
    )
    return table[SYSTEMS].to_numpy(dtype=float)


def triples(criterion):
    path = SHARED / "data" / "rankme" / f"setup2_rankme_{criterion}.csv"
    frame = pd.read_csv(path)
    table = frame.pivot_table(index="judgement", columns="system", values=criterion)
    return table[SYSTEMS].to_numpy(dtype=float)


def shares_of(criterion, n_resamples):
    """Draw judgments, as the paper does."""
    games = comparisons_from_table(triples(criterion))
    skills = true_skill(games, games.row, seed=1, n_orders=1, n_resamples=n_resamples)
    return skills.shares


@needs_shared
@pytest.mark.parametrize(("method", "criterion"), MEASURED)
def test_means_and_bootstrap_shares_are_the_known_ones(method, criterion):
    table = ratings(method, criterion)
    assert table.shape == (300, 3)
    found = bootstrap_ranking(table, seed=1, n_resamples=20_000)
    means = truth(f"rankme.mean.{method}.{criterion}")
    for system, mean in zip(SYSTEMS, found.means, strict=True):
        assert mean == pytest.approx(means["expected"][system], abs=means["tol"])
    shares = truth(f"rankme.rank.{method}.{criterion}")
    for i, j in PAIRS:
        expected = shares["expected"][f"{SYSTEMS[i]}>{SYSTEMS[j]}"]
        assert found.p_above[i, j] == pytest.approx(expected, abs=shares["tol"])


@needs_shared
@pytest.mark.parametrize("criterion", ["informativeness", "naturalness"])
def test_wins_ties_and_losses_are_the_known_ones(criterion):
    games = comparisons_from_table(triples(criterion))
    expected = truth(f"rankme.wtl.{criterion}")["expected"]
    for i, j in PAIRS:
        found = list(games.win_tie_loss(i, j))
        assert found == expected[f"{SYSTEMS[i]}-{SYSTEMS[j]}"]


@needs_shared
@pytest.mark.parametrize("criterion", ["informativeness", "naturalness"])
def test_trueskill_shares_are_the_known_ones(criterion):
    found = shares_of(criterion, n_resamples=2_000)
    item = truth(f"rankme.rank.trueskill.{criterion}")
    for i, j in PAIRS:
        expected = item["expected"][f"{SYSTEMS[i]}>{SYSTEMS[j]}"]
        assert found[i, j] == pytest.approx(expected, abs=item["tol"])
