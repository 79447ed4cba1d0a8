import math
from collections.abc import Collection, Sequence

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from crowd.campaigns.services import reissue
from crowd.messages import services
from crowd.messages.models import Message
from crowd.workers.models.worker import Worker
from crowd.workers.services import exclusions
from genie.history import log
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from genie.lib.unguessable import name_for
from quality.bans.models import Ban, HeldExclusion
from quality.detection.models import DetectorFit, Verdict
from quality.test_questions.models import Grade

State = Ban.State

# Ban a worker from one pool of work, and let them back in.

# The worker reads this. Figures would reveal which items were test questions.
MESSAGE = gettext_lazy(
    "Some of your answers did not match the known right answers. You will get no more "
    "work of this kind; all work that you have submitted stays paid. If you think "
    "that this is wrong, you can appeal once: a person will review it and can readmit "
    "you."
)
# A person decided: the answers may have been right. Their reason follows.
DECIDED = gettext_lazy(
    "The staff of this site have decided that you will get no more work of this kind; "
    "all work that you have submitted stays paid. If you think that this is wrong, "
    "you can appeal once: a person will review it and can readmit you."
)
WELCOME = gettext_lazy(
    "You can do this kind of work again, and your earlier answers count again. The "
    "staff of this site reviewed the decision and reversed it."
)


def ban(
    worker: Worker,
    pool: str,
    *,
    by: Account | None,
    reason: str,
    verdict: Verdict | None = None,
) -> Ban:
    """Exclude the worker, drop their ratings and reissue their HITs; safe to repeat."""
    if not reason.strip():
        raise GenieError("Give a reason for the ban.", code="reason-missing")
    with transaction.atomic():
        # The lock serializes the detector and a person, or two campaigns' detectors.
        Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
        existing = Ban.in_force.filter(worker=worker, pool=pool).first()
        if existing is not None:
            return existing
        new, _ = Ban.proposed.update_or_create(
            worker=worker,
            pool_id=pool,
            defaults={
                "state": State.IN_FORCE,
                "reason": reason,
                "created_by": by,
                "created_at": timezone.now(),
                **({"verdict": verdict} if verdict else {}),
            },
        )
        # With a verdict, the reason could reveal which items were test questions.
        message = (
            MESSAGE if verdict else exclusions.explain(DECIDED, reason if by else "")
        )
        exclusions.exclude(worker, pool, message)
        services.send(
            worker,
            Message.Kind.BANNED,
            gettext_lazy("You have been excluded from one kind of work"),
            message,
            pool=pool,
        )
        reissue.replace_answers(worker, pool)
        log_ban(worker.pk, pool, "excluded", by)
    return new


def lift(
    pk: int, *, by: Account, reason: str, message: services.Words = WELCOME
) -> Ban:
    """Let the worker work again, count their ratings again, and notify them once."""
    if not reason.strip():
        raise GenieError("Give a reason for lifting the ban.", code="reason-missing")
    with transaction.atomic():
        lifted = Ban.in_force.filter(pk=pk).update(
            state=State.LIFTED,
            lifted_at=timezone.now(),
            lifted_by=by,
            lifted_reason=reason,
        )
        lifted_ban = Ban.objects.select_related("worker").get(pk=pk)
        if lifted:
            exclusions.include(lifted_ban.worker, lifted_ban.pool_id)
            reissue.count_again(lifted_ban.worker, lifted_ban.pool_id)
            log_ban(lifted_ban.worker_id, lifted_ban.pool_id, "readmitted", by)
            if message:
                services.send(
                    lifted_ban.worker,
                    Message.Kind.UNBANNED,
                    gettext_lazy("You have been readmitted"),
                    message,
                    pool=lifted_ban.pool_id,
                )
    return lifted_ban


def log_ban(worker: int, pool: str, what: str, by: Account | None) -> None:
    """Write the decision to the public log, which has a pseudonym per task."""
    data = {
        "task": pool,
        "worker": name_for("public log", worker, pool),
        "is": what,
        "by": "the detector" if by is None else "a person",
    }
    log.append(log.Kind.BAN, data, about=worker)


# The brake: if too many workers would be excluded at once, a person decides.
#
# If a key is hard, honest workers agree with it less than the detector presumes, and it
# would exclude the busiest of them first. So the detector may exclude only a share of a
# pool by itself.
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
    n_excluded = Ban.in_force.filter(
        pool=pool, created_by=None, worker__in=workers
    ).count()
    most = most_excluded(n_judged, settings.GENIE["MOST_EXCLUDED"])
    return n_excluded + n_new <= most


def hold(pool: str, verdicts: Sequence[Verdict]) -> None:
    """Propose the bans to a person; one already proposed gets the new verdict.

    Meanwhile these workers get no more work, and their answers count.
    """
    new = {"state": State.PROPOSED, "proposed_at": timezone.now()}
    for verdict in verdicts:
        Ban.proposed.update_or_create(
            worker_id=verdict.worker_id,
            pool_id=pool,
            defaults={"verdict": verdict},
            create_defaults={"verdict": verdict, **new},
        )
        exclusions.pause(verdict.worker, pool)


