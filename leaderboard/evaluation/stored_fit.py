import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from leaderboard.stats.systems.estimates import SystemEstimates
from leaderboard.stats.systems.variances import Variances

# Published digits: far more than readers need, and fewer than the last bits, in which
# machines differ.
DIGITS = 9
_VECTORS = ("means", "n", "n_workers", "effective_workers", "largest_share")
# symmetric: the upper half suffices
_MATRICES = ("worker_part", "instance_part", "floor", "worker_freedom")


def as_json(fit: SystemEstimates) -> dict[str, Any]:
    """Return a fit rounded to nine digits; unknown numbers are None."""
    upper = np.triu_indices(len(fit.systems))
    stored: dict[str, Any] = {name: getattr(fit, name) for name in _VECTORS}
    stored |= {name: getattr(fit, name)[upper] for name in _MATRICES}
    variances, days = asdict(fit.variances), {}
    if fit.day_freedom:
        stored["day_part"] = fit.day_part[upper]
        days = {"day_freedom": short(fit.day_freedom)}
    else:
        # fits without days have the format from before days were modeled
        del variances["day"]
    if not fit.variances.taste:
        del variances["taste"]
    return {
        "systems": fit.systems,
        "n_instances": fit.n_instances,
        "variances": variances,
        **days,
        **{name: [short(x) for x in array.tolist()] for name, array in stored.items()},
    }


def from_json(stored: Mapping[str, Any]) -> SystemEstimates:
    n = len(stored["systems"])
    arrays = {name: np.array(stored[name], dtype=np.float64) for name in _VECTORS}
    for name in (*_MATRICES, "day_part"):
        matrix = np.zeros((n, n))
        if name in stored:
            matrix[np.triu_indices(n)] = np.array(stored[name], dtype=np.float64)
        arrays[name] = matrix + np.triu(matrix, 1).T
    return SystemEstimates(
        systems=list(stored["systems"]),
        n_instances=int(stored["n_instances"]),
        variances=Variances(**stored["variances"]),
        day_freedom=stored.get("day_freedom", 0.0),
        means=arrays.pop("means"),
        n=arrays.pop("n").astype(np.int64),
        n_workers=arrays.pop("n_workers").astype(np.int64),
        **arrays,
    )


def short(value: float) -> float | None:
    """Round to the published digits; unknown numbers become None."""
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")
