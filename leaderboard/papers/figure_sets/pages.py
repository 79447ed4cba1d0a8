"""Several outputs on a page: pairs, Bradley-Terry, TrueSkill, medians and ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from leaderboard.papers.figures import Computed, Figures, Settings, Value, by_row, ranks
from leaderboard.stats.bradley_terry import (
    BradleyTerry,
    bradley_terry,
    bradley_terry_by_worker,
)
from leaderboard.stats.comparisons import Comparisons, compare
from leaderboard.stats.systems.weighting import contrasts
from leaderboard.stats.true_skill import true_skill

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments, Texts

# A number that raters type, on a scale that most of them end at 100.
_MUCH = 200
_WALD = 1.96


class Pages(Figures):
    slug = "pages"
    layouts = ("rankme-pages",)
    title = "Several outputs rated on one page"
    names = {
        "rows": "pages filled in, each by one worker",
        "pages": "distinct sets of outputs shown together",
        "workers": "people",
        "systems": "systems",
        "inputs": "distinct inputs",
        "ratings": "single ratings",
        "pairs": "pairs of outputs on one page",
        "pairs_tied": "of those, with equal numbers",
        "pairs_same_text": "of those, with the same text twice",
        "pairs_same_text_tied": "of those, tied",
        "max_value": "largest number given",
        "values_over_200": "numbers over 200",
        "n": "ratings of a system",
        "median": "median of its numbers",
        "mean_rank": "mean rank on the page, 1 is best, ties share",
        "win_share": "of its pairs, won ones and half of the tied ones",
        "bt": "Bradley-Terry strength, natural log, mean 0, ties half a win",
        "bt_se_worker": "its standard error with each worker's pairs dependent (CR0)",
        "trueskill_centred": "TrueSkill mean over 20 orders, less the mean of all",
        "trueskill_rank": "place by that",
        "wins": "of a pair A>B: how often A had the larger number",
        "ties": "how often both had the same",
        "bt_difference": "difference of their strengths",
        "se_wald": "its standard error with all pairs independent",
        "se_worker": "the same by worker",
        "pairs_apart_wald": "pairs of systems further apart than 1.96 of the first",
        "pairs_apart_worker": "the same with the second",
        "se_ratio_median": "median ratio of the two",
    }

    @classmethod
    def compute(cls, judgments: Judgments, settings: Settings) -> Computed:
        """Compute all figures; `seed` of the settings draws TrueSkill's orders."""
        judged = judgments.judged
        judged = judged[judged["value"].notna()]
        screen = judged.groupby(["worker", "page"], sort=False).ngroup()
        pairs = _pairs(judged.assign(screen=screen))
        if (pairs["system_x"] == pairs["system_y"]).any():
            raise ValueError("A page shows a system twice.")
        names = sorted(judged["system"].unique())
        place = {name: i for i, name in enumerate(names)}
        games = compare(
            pairs["system_x"].map(place),
            pairs["system_y"].map(place),
            np.sign(pairs["value_x"] - pairs["value_y"]),
            len(names),
        )
        found = _counts(judged, screen, pairs, judgments.texts)
        found |= _of_systems(judged, screen, games, names)
        found |= _strengths(games, pairs["worker_x"], names)
        skills = true_skill(
            games, pairs["worker_x"], seed=int(settings.get("seed", 0)), n_resamples=2
        )
        centered = dict(zip(names, skills.differences, strict=True))
        found |= by_row("trueskill_centred", centered)
        return found | by_row("trueskill_rank", ranks(centered))


def _pairs(judged: pd.DataFrame) -> pd.DataFrame:
    shown = judged[["screen", "worker", "instance", "system", "value"]]
    shown = shown.assign(row=np.arange(len(shown)))
    both = shown.merge(shown, on="screen")
    return both[both["row_x"] < both["row_y"]].reset_index(drop=True)