def release(fit: DetectorFit) -> None:
    """Delete proposed bans of workers whom this fit clears.

    If the last verdict of the other polarity is noisy, the proposal stays, with that
    verdict, because that polarity may never be fitted again. A fit to all evidence
    clears both polarities.
    """
    cleared = Verdict.objects.filter(fit=fit, noisy=False).values("worker")
    waiting = Ban.proposed.filter(pool=fit.pool_id, worker__in=cleared)
    if fit.polarity:
        waiting = waiting.filter(verdict__fit__polarity=fit.polarity)
    for held in waiting:
        other = _other_polarity(held, fit) if fit.polarity else None
        row = Ban.proposed.filter(pk=held.pk)
        if other is not None and other.noisy:
            row.update(verdict=other)
        else:
            row.delete()
            exclusions.resume(fit.pool_id, [held.worker_id])


def _other_polarity(held: Ban, fit: DetectorFit) -> Verdict | None:
    return (
        Verdict.objects.filter(worker=held.worker_id, fit__pool=fit.pool_id)
        .exclude(fit__polarity=fit.polarity)
        .order_by("-pk")
        .first()
    )


def waiting_workers(pool: str) -> set[int]:
    return set(Ban.proposed.filter(pool=pool).values_list("worker_id", flat=True))


def decided_workers(pool: str) -> set[int]:
    """Return the workers about whom people decided, so that the detector must not."""
    return set(Ban.decided.filter(pool=pool).values_list("worker_id", flat=True))


def confirm(pk: int, *, by: Account, reason: str) -> Ban:
    """Exclude the worker as the detector proposed.

    Raises
    ------
    GenieError
        ``already-decided`` or ``reason-missing``.
    """
    with transaction.atomic():
        held = _lock_proposed(pk, reason)
        return ban(
            held.worker, held.pool_id, by=by, reason=reason, verdict=held.verdict
        )


def refuse(pk: int, *, by: Account, reason: str) -> None:
    """Keep the worker; the detector does not propose it again. Raises as `confirm`."""
    with transaction.atomic():
        held = _lock_proposed(pk, reason)
        Ban.proposed.filter(pk=pk).update(
            state=State.REFUSED,
            lifted_at=timezone.now(),
            lifted_by=by,
            lifted_reason=reason,
        )
        exclusions.resume(held.pool_id, [held.worker_id])
        log_ban(held.worker_id, held.pool_id, "kept", by)


def keep(worker: Worker, pool: str, *, by: Account, reason: str) -> None:
    """Let the worker's answers count in full, whatever the detector finds."""
    decided = {"lifted_at": timezone.now(), "lifted_by": by, "lifted_reason": reason}
    Ban.decided.create(worker=worker, pool_id=pool, state=State.REFUSED, **decided)
    log_ban(worker.pk, pool, "kept", by)


def _lock_proposed(pk: int, reason: str) -> HeldExclusion:
    if not reason.strip():
        raise GenieError("Give a reason for your decision.", code="reason-missing")
    rows = HeldExclusion.objects.filter(pk=pk)
    # Banning takes this lock first, too.
    workers = Worker.objects.filter(pk__in=rows.values("worker"))
    list(workers.select_for_update(of=("self",)))
    rows = rows.select_related("worker", "verdict").select_for_update(of=("self",))
    held = rows.filter(state=State.PROPOSED).first()
    if held is None:
        raise GenieError(
            "This exclusion has already been decided.", code="already-decided"
        )
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


# Ban the workers whom a fit calls noisy, or leave the decision to a person.
def carry_out(
    fit: DetectorFit, *, simulated: bool, for_people: Collection[int] = ()
) -> list[Ban]:
    """Ban the workers whom the fit calls noisy, unless too many would go at once.

    `for_people` are workers who are always left to people. Callers open the
    transaction.
    """
    pool = fit.pool_id
    # The pool's first fit is the lock: two polarities that are fitted at the same
    # time must not exclude more together than one may.
    list(DetectorFit.objects.select_for_update().filter(pool=pool).order_by("pk")[:1])
    noisy = Verdict.objects.filter(fit=fit, noisy=True)
    # Lock all rows at once and in order: a concurrent decision on one of them waits.
    list(
        Worker.objects.select_for_update(of=("self",))
        .filter(
            Q(pk__in=noisy.values("worker"))
            | Q(pk__in=Ban.proposed.filter(pool=pool).values("worker"))
        )
        .order_by("pk")
    )
    release(fit)
    # The detector never bans a worker again whom staff let back in.
    decided = decided_workers(pool)
    new = [
        verdict
        for verdict in noisy.select_related("worker", "fit")
        if verdict.worker_id not in decided
    ]
    hold(pool, [v for v in new if v.worker_id in for_people])
    sure = [verdict for verdict in new if verdict.worker_id not in for_people]
    if not is_within_share(pool, len(sure), simulated=simulated):
        hold(pool, sure)
        return []
    return [
        ban(verdict.worker, pool, by=None, reason=verdict.sentence, verdict=verdict)
        for verdict in sure
    ]
