"""Right and wrong answers to test questions, counted by worker."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from django.db.models import Count, Q

from quality.test_questions.models import Grade


@dataclass(frozen=True)
class Counts:
    """How many test questions of one polarity each worker answered, and how well."""

    workers: list[int]
    n_correct: list[int]
    n_questions: list[int]

    @property
    def sha256(self) -> str:
        rows = [self.workers, self.n_correct, self.n_questions]
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def counts_of(pool: str, polarity: str, *, simulated: bool) -> Counts:
    """Count right and wrong answers by worker, in the order of the workers' keys."""
    rows = list(
        Grade.objects.filter(pool=pool, polarity=polarity, worker__simulated=simulated)
        .values("worker_id")
        .annotate(n=Count("pk"), right=Count("pk", filter=Q(correct=True)))
        # In one order, so that the same counts have the same hash.
        .order_by("worker_id")
    )
    return Counts(
        workers=[row["worker_id"] for row in rows],
        n_correct=[row["right"] for row in rows],
        n_questions=[row["n"] for row in rows],
    )
