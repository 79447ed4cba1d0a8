"""Work that jobs start, count, retry and give up: one set of columns, one way.

Each kind of work is declared as a `Runner`. An attempt is counted before it begins, so
that one that kills its process counts, too. `leaderboard.jobs.advance` queues what is
due; after the last pause, the work is given up until staff retry it.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import models
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.lib.queue.pieces import MAX_STARTS, Later

logger = logging.getLogger(__name__)

# Rows of a kind that are queued at a time.
AT_ONCE = 200
CLEARED: dict[str, Any] = {"n_attempts": 0, "failure": "", "failure_permanent": False}


class LostRace(Exception):
    """Another process did the work first: roll back this one's writes."""


class Work(models.Model):
    # attempts since the last progress
    n_attempts = models.PositiveSmallIntegerField(default=0)
    # all attempts: the number of the one under way, which alone may write
    n_starts = models.PositiveIntegerField(default=0, editable=False)
    # the next attempt; of one under way, when its process counts as dead
    next_at = models.DateTimeField(default=timezone.now, editable=False)
    failure = models.TextField(blank=True)
    failure_permanent = models.BooleanField(default=False)

    class Meta:
        abstract = True


class Runner:
    """A kind of work: its rows, its job and how often it is tried."""

    def __init__(
        self,
        model: type[Work],
        job: str,
        *,
        # in which there is work to do; the first one also after a retry
        states: Sequence[str] = (),
        # of work that is given up
        failed: str = "",
        # instead of `states`
        where: Q | None = None,
        # after each failure; the one after the last pause is final
        pauses: Sequence[timedelta] = (timedelta(), timedelta()),
        # how long no other process begins the same work; without it, two may
        lease: timedelta = timedelta(),
    ) -> None:
        self.job = job
        self._states, self._failed = states, failed
        self._pauses, self._lease = pauses, lease
        self.rows: QuerySet[Any] = model._default_manager.filter(
            where or Q(state__in=states), failure_permanent=False
        )

    def due(self) -> list[int]:
        pks = self._ready(self.rows).order_by("next_at", "pk")
        return list(pks.values_list("pk", flat=True)[:AT_ONCE])

    def run(self, pk: int, service: Callable[[QuerySet[Any]], object]) -> bool:
        """Make one attempt, unless there is none to make; return whether it succeeded.

        It has also succeeded if the rest comes `Later`. `service` gets the row as a
        query, which is empty as soon as another attempt has begun. A failure is stored
        as a sentence for the people who wait and for staff.
        """
        row = self._begun(pk)
        if row is None:
            return False
        try:
            with suppress(Later):
                service(row)
        except LostRace:
            pass
        except GenieError as error:
            if self._fail(pk, row, error.message, permanent=error.permanent):
                logger.warning("%s %s: %s", self.job, pk, error.message)
        except Exception as error:
            noted = self._fail(
                pk,
                row,
                f"An internal error stopped this step ({type(error).__name__}: "
                f"{_in_words(error)}). Staff can see it and try again.",
            )
            if noted:
                logger.exception("%s %s failed", self.job, pk)
        else:
            # A repeated step may succeed for weeks between two failures, which are
            # unrelated; so may the pieces of long work.
            self.write(pk, row.exclude(n_attempts=0), **CLEARED)
            return True
        return False

    def retry(self, rows: QuerySet[Any], **fields: Any) -> int:
        """Count the attempts of these rows from zero; return how many rows."""
        state = {"state": self._states[0]} if self._states else {}
        return rows.update(**{**CLEARED, **state, "next_at": timezone.now(), **fields})

    def write(self, pk: int, row: QuerySet[Any], **fields: Any) -> int:
        """Change the row if it is still there; subclasses update related ones."""
        return row.update(**fields)

    def last_words(self, pk: int, sentence: str) -> str:
        """Return the sentence of a final failure; subclasses add its consequences."""
        return sentence

    def _begun(self, pk: int) -> QuerySet[Any] | None:
        rows = self.rows.filter(pk=pk)
        counts = self._ready(rows).values_list("n_starts", "n_attempts", "failure")
        found = counts.first()
        if found is None:
            return None
        n_starts, n_attempts, failure = found
        free = rows.filter(n_starts=n_starts)
        # Without a failure, its process was killed each time.
        if n_attempts >= MAX_STARTS + (len(self._pauses) if failure else 0):
            sentence = (
                f"This step was interrupted {n_attempts} times before it finished: it "
                "was killed, or it needs more time or memory than is available. Staff "
                "can see it and try it again."
            )
            self._fail(pk, free, sentence, permanent=True)
            logger.error("%s %s does not finish", self.job, pk)
            return None
        # Compare and set: of two processes, one begins.
        begun = {"n_attempts": F("n_attempts") + 1, "n_starts": n_starts + 1}
        if not self.write(pk, free, **begun, **self._in(self._lease)):
            return None
        return rows.filter(n_starts=n_starts + 1)

    def _fail(
        self, pk: int, row: QuerySet[Any], sentence: str, *, permanent: bool = False
    ) -> int:
        # The current attempt was counted before it began, and is included.
        n = row.values_list("n_attempts", flat=True).first() or 1
        if not permanent and n <= len(self._pauses):
            pause = self._in(self._pauses[n - 1])
            return self.write(pk, row, failure=sentence, **pause)
        final: dict[str, Any] = {"state": self._failed} if self._failed else {}
        return self.write(
            pk,
            row,
            failure=self.last_words(pk, sentence),
            failure_permanent=True,
            **final,
        )

    def _ready(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(next_at__lte=timezone.now()) if self._lease else rows

    def _in(self, pause: timedelta) -> dict[str, Any]:
        return {"next_at": timezone.now() + pause} if self._lease else {}


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return one_line(error.strerror, 200)
    return one_line(error, 200)
