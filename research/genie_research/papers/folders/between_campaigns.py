"""Agreement of two campaigns over the same segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leaderboard.papers.figures import Computed

if TYPE_CHECKING:
    import pandas as pd


def agreement(first: pd.Series, second: pd.Series) -> Computed:
    """Compare two campaigns' segment scores, and the systems' means.

    Scores are indexed by system and segment; only common ones count. Returns n, pearson
    and kendall_b over segments of all systems, spearman_systems and kendall_systems
    over systems' means on the common segments.
    """
    import pandas as pd
    from scipy import stats

    both = pd.concat([first, second], axis=1, join="inner", keys=["a", "b"]).dropna()
    if both.empty:
        return {"n": 0.0}
    means = both.groupby(level="system").mean()
    found = {
        "pearson": stats.pearsonr(both["a"], both["b"]).statistic,
        "kendall_b": stats.kendalltau(both["a"], both["b"]).statistic,
        "spearman_systems": stats.spearmanr(means["a"], means["b"]).statistic,
        "kendall_systems": stats.kendalltau(means["a"], means["b"]).statistic,
    }
    return {"n": float(len(both)), **{name: float(v) for name, v in found.items()}}
