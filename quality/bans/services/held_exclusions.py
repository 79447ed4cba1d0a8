"""The brake: if too many workers would be excluded at once, a person decides.

If a key is hard, honest workers agree with it less than the detector presumes, and it
would exclude the busiest of them first. So the detector may exclude only a share of a
pool by itself.
"""

import math
from collections.abc import Sequence

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from crowd.workers.models.worker import Worker
from crowd.workers.services import exclusions
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from quality.bans.models import HeldExclusion
from quality.bans.services import ban as banning
from quality.detection.models import Ban, DetectorFit, Verdict
from quality.test_questions.models import Grade

State = HeldExclusion.State


def is_within_share(pool: str, n_new: int, *, simulated: bool) -> bool:
    """Check whether the detector may exclude this many more workers by itself.

    Bans that people imposed, confirmed or lifted do not count.
    """
    workers = Worker.objects.filter(simulated=simulated)
    n_judged = (
        Grade.objects.filter(pool=pool, worker__in=workers)
        .order_by()
        .values("worker")
        .distinct()
        .count()
    )
    n_excluded = Ban.objects.filter(
        pool=pool, created_by=None, lifted_at=None, worker__in=workers
    ).count()
    most = most_excluded(n_judged, settings.GENIE["MOST_EXCLUDED"])
    return n_excluded + n_new <= most


def hold(pool: str, verdicts: Sequence[Verdict]) -> None:
    """Hold the exclusions for a person; one already held gets the new verdict.

    Meanwhile these workers get no more work, and their answers count.
    """
    for verdict in verdicts:
        HeldExclusion.objects.update_or_create(
            worker_id=verdict.worker_id,
            pool=pool,
            state=State.WAITING,
            defaults={"verdict": verdict},
        )
        exclusions.pause(verdict.worker, pool)


def release(fit: DetectorFit) -> None:
    """Delete held exclusions of workers whom this fit clears.

    If the last verdict of the other polarity is noisy, the exclusion stays, with that
    verdict, because that polarity may never be fitted again. A fit to all evidence
    clears both polarities.
    """
    cleared = Verdict.objects.filter(fit=fit, noisy=False).values("worker")
    waiting = HeldExclusion.objects.filter(
        pool=fit.pool, state=State.WAITING, worker__in=cleared
    )
    if fit.polarity:
        waiting = waiting.filter(verdict__fit__polarity=fit.polarity)
    for held in waiting:
        other = _other_polarity(held, fit) if fit.polarity else None
        row = HeldExclusion.objects.filter(pk=held.pk, state=State.WAITING)
        if other is not None and other.noisy:
            row.update(verdict=other)
        else:
            row.delete()
            exclusions.resume(fit.pool, [held.worker_id])


def _other_polarity(held: HeldExclusion, fit: DetectorFit) -> Verdict | None:
    return (
        Verdict.objects.filter(worker=held.worker_id, fit__pool=fit.pool)
        .exclude(fit__polarity=fit.polarity)
        .order_by("-pk")
        .first()
    )


def waiting_workers(pool: str) -> set[int]:
    rows = HeldExclusion.objects.filter(pool=pool, state=State.WAITING)
    return set(rows.values_list("worker_id", flat=True))


def decided_workers(pool: str) -> set[int]:
    """Return the workers about whom people decided, so that the detector must not."""
    banned = Ban.objects.filter(pool=pool).values_list("worker_id", flat=True)
    refused = HeldExclusion.objects.filter(pool=pool, state=State.REFUSED)
    return {*banned, *refused.values_list("worker_id", flat=True)}


def confirm(pk: int, *, by: Account, reason: str) -> Ban:
    """Exclude the worker as the detector proposed.

    Raises
    ------
    GenieError
        ``already-decided`` or ``reason-missing``.
    """
    with transaction.atomic():
        held = _decided(pk, State.CONFIRMED, by, reason)
        return banning.ban(
            held.worker, held.pool, by=by, reason=reason, verdict=held.verdict
        )


def refuse(pk: int, *, by: Account, reason: str) -> HeldExclusion:
    """Keep the worker; the detector does not propose it again. Raises as `confirm`."""
    with transaction.atomic():
        held = _decided(pk, State.REFUSED, by, reason)
        exclusions.resume(held.pool, [held.worker_id])
        banning.logged(held.worker_id, held.pool, "kept", by)
        return held


def _decided(pk: int, state: State, by: Account, reason: str) -> HeldExclusion:
    if not reason.strip():
        raise GenieError("Give a reason for your decision.", code="reason-missing")
    held = HeldExclusion.objects.select_related("worker", "verdict").get(pk=pk)
    # Banning takes this lock first, too.
    Worker.objects.select_for_update(of=("self",)).get(pk=held.worker_id)
    changed = HeldExclusion.objects.filter(pk=pk, state=State.WAITING).update(
        state=state, decided_at=timezone.now(), decided_by=by, reason=reason
    )
    if not changed:
        raise GenieError(
            f"The exclusion of {held.worker} has already been decided.",
            code="already-decided",
        )
    held.refresh_from_db()
    return held


#: A small pool can lose this many, whatever the share is.
LEAST_EXCLUDED = 2


def most_excluded(n_workers: int, share: float) -> int:
    """Return the number of workers that may be excluded without a person.

    The share, from 0 to 1, of the workers with an answered test question, rounded down,
    but at least :data:`LEAST_EXCLUDED` unless the share is 0. Raises ValueError for a
    share outside of this range.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"The share must be between 0 and 1, not {share}.")
    return max(LEAST_EXCLUDED, math.floor(share * n_workers)) if share else 0
