"""Jobs that wait or run: what django-q2's row does not have."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django_q import core_signing
from django_q.conf import Conf
from django_q.models import OrmQ
from django_q.signing import PickleSerializer, SignedPackage

from genie.lib import keys
from genie.lib.queue.lanes import lane_of

# django-q2 has no setting for it.
Conf.SECRET_KEY = keys.Key(lambda: keys.values(keys.QUEUE)[0])


class WaitingJob(models.Model):
    row = models.OneToOneField(OrmQ, models.CASCADE, primary_key=True)
    lane = models.CharField(max_length=40)
    # the job and its keys
    key = models.TextField(db_index=True)
    # the queue that claimed it last
    owner = models.UUIDField(null=True, db_index=True)
    n_starts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        app_label = "genie"
        indexes = [models.Index(fields=["lane", "row"], name="waiting_by_lane")]
        constraints = [
            # One that is claimed may have read what changed since.
            models.UniqueConstraint(
                fields=["key"],
                condition=models.Q(owner__isnull=True),
                name="waits_once",
            )
        ]

    def __str__(self) -> str:
        return self.key


def key_of(job: str, keys: Mapping[str, Any]) -> str:
    return json.dumps([job, sorted(keys.items())])


def sign_anew(payload: str) -> str:
    """Sign with the newest key what a former one has signed."""
    for former in keys.values(keys.QUEUE)[1:]:
        with suppress(core_signing.BadSignature):
            task = core_signing.loads(
                payload, key=former, salt=Conf.PREFIX, serializer=PickleSerializer
            )
            return str(SignedPackage.dumps(task))
    return payload


def sign_all_anew() -> None:
    for pk, payload in OrmQ.objects.values_list("pk", "payload").iterator():
        OrmQ.objects.filter(pk=pk).update(payload=sign_anew(payload))


def put(payload: str) -> int | None:
    """Queue a job unless it waits already; return its row's id.

    If it waits, its row is locked, so that it starts only after this transaction.
    """
    task = SignedPackage.loads(payload)
    key, lane = key_of(task["func"], task["kwargs"]), lane_of(task["func"])
    waits = WaitingJob.objects.filter(key=key, owner=None)
    with transaction.atomic(savepoint=False):
        while not waits.update(lane=lane):
            # another process may be queueing it at this moment
            with suppress(IntegrityError), transaction.atomic():
                row = OrmQ(key=lane, payload=payload, lock=timezone.now())
                row.save()
                WaitingJob.objects.create(row=row, lane=lane, key=key)
                return int(row.pk)
    return None
