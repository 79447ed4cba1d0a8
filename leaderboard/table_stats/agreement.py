"""Inter-rater agreement by every coefficient that a table's shape allows."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from leaderboard.stats.resampling import Floats
from leaderboard.table_stats.read import Codes
from quality.agreement.icc import icc_forms, icc_one_way
from quality.agreement.kappa import cohen_kappa, fleiss_kappa, percentage_agreement
from quality.agreement.krippendorff import krippendorff_alpha
from quality.agreement.label_counts import LabelCounts, tally

# Limits of items x distinct values. Larger tables are not resampled; much larger ones
# have only ICC1, which then equals alpha on an interval scale to three digits.
_RESAMPLED, _COUNTED = 2e6, 1e7
_FEW_VALUES = 20


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement, with its 95% interval if there is one."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    n_items: int


def coefficients(
    values: Floats, systems: Codes, workers: Codes, instances: Codes | None
) -> tuple[Coefficient, ...]:
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
    found = []
    distinct = np.unique(values)
    cells = len(np.unique(item)) * len(distinct)
    if cells <= _COUNTED:
        labels = tally(item, values)
        found += _of_counts(labels, len(distinct), 1_000 if cells <= _RESAMPLED else 0)
    groups = np.split(values[np.argsort(item, kind="stable")], _ends(item))
    forms = () if len(groups) < 2 else (False, True) if cells <= _COUNTED else (False,)
    for average in forms:
        one = icc_one_way(groups, average=average)
        found.append(
            _told(f"ICC, {one.form}", one.value, one.low, one.high, one.n_items)
        )
    return (*found, *_of_same_workers(values, item, workers))


def _ends(item: Codes) -> npt.NDArray[np.intp]:
    counts = np.bincount(item)
    return np.cumsum(counts[counts > 0])[:-1]


def _of_counts(labels: LabelCounts, n_values: int, resamples: int) -> list[Coefficient]:
    found = []
    for level in ("ordinal", "interval"):
        alpha = krippendorff_alpha(labels, level, n_resamples=resamples)
        name = f"Krippendorff's alpha, {level}"
        found.append(_told(name, alpha.value, alpha.low, alpha.high, alpha.n_items))
    if n_values > _FEW_VALUES:
        return found
    nominal = krippendorff_alpha(labels, "nominal", n_resamples=resamples)
    name = "Krippendorff's alpha, nominal"
    found.append(_told(name, nominal.value, nominal.low, nominal.high, nominal.n_items))
    same = percentage_agreement(labels, n_resamples=resamples)
    found.append(_told("agreement", same.value, same.low, same.high, same.n_items))
    if len(np.unique(labels.counts.sum(axis=1))) == 1:
        kappa = fleiss_kappa(labels, n_resamples=resamples)
        name = "Fleiss' kappa"
        found.append(_told(name, kappa.value, kappa.low, kappa.high, kappa.n_items))
    return found


def _of_same_workers(values: Floats, item: Codes, workers: Codes) -> list[Coefficient]:
    """Return coefficients that need each worker's ratings of every item."""
    people, who = np.unique(workers, return_inverse=True)
    items, what = np.unique(item, return_inverse=True)
    if len(values) != len(people) * len(items) or min(len(people), len(items)) < 2:
        return []
    table = np.empty((len(items), len(people)))
    table[what, who] = values
    found = [
        _told(f"ICC, {form}", one.value, one.low, one.high, one.n_items)
        for form, one in icc_forms(table).items()
        if not form.startswith("ICC1")
    ]
    if len(people) == 2:
        kappa = cohen_kappa(table[:, 0], table[:, 1], weights="quadratic")
        name = "Cohen's kappa, quadratic"
        found.append(_told(name, kappa.value, kappa.low, kappa.high, kappa.n_items))
    return found


def _told(name: str, *numbers: float) -> Coefficient:
    value, low, high = (x if np.isfinite(x) else None for x in numbers[:3])
    return Coefficient(name, value, low, high, int(numbers[3]))
