"""Anonymous figures of the workers behind campaigns."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Sum

from crowd.campaigns.selectors.reading_pace import faster_than_reading, measured_times
from crowd.hits.models import Assignment, Campaign
from crowd.hits.selectors import language_written
from crowd.money.models import LedgerEntry
from crowd.pricing import hourly_cents
from leaderboard.evaluation.selectors.system_ratings import unnamed_workers
from quality.bans.models import Ban
from quality.test_questions.models import Grade

COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)
_GONE = (LedgerEntry.State.CANCELLED, LedgerEntry.State.FAILED)
# With fewer workers, no figures per worker: they could identify workers.
LEAST_WORKERS = 3
OTHERS = "others"


# Imported work may have no submission time.
_HANDED_IN = Q(submitted_at__isnull=False) | Q(state__in=COUNTED)


@dataclass(frozen=True)
class WorkerFigures:
    """Totals of the people (or programs) behind campaigns.

    Parameters
    ----------
    n_workers, n_excluded : int
        With submitted work, and excluded among these.
    n_assignments, n_rejected, n_replaced : int
        Assignments submitted, rejected, and asked for again.
    most, median : int or None
        Assignments of the busiest and of the median worker; None with too few workers.
    median_seconds : float or None
        Active time per assignment; None if it was not measured.
    hourly_cents : int or None
        Pay per hour at that pace and the lowest reward.
    faster_than_reading : bool
        Whether that pace is too fast to have read the texts; the pay is meaningless then.
    reward_cents, highest_reward_cents : int
        Per assignment; they differ if staff changed the reward.
    paid_cents, fee_cents : int
        To workers, including bonuses, and to the platform.
    n_asked, n_wrong : int
        Test questions answered, and answered wrongly.
    by_language : mapping
        Assignments by language, small ones together; empty if it would identify workers.
    """

    n_workers: int
    n_excluded: int
    n_assignments: int
    n_rejected: int
    n_replaced: int
    most: int | None
    median: int | None
    median_seconds: float | None
    hourly_cents: int | None
    faster_than_reading: bool
    reward_cents: int
    highest_reward_cents: int
    paid_cents: int
    fee_cents: int
    n_asked: int
    n_wrong: int
    languages: tuple[str, ...] = ()
    by_language: Mapping[str, int] = field(default_factory=dict)


def worker_figures(campaigns: Sequence[Campaign]) -> WorkerFigures:
    return figures_of_each({0: campaigns})[0]


def figures_of_each(
    evaluations: Mapping[int, Sequence[Campaign]],
) -> dict[int, WorkerFigures]:
    """Count over the campaigns of each evaluation, in five queries for all."""
    rows_of = _rows([one for campaigns in evaluations.values() for one in campaigns])
    return {
        key: _figures(
            campaigns,
            {
                name: [row for one in campaigns for row in found[one.pk]]
                for name, found in rows_of.items()
            },
        )
        for key, campaigns in evaluations.items()
    }


def _rows(campaigns: Sequence[Campaign]) -> dict[str, dict[int, list[tuple[Any, ...]]]]:
    handed_in = Assignment.objects.filter(_HANDED_IN, hit__campaign__in=campaigns)
    banned = Ban.in_force.filter(
        worker=OuterRef("worker"), pool=OuterRef("hit__campaign__pool")
    )
    marked = handed_in.annotate(
        banned=Exists(banned), unnamed=Q(worker__in=unnamed_workers())
    )
    answered = Grade.objects.filter(test_question__campaign__in=campaigns).order_by()
    times = measured_times(campaigns)
    found: dict[str, Iterable[tuple[Any, ...]]] = {
        "done": work_done(marked, "hit__campaign", "banned", "unnamed").annotate(
            rejected=Count("pk", filter=Q(state=Assignment.State.REJECTED)),
            replaced=Count("replaced_at"),
            least=Min("reward_cents"),
            highest=Max("reward_cents"),
        ),
        "seconds": (
            (campaign, seconds)
            for campaign, seconds, state in times
            if state in COUNTED and seconds > 0
        ),
        "cents": _spent(campaigns, "campaign"),
        "questions": answered.values_list("test_question__campaign").annotate(
            n=Count("pk"), wrong=Count("pk", filter=Q(correct=False))
        ),
        "too_fast": ((campaign,) for campaign in faster_than_reading(campaigns, times)),
    }
    return {name: _by_campaign(rows) for name, rows in found.items()}


def _by_campaign(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for campaign, *values in rows:
        found[campaign].append(tuple(values))
    return found


def _figures(
    campaigns: Sequence[Campaign], rows: Mapping[str, list[tuple[Any, ...]]]
) -> WorkerFigures:
    per_worker: Counter[int] = Counter()
    for _, _, worker, _, n, *_ in rows["done"]:
        per_worker[worker] += n
    loads = sorted(per_worker.values())
    seconds = [value for (value,) in rows["seconds"]]
    if any(campaign.simulated for campaign in campaigns):
        seconds = []  # programs' working time is meaningless for hourly pay
    pace = float(np.median(np.array(seconds, dtype=float))) if seconds else None
    offered = campaigns[0].hit_type.reward_cents if campaigns else 0
    reward = min((least for *_, least, _ in rows["done"]), default=offered)
    paid, fee = _paid_and_fee(rows["cents"])
    enough_workers = len(loads) >= LEAST_WORKERS
    written = language_written(campaigns[0].hit_type) if campaigns else ""
    languages, by_language = read_in((row[2:5] for row in rows["done"]), written)
    return WorkerFigures(
        n_workers=len(loads) - len({row[2] for row in rows["done"] if row[1]}),
        n_excluded=len({row[2] for row in rows["done"] if row[0]}),
        n_assignments=sum(loads),
        n_rejected=sum(row[5] for row in rows["done"]),
        n_replaced=sum(row[6] for row in rows["done"]),
        most=loads[-1] if enough_workers else None,
        median=int(np.median(loads)) if enough_workers else None,
        median_seconds=pace,
        hourly_cents=hourly_cents(reward, pace),
        faster_than_reading=bool(rows["too_fast"]),
        reward_cents=reward,
        highest_reward_cents=max(reward, *(row[8] for row in rows["done"]), 0),
        paid_cents=paid,
        fee_cents=fee,
        n_asked=sum(row[0] for row in rows["questions"]),
        n_wrong=sum(row[1] for row in rows["questions"]),
        languages=languages,
        by_language=by_language,
    )


def work_done(
    handed_in: QuerySet[Assignment], *by: str
) -> QuerySet[Assignment, tuple[Any, ...]]:
    rows = handed_in.order_by().values_list(*by, "worker", "language")
    return rows.annotate(n=Count("pk"))


def read_in(
    done: Iterable[tuple[int, str, int]], written: str
) -> tuple[tuple[str, ...], dict[str, int]]:
    """Count assignments by language; languages with few workers are combined."""
    work: Counter[str] = Counter()
    workers: dict[str, set[int]] = {}
    for worker, language, n in done:
        # older work without a stored language was read in that of its questions
        named = language or written
        work[named] += n
        workers.setdefault(named, set()).add(worker)
    few = {language for language in work if len(workers[language]) < LEAST_WORKERS}
    counts = {
        language: n for language, n in sorted(work.items()) if language not in few
    }
    if few:
        counts[OTHERS] = sum(work[language] for language in few)
    others = set().union(*(workers[language] for language in few))
    tells = 0 < len(others) < LEAST_WORKERS
    return tuple(sorted(work)), {} if tells else counts


def paid_and_fee(campaigns: Sequence[Campaign]) -> tuple[int, int]:
    """Return cents paid to workers, and to the platform."""
    return _paid_and_fee(_spent(campaigns))


def _spent(
    campaigns: Sequence[Campaign], *by: str
) -> QuerySet[LedgerEntry, tuple[Any, ...]]:
    rows = LedgerEntry.objects.filter(campaign__in=campaigns).exclude(state__in=_GONE)
    return rows.order_by().values_list(*by, "kind").annotate(cents=Sum("amount_cents"))


def _paid_and_fee(rows: Iterable[tuple[Any, ...]]) -> tuple[int, int]:
    # rewards and bonuses both go to workers; the fee is the platform's alone
    cents: Counter[str] = Counter()
    for kind, total in rows:
        cents[kind] += total or 0
    fee = cents.pop(LedgerEntry.Kind.FEE, 0)
    return sum(cents.values()), fee
