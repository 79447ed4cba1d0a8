"""How a step runs as a job: once it fails for good, everybody who waits can see it.

The same for a submission's own steps and for those of every human evaluation. `advance`
tries again what is not permanent, at most three times in all. Attempts are counted
before they are made: one that kills its process counts, too.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db.models import F, Model, QuerySet

from genie.lib.errors import GenieError
from genie.lib.logs import one_line

logger = logging.getLogger(__name__)

# How often a step may fail with a reason, and how often it may not even come to an
# end because its process was killed, ran out of memory or out of time.
MAX_ATTEMPTS = 3
MAX_STARTS = 6

_INTERRUPTED = (
    f"This step was interrupted {MAX_STARTS} times before it finished: it was killed, or "
    "it needs more time or memory than is available. Staff can see it and retry it."
)
UNFAILED: dict[str, Any] = {
    "n_attempts": 0,
    "failed_step": "",
    "failure": "",
    "failure_permanent": False,
}


class LostRace(Exception):
    """Another process did the step first: what this one wrote must be undone."""


class Attempt:
    """One step of one row: the query finds it in the state that the step sets out from.

    Elsewhere the step has nothing to do and nothing to say.
    """

    def __init__(self, model: type[Model], pk: int, state: str, step: str) -> None:
        self.pk = pk
        self.step = step
        self.row: QuerySet[Any] = model._default_manager.filter(pk=pk, state=state)

    def write(self, row: QuerySet[Any], **fields: Any) -> int:
        """Change the row if it is still there; a subclass keeps others up with it."""
        return row.update(**fields)

    def run(self, service: Callable[[], object]) -> None:
        """Run the service; note a failure on the row instead of losing it."""
        if not self._begun():
            return
        try:
            service()
        except LostRace:
            pass
        except GenieError as error:
            if self.note(error.message, permanent=error.permanent):
                logger.warning("%s: %s", self, error.message)
        except Exception as error:
            noted = self.note(
                f"An internal error stopped this step ({type(error).__name__}: "
                f"{_in_words(error)}). Staff can see it and try again.",
                permanent=False,
            )
            if noted:
                logger.exception("%s failed", self)
        else:
            # A step that only looks does well for weeks between two failures.
            self.write(self.row.exclude(n_attempts=0), **UNFAILED)

    def note(self, sentence: str, *, permanent: bool) -> bool:
        """Write what went wrong, in words, where those who wait and staff see it.

        False, and nothing written, when another process has done the step meanwhile.
        """
        # The present attempt was counted before it began, and is among these.
        final = permanent or self.row.filter(n_attempts__gte=MAX_ATTEMPTS).exists()
        return bool(
            self.write(
                self.row,
                failed_step=self.step,
                failure=self.last_words(sentence) if final else sentence,
                failure_permanent=final,
            )
        )

    def last_words(self, sentence: str) -> str:
        """Say what else follows from it when it is not tried again by itself."""
        return sentence

    def _begun(self) -> bool:
        """Count the attempt; False when there is nothing to attempt, or no more."""
        waiting = self.row.filter(failure_permanent=False)
        if waiting.filter(n_attempts__gte=MAX_STARTS).exists():
            self.note(_INTERRUPTED, permanent=True)
            logger.error("%s never comes to an end", self)
            return False
        return bool(waiting.update(n_attempts=F("n_attempts") + 1))

    def __str__(self) -> str:
        return f"Step {self.step} of {self.row.model._meta.verbose_name} {self.pk}"


def _in_words(error: Exception) -> str:
    """Say what happened; not where on the server, which is nobody's business."""
    if isinstance(error, OSError) and error.strerror:
        return one_line(error.strerror, 200)
    return one_line(error, 200)
