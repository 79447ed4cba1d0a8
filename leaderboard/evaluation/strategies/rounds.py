"""Rounds of all pairs of several systems: labels go where they are likely to decide.

Once the waves of all pairs are complete, the labels of the next ones are drawn among the
undecided pairs. Who may send how many is written for all at once, under the set's lock;
each comparison sends its own by itself, and whatever stops in between, once.
"""

from __future__ import annotations

import numpy as np
from django.db.models import Q, QuerySet, Sum

from genie.lib.seeds import generator, seed_from
from leaderboard.evaluation.models import states
from leaderboard.evaluation.models.comparison import (
    ComparedPair,
    Comparison,
    ComparisonSet,
)
from leaderboard.evaluation.selectors.comparison_labels import (
    labels_from,
    votes_are_final,
    votes_shown,
)
from leaderboard.stats.active.deciding import PairByPair
from leaderboard.stats.active.propensities import soonest

State = states.State


def size_of(comparison: Comparison, together: ComparisonSet, left: int) -> int | None:
    """Say how many pairs may go out now, of those that are left; None: wait for others.

    0 once the set has asked all that it may in all. Callers hold the evaluation's row and
    have not written the comparison's.
    """
    # one after another: whoever comes last draws for all
    together = ComparisonSet.objects.select_for_update().get(pk=together.pk)
    row = Comparison.objects.filter(pk=comparison.pk)
    row.filter(n_allotted=None).update(n_allotted=0)
    if not row.get().n_allotted:
        unused = _unused(together)
        if unused == 0:
            return 0
        _draw(together, unused)
    # what another comparison drew may have come since this one was read
    comparison.refresh_from_db(fields=["n_allotted", "propensity"])
    return min(comparison.n_allotted or 0, left) or None


def propensities(together: ComparisonSet) -> dict[int, float]:
    """Give the chance of each comparison to get the next label; 1 in all.

    Of those that can go on only: the labels of all count, those of ended ones too.
    """
    rows = list(together.comparisons.select_related("evaluation__task").order_by("pk"))
    systems = sorted({pk for row in rows for pk in (row.a_id, row.b_id)})
    place = {pk: number for number, pk in enumerate(systems)}
    known = PairByPair(len(systems), delta=together.delta)
    for row in rows:
        a, b = place[row.a_id], place[row.b_id]
        labels = labels_from(row, votes_shown(row), last=votes_are_final(row.state))
        known.wins[a, b] += labels.count(1.0)
        known.wins[b, a] += labels.count(0.0)
        known.ties[a, b] += labels.count(0.5)
        known.ties[b, a] = known.ties[a, b]
        # decided by the comparison's own rule, which is what people are told
        known.better[a, b] |= row.better == "A"
        known.better[b, a] |= row.better == "B"
    chances = soonest(known)
    of = {
        row.pk: float(chances[place[row.a_id], place[row.b_id]])
        for row in rows
        if row.state == State.ANNOTATING and not row.failure_permanent
    }
    total = sum(of.values())
    return {pk: chance / total for pk, chance in of.items()}


def _unused(together: ComparisonSet) -> int | None:
    """Count the pairs that the set may still ask about; None: as many as all may."""
    if together.max_in_all is None:
        return None
    n = ComparedPair.objects.filter(comparison__within=together).count()
    rows = together.comparisons.all()
    going = rows.filter(evaluation__state=State.ANNOTATING)
    n += going.aggregate(n=Sum("n_allotted"))["n"] or 0
    # each may send its first wave, whenever it is approved
    coming = rows.filter(
        evaluation__state__in=[State.REQUESTED, State.DECLINED, State.APPROVED]
    )
    n += sum(min(row.wave_size, row.max_pairs) for row in coming)
    return max(0, together.max_in_all - n)


def _draw(together: ComparisonSet, unused: int | None) -> None:
    """Draw which comparison gets each label of the next round, once all are complete."""
    going = _going(together)
    if going.exclude(n_allotted=0).exists():
        return
    chances = propensities(together)
    rows = list(going.order_by("pk"))
    n = sum(row.wave_size for row in rows)
    n = n if unused is None else min(n, unused)
    # of what is stored: whoever draws after a crash draws the same
    asked = ComparedPair.objects.filter(comparison__within=together).count()
    rng = generator(seed_from("round", rows[0].seed, asked))
    numbers = rng.multinomial(n, np.array([chances[row.pk] for row in rows]))
    for row, number in zip(rows, numbers.tolist(), strict=True):
        Comparison.objects.filter(pk=row.pk).update(
            n_allotted=number, propensity=chances[row.pk]
        )


def _going(together: ComparisonSet) -> QuerySet[Comparison]:
    """Give those that ask or are about to; what failed waits for a person, not for it."""
    able = Q(evaluation__failure_permanent=False)
    asks = Q(evaluation__state__in=[State.APPROVED, State.ANNOTATING])
    return together.comparisons.select_related("evaluation").filter(able & asks)
