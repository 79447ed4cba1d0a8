"""Inter-rater agreement by every coefficient that a table's shape allows."""

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats
from leaderboard.table_stats.read import Codes
from quality.agreement.icc import icc_forms, icc_one_way
from quality.agreement.kappa import (
    Agreement,
    cohen_kappa,
    fleiss_kappa,
    percentage_agreement,
)
from quality.agreement.krippendorff import Level, krippendorff_alpha
from quality.agreement.label_counts import LabelCounts, tally

# Limits of items x distinct values. Larger tables are not resampled; much larger ones
# have only ICC1, which then equals alpha on an interval scale to three digits.
_RESAMPLED, _COUNTED = 2e6, 1e7
_FEW_VALUES = 20


def coefficients(
    values: Floats, systems: Codes, workers: Codes, instances: Codes | None
) -> tuple[tuple[str, Agreement], ...]:
    """Return agreement on outputs with at least two raters; empty without such outputs."""
    if instances is None:
        return ()
    output = systems * (int(instances.max()) + 1) + instances
    # several ratings by the same worker count once, as their (lower) median
    order = np.lexsort((values, workers, output))
    opinion = output[order] * (int(workers.max()) + 1) + workers[order]
    _, first, times = np.unique(opinion, return_index=True, return_counts=True)
    kept = order[first + (times - 1) // 2]
    output, workers, values = output[kept], workers[kept], values[kept]
    _, item, counts = np.unique(output, return_inverse=True, return_counts=True)
    several = counts[item] > 1
    if not several.any():
        return ()
    item, workers, values = item[several], workers[several], values[several]
    found: list[tuple[str, Agreement]] = []
    distinct = np.unique(values)
    cells = len(np.unique(item)) * len(distinct)
    if cells <= _COUNTED:
        labels = tally(item, values)
        found += _of_counts(labels, len(distinct), 1_000 if cells <= _RESAMPLED else 0)
    groups = np.split(values[np.argsort(item, kind="stable")], _ends(item))
    forms = () if len(groups) < 2 else (False, True) if cells <= _COUNTED else (False,)
    for average in forms:
        one = icc_one_way(groups, average=average)
        found.append((f"ICC, {one.form}", one))
    return (*found, *_of_same_workers(values, item, workers))


def _ends(item: Codes) -> npt.NDArray[np.intp]:
    counts = np.bincount(item)
    return np.cumsum(counts[counts > 0])[:-1]


def _of_counts(
    labels: LabelCounts, n_values: int, resamples: int
) -> list[tuple[str, Agreement]]:
    few = n_values <= _FEW_VALUES
    levels: tuple[Level, ...] = ("ordinal", "interval", "nominal")
    found: list[tuple[str, Agreement]] = [
        (
            f"Krippendorff's alpha, {level}",
            krippendorff_alpha(labels, level, n_resamples=resamples),
        )
        for level in levels[: 2 + few]
    ]
    if few:
        found.append(("agreement", percentage_agreement(labels, n_resamples=resamples)))
        if len(np.unique(labels.counts.sum(axis=1))) == 1:
            kappa = fleiss_kappa(labels, n_resamples=resamples)
            found.append(("Fleiss' kappa", kappa))
    return found


def _of_same_workers(
    values: Floats, item: Codes, workers: Codes
) -> list[tuple[str, Agreement]]:
    """Return coefficients that need each worker's ratings of every item."""
    people, who = np.unique(workers, return_inverse=True)
    items, what = np.unique(item, return_inverse=True)
    if len(values) != len(people) * len(items) or min(len(people), len(items)) < 2:
        return []
    table = np.empty((len(items), len(people)))
    table[what, who] = values
    found: list[tuple[str, Agreement]] = [
        (f"ICC, {form}", one)
        for form, one in icc_forms(table).items()
        if not form.startswith("ICC1")
    ]
    if len(people) == 2:
        kappa = cohen_kappa(table[:, 0], table[:, 1], weights="quadratic")
        found.append(("Cohen's kappa, quadratic", kappa))
    return found