def _counts(
    judged: pd.DataFrame, screen: pd.Series, pairs: pd.DataFrame, texts: Texts
) -> Computed:
    tied = pairs["value_x"] == pairs["value_y"]
    found = {
        "rows": screen.nunique(),
        "pages": _distinct(judged, screen),
        "workers": judged["worker"].nunique(),
        "systems": judged["system"].nunique(),
        "inputs": judged["instance"].nunique(),
        "ratings": len(judged),
        "pairs": len(pairs),
        "pairs_tied": tied.sum(),
        "max_value": judged["value"].max(),
        "values_over_200": (judged["value"] > _MUCH).sum(),
    }
    if texts.outputs:
        left, right = (
            [texts.outputs.get(key) for key in zip(pairs[s], pairs[i], strict=True)]
            for s, i in (("system_x", "instance_x"), ("system_y", "instance_y"))
        )
        same = np.array(
            [a is not None and a == b for a, b in zip(left, right, strict=True)]
        )
        found["pairs_same_text"] = same.sum()
        found["pairs_same_text_tied"] = (same & tied).sum()
    return {name: float(value) for name, value in found.items()}


def _distinct(judged: pd.DataFrame, screen: pd.Series) -> int:
    """Count the sets of outputs shown together, each once for all its workers."""
    keys = judged.assign(screen=screen).sort_values("system")
    shown = keys["instance"] + "\n" + keys["system"]
    return len(set(shown.groupby(keys["screen"]).agg("\n".join)))


def _of_systems(
    judged: pd.DataFrame, screen: pd.Series, games: Comparisons, names: list[str]
) -> Computed:
    by_system = judged.groupby("system")["value"]
    rank = judged.groupby(screen)["value"].rank(ascending=False)
    wins, ties = games.wins, games.ties
    met = wins + wins.T + ties
    with np.errstate(invalid="ignore"):
        share = (wins + ties / 2).sum(axis=1) / met.sum(axis=1)
    found = by_row("n", by_system.size()) | by_row("median", by_system.median())
    found |= by_row("mean_rank", rank.groupby(judged["system"]).mean())
    return found | by_row("win_share", dict(zip(names, share, strict=True)))


def _strengths(games: Comparisons, workers: pd.Series, names: list[str]) -> Computed:
    fit = bradley_terry(games.wins + games.ties / 2)
    by_worker = bradley_terry_by_worker(games, workers, ties="half")
    # CR0: without the small-sample factor for few workers
    n_workers = workers.nunique()
    clustered = _errors(by_worker) * ((n_workers - 1) / n_workers) ** 0.5
    alone = _errors(fit)
    found = by_row("bt", dict(zip(names, fit.strengths, strict=True)))
    found |= by_row("bt_se_worker", dict(zip(names, np.diag(clustered), strict=True)))
    first, second = np.triu_indices(len(names), 1)
    gaps = fit.strengths[first] - fit.strengths[second]
    wald, worker = alone[first, second], clustered[first, second]
    for i, j, gap, *pair in zip(first, second, gaps, wald, worker, strict=True):
        row = f"{names[i]}>{names[j]}"
        found[f"{row}/wins"] = float(games.wins[i, j])
        found[f"{names[j]}>{names[i]}/wins"] = float(games.wins[j, i])
        found[f"{row}/ties"] = float(games.ties[i, j])
        found[f"{row}/bt_difference"] = float(gap)
        found[f"{row}/se_wald"], found[f"{row}/se_worker"] = map(float, pair)
    apart: dict[str, Value] = {
        "pairs_apart_wald": float((np.abs(gaps) > _WALD * wald).sum()),
        "pairs_apart_worker": float((np.abs(gaps) > _WALD * worker).sum()),
        "se_ratio_median": float(np.median(worker / wald)),
    }
    return found | apart


def _errors(fit: BradleyTerry) -> np.ndarray:
    return np.sqrt(np.maximum(contrasts(fit.covariance), 0.0))
