from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import translation
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy

from crowd.hits.models import Assignment
from crowd.hits.services.build import take_back_slot
from crowd.messages import services
from crowd.messages.models import Message
from crowd.workers.models.worker import Exclusion, Pause, Worker
from genie.lib.admin import note

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser


CLOSED = (
    gettext_lazy("You can no longer work on this site"),
    gettext_lazy(
        "The staff of this site have decided not to give you any more work. Work that "
        "you have already submitted is still paid. If you think that this is wrong, "
        "you can appeal once: a person will review it and can readmit you."
    ),
)
_BECAUSE = gettext_lazy("{text}\n\nReason given by the staff: {reason}")
OPEN = (
    gettext_lazy("You can work again"),
    gettext_lazy("The staff of this site have readmitted you."),
)


def explain(text: services.Words, reason: str) -> services.Words:
    return format_lazy(_BECAUSE, text=text, reason=reason) if reason else text


@transaction.atomic
def exclude(worker: Worker, pool: str, message: services.Words) -> Exclusion:
    """Exclude the worker and take back their open assignments of that pool."""
    # Waits for a concurrent claim, so that none slips through.
    Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)
    with translation.override(services.languages_of([worker.pk])[worker.pk]):
        message = str(message)
    exclusion, _ = Exclusion.objects.update_or_create(
        worker=worker, pool_id=pool, defaults={"message": message}
    )
    Pause.objects.filter(worker=worker, pool=pool).delete()
    for pk, hit_pk in Assignment.objects.filter(
        worker=worker, state=Assignment.State.ACCEPTED, hit__campaign__pool=pool
    ).values_list("pk", "hit_id"):
        take_back_slot(pk, hit_pk, Assignment.State.RETURNED)
    return exclusion


def from_all_work(
    worker: Worker, excluded: bool, by: AbstractBaseUser | None = None, why: str = ""
) -> bool:
    """Exclude a worker from all work, or readmit them, and tell them. False: no change."""
    with transaction.atomic():
        # Of two clicks only one finds the opposite state, so the worker gets one
        # message.
        changed = Worker.objects.filter(pk=worker.pk, excluded=not excluded).update(
            excluded=excluded
        )
        if changed:
            kind = Message.Kind.BANNED if excluded else Message.Kind.UNBANNED
            subject, text = CLOSED if excluded else OPEN
            services.send(
                worker, kind, subject, explain(text, why) if excluded else text
            )
            sentence = "Excluded from all work." if excluded else "Readmitted."
            note(by, worker, sentence, why)
    return bool(changed)


def notice_of(worker: Worker) -> Message:
    sent = Message.objects.filter(worker=worker, kind=Message.Kind.BANNED, pool=None)
    return sent.filter(requester=None).first() or Message(
        worker=worker, text=str(CLOSED[1])
    )


def include(worker: Worker, pool: str) -> bool:
    """Lift the exclusion; False if there was none."""
    return bool(Exclusion.objects.filter(worker=worker, pool=pool).delete()[0])


def pause(worker: Worker, pool: str) -> bool:
    """Hand out no new work of a pool until it is decided who counts; False: already so.

    The worker may submit what they have open.
    """
    return Pause.objects.get_or_create(worker=worker, pool_id=pool)[1]


def resume(
    pool: str, workers: Iterable[int] | None = None, *, but: Iterable[int] = ()
) -> int:
    paused = Pause.objects.filter(pool=pool).exclude(worker__in=but)
    if workers is not None:
        paused = paused.filter(worker__in=workers)
    return paused.delete()[0]
