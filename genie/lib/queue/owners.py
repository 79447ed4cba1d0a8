"""Running queues: a row for each machine, and the claims of dead ones."""

import os
import socket
import time
from datetime import timedelta

from django.conf import settings
from django.db import models, transaction
from django.db.models.expressions import CombinedExpression
from django.db.models.functions import Now

from genie.lib.queue import pulse
from genie.lib.queue.claims import hold_own_claims, release_claims_of


class RunningQueue(models.Model):
    """One `genie work`, and when it was last active, by the database's clock."""

    # as in the claims of jobs
    owner = models.UUIDField(primary_key=True)
    host = models.CharField(max_length=255)
    name = models.CharField(max_length=40)
    pid = models.PositiveIntegerField()
    started_at = models.DateTimeField(db_default=Now())
    beat_at = models.DateTimeField(db_default=Now())

    class Meta:
        app_label = "genie"
        ordering = ["host", "name"]

    def __str__(self) -> str:
        return f"{self.host}/{self.name}"


class Presence:
    def __init__(self) -> None:
        self._beaten = float("-inf")

    def begin(self) -> None:
        row = RunningQueue(
            owner=pulse.owner(),
            host=socket.gethostname()[:255],
            name=pulse.name(),
            pid=os.getpid(),
        )
        with transaction.atomic():
            RunningQueue.objects.filter(owner=row.owner).delete()
            row.save(force_insert=True)
        self._beaten = time.monotonic()

    def end(self) -> None:
        RunningQueue.objects.filter(owner=pulse.owner()).delete()

    def is_due(self) -> bool:
        return time.monotonic() - self._beaten > _limit() / 6

    def beat(self) -> bool:
        """Signal that this queue runs; False if others have declared it dead.

        Then its jobs are theirs, so a queue that resumes must let go of them.
        """
        silent = time.monotonic() - self._beaten
        mine = RunningQueue.objects.filter(owner=pulse.owner(), pid=os.getpid())
        if not mine.update(beat_at=Now()):
            return False
        self._beaten = time.monotonic()
        hold_own_claims()
        # A supervisor that was itself silent for long, because the database was away,
        # first gives the others time to report.
        if silent < _limit() / 2:
            bury_the_dead()
        return True


def heard_of() -> list[RunningQueue]:
    return list(RunningQueue.objects.filter(beat_at__gte=_long_ago()))


def bury_the_dead() -> None:
    """Release the jobs of queues that are silent for too long."""
    silent = RunningQueue.objects.filter(beat_at__lt=_long_ago())
    for owner in list(silent.values_list("owner", flat=True)):
        with transaction.atomic():
            if silent.filter(owner=owner).delete()[0]:
                release_claims_of(owner)


def _long_ago() -> CombinedExpression:
    return Now() - timedelta(seconds=_limit())


def _limit() -> int:
    seconds: int = settings.GENIE["QUEUE_STALE_SECONDS"]
    return seconds
