"""The values behind a board's ranks: the only module that applies a task's rule.

Pure: fits are computed and stored with it, releases are rebuilt with it, and all pages,
files and programs that show ranks or compare systems read them from it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.evaluation.stored_fit import as_json, from_json, short
from leaderboard.stats.ranking import RANK_RULE, RANK_SUM_RULE
from leaderboard.stats.resampling import Floats
from leaderboard.stats.systems.estimates import SystemEstimates, estimate_systems
from leaderboard.stats.systems.rank_sum import RankSumRanking, rank_sum_ranking
from leaderboard.stats.systems.ranks import Ranking, rank_systems
from leaderboard.tasks.config import RANK_SUMS, SIMULTANEOUS

RULES = {SIMULTANEOUS: RANK_RULE, RANK_SUMS: RANK_SUM_RULE}
# The test of a pair's significance, in few words.
TESTED = {
    SIMULTANEOUS: "after Holm’s correction for all pairs of the ranked systems",
    RANK_SUMS: "by unpaired one-sided rank-sum tests, not corrected for the number of pairs",
}


@dataclass(frozen=True)
class Compared:
    """Systems compared on the values that rank them.

    Differences in `fit` hold for other workers and instances. `rank_sums` are WMT's
    tests if the task ranks by these. `judged` is whether licensed judges help.
    """

    fit: SystemEstimates
    rank_sums: RankSumRanking | None = None
    judged: bool = False

    def ranking(self, systems: Collection[str]) -> Ranking:
        if self.rank_sums is not None:
            return self.rank_sums.of(systems).ranking()
        return rank_systems(self.fit, [n for n in systems if n in self.fit.systems])


def compare(
    values: Floats,
    systems: npt.NDArray[Any],
    workers: npt.NDArray[Any],
    instances: npt.NDArray[Any],
    days: npt.NDArray[Any] | None,
    *,
    rule: str,
    fit: SystemEstimates | None = None,
) -> Compared:
    """Compare systems on the values that rank them; `fit` is their fit if computed."""
    found = fit or estimate_systems(values, systems, workers, instances, days)
    if rule != RANK_SUMS:
        return Compared(found)
    return Compared(found, rank_sum_ranking(values, systems, instances))


def stored(compared: Compared, shown: SystemEstimates) -> dict[str, Any]:
    """Serialize the comparison, without parts that equal the `shown` fit."""
    parts: dict[str, Any] = {}
    if compared.fit is not shown:
        parts["compared"] = as_json(compared.fit)
    if compared.judged:
        parts["judged"] = True
    found = compared.rank_sums
    if found is not None:
        parts["rank_sums"] = {
            "systems": found.systems,
            "means": [short(mean) for mean in found.means.tolist()],
            "n_segments": found.n_segments.tolist(),
            "p_values": [[short(p) for p in row] for row in found.p_values.tolist()],
        }
    return parts


def read(criterion: Mapping[str, Any]) -> Compared:
    fit = from_json(criterion.get("compared", criterion))
    found = criterion.get("rank_sums")
    if found is None:
        return Compared(fit, judged=criterion.get("judged", False))
    return Compared(
        fit,
        RankSumRanking(
            list(found["systems"]),
            np.array(found["means"], dtype=np.float64),
            np.array(found["n_segments"], dtype=np.int64),
            np.array(found["p_values"], dtype=np.float64),
        ),
    )
