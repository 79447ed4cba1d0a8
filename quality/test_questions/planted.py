"""Whether workers rate copies with a phrase replaced lower: WMT's test of attention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean

from crowd.hits.models.assignment import Answer
from crowd.workers.models.worker import Worker
from quality.test_questions.models import PlantedCopy
from quality.test_questions.services.grade import COUNTED


@dataclass(frozen=True)
class Paired:
    """Outputs and their copies as one worker rated them.

    Parameters
    ----------
    n : int
        Pairs.
    original, copy : float
        Mean ratings.
    t : float or None
        The statistic; None with fewer than two pairs, or where all differences are equal.
    p : float or None
        Probability of a difference as low, or lower, if copies were rated as originals.
    """

    n: int
    original: float
    copy: float
    t: float | None
    p: float | None


def paired_test(originals: Sequence[float], copies: Sequence[float]) -> Paired:
    """Test one-sided and paired whether copies are rated lower than their originals.

    Parameters
    ----------
    originals, copies : sequence of float
        Ratings of one worker in the same order; at least one pair.

    Returns
    -------
    Paired

    Raises
    ------
    ValueError
        Where there is no pair, or one lacks its other half.

    Examples
    --------
    >>> found = paired_test([80, 90, 70, 85], [20, 60, 65, 30])
    >>> found.n, round(found.t, 3), round(found.p, 4)
    (4, -2.961, 0.0298)

    References
    ----------
    Graham, Baldwin, Moffat and Zobel (2016), Can Machine Translation Systems be Evaluated
    by the Crowd Alone?, Natural Language Engineering, section 4. WMT22 publishes p, t and n
    of each worker in `ad-trk-stats.csv`; t has n - 1 degrees of freedom there, too.
    """
    from scipy import stats

    if not originals or len(originals) != len(copies):
        raise ValueError("Each original needs its copy, and there must be a pair.")
    n = len(originals)
    means = (fmean(originals), fmean(copies))
    differences = {b - a for a, b in zip(originals, copies, strict=True)}
    if n < 2 or len(differences) == 1:
        return Paired(n, *means, None, None)
    found = stats.ttest_rel(copies, originals, alternative="less")
    return Paired(n, *means, float(found.statistic), float(found.pvalue))


def of_worker(
    worker: Worker, pools: Collection[str] | None = None
) -> list[tuple[str, str, Paired]]:
    """Give the test of each pool and criterion in which a worker was given copies."""
    rows = PlantedCopy.objects.select_related("campaign__hit_type")
    if pools is not None:
        rows = rows.filter(campaign__pool__in=pools)
    rows = rows.filter(item__answers__assignment__worker=worker).distinct()
    copies = {row.item_id: row for row in rows}
    wanted = [*copies, *(row.original_id for row in copies.values())]
    values = {
        (item, criterion): value
        for item, criterion, value in Answer.objects.filter(
            item__in=wanted,
            assignment__worker=worker,
            assignment__state__in=COUNTED,
            slot="",
        ).values_list("item_id", "criterion", "value")
    }
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for item, row in sorted(copies.items()):
        for criterion in row.campaign.hit_type.criteria:
            both = (
                values.get((row.original_id, criterion)),
                values.get((item, criterion)),
            )
            if both[0] is not None and both[1] is not None:
                pairs[row.campaign.pool, criterion].append((both[0], both[1]))
    return [
        (pool, criterion, paired_test(*zip(*both, strict=True)))
        for (pool, criterion), both in sorted(pairs.items())
    ]
