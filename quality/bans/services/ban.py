"""Ban a worker from one pool of work, and let them back in."""

from django.db import transaction
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
from quality.bans.models import HeldExclusion
from quality.detection.models import Ban, Verdict

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
        existing = Ban.objects.filter(worker=worker, pool=pool, lifted_at=None).first()
        if existing is not None:
            return existing
        new = Ban.objects.create(
            worker=worker, pool=pool, verdict=verdict, reason=reason, created_by=by
        )
        HeldExclusion.objects.filter(
            worker=worker, pool=pool, state=HeldExclusion.State.WAITING
        ).update(
            state=HeldExclusion.State.CONFIRMED,
            decided_at=new.created_at,
            decided_by=by,
            reason=reason,
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
        logged(worker.pk, pool, "excluded", by)
    return new


def lift(
    pk: int, *, by: Account, reason: str, message: services.Words = WELCOME
) -> Ban:
    """Let the worker work again, count their ratings again, and notify them once."""
    if not reason.strip():
        raise GenieError("Give a reason for lifting the ban.", code="reason-missing")
    with transaction.atomic():
        lifted = Ban.objects.filter(pk=pk, lifted_at=None).update(
            lifted_at=timezone.now(), lifted_by=by, lifted_reason=reason
        )
        lifted_ban = Ban.objects.select_related("worker").get(pk=pk)
        if lifted:
            exclusions.include(lifted_ban.worker, lifted_ban.pool)
            reissue.count_again(lifted_ban.worker, lifted_ban.pool)
            logged(lifted_ban.worker_id, lifted_ban.pool, "readmitted", by)
            if message:
                services.send(
                    lifted_ban.worker,
                    Message.Kind.UNBANNED,
                    gettext_lazy("You have been readmitted"),
                    message,
                    pool=lifted_ban.pool,
                )
    return lifted_ban


def logged(worker: int, pool: str, what: str, by: Account | None) -> None:
    """Write the decision to the public log, which has a pseudonym per task."""
    data = {
        "task": pool,
        "worker": name_for("public log", worker, pool),
        "is": what,
        "by": "the detector" if by is None else "a person",
    }
    log.append(log.Kind.BAN, data, about=worker)
