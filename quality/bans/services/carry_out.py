"""Ban the workers whom a fit calls noisy, or leave the decision to a person."""

from collections.abc import Collection

from crowd.workers.models.worker import Worker
from quality.bans.services import held_exclusions
from quality.bans.services.ban import ban
from quality.detection.models import Ban, DetectorFit, Verdict


def carry_out(
    fit: DetectorFit, *, simulated: bool, for_people: Collection[int] = ()
) -> list[Ban]:
    """Ban the workers whom the fit calls noisy, unless too many would go at once.

    `for_people` are workers who are always left to people. Callers open the
    transaction.
    """
    pool = fit.pool
    # The pool's first fit is the lock: two polarities that are fitted at the same
    # time must not exclude more together than one may.
    list(DetectorFit.objects.select_for_update().filter(pool=pool).order_by("pk")[:1])
    held_exclusions.release(fit)
    noisy = Verdict.objects.filter(fit=fit, noisy=True)
    # Lock all rows at once and in order: a concurrent ban of one of them waits.
    list(
        Worker.objects.select_for_update(of=("self",))
        .filter(pk__in=noisy.values("worker"))
        .order_by("pk")
    )
    # The detector never bans a worker again whom staff let back in.
    decided = held_exclusions.decided_workers(pool)
    new = [
        verdict
        for verdict in noisy.select_related("worker", "fit")
        if verdict.worker_id not in decided
    ]
    held_exclusions.hold(pool, [v for v in new if v.worker_id in for_people])
    sure = [verdict for verdict in new if verdict.worker_id not in for_people]
    if not held_exclusions.is_within_share(pool, len(sure), simulated=simulated):
        held_exclusions.hold(pool, sure)
        return []
    return [
        ban(verdict.worker, pool, by=None, reason=verdict.sentence, verdict=verdict)
        for verdict in sure
    ]
