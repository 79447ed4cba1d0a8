"""What a worker has done of a pool so far, as far as the next HIT depends on it.

The same queries whatever was shown last: the time that they take tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q

from crowd.hits.models.assignment import Assignment
from crowd.scales.base import all_scales
from crowd.workers.models.worker import Worker
from quality.test_questions.models import Placement, Polarity
from quality.test_questions.services.grade import COUNTED
from quality.test_questions.services.marking import Marked, marks

State = Assignment.State
# questions that are not retired, or that staff have restored
COUNTING = Q(retirement=None) | Q(retirement__restored_at__isnull=False)
ANSWERED = (State.SUBMITTED, State.APPROVED, State.REJECTED)


@dataclass(frozen=True)
class Record:
    """One worker in one pool.

    Parameters
    ----------
    n_shown, n_answered : int
        HITs that they were given, whatever became of them, and those handed in.
    tests : dict
        Right answers and all answers to test questions, by polarity.
    """

    n_shown: int
    n_answered: int
    tests: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def n_tests(self) -> int:
        return sum(asked for _, asked in self.tests.values())


def record_of(worker: Worker, pool: str) -> Record:
    """Count what the worker did, and mark their answers to test questions.

    Two queries. Grades may not be written yet, and here they need not be.
    """
    done = Assignment.objects.filter(worker=worker, hit__campaign__pool=pool)
    counts = done.aggregate(
        shown=Count("pk"), answered=Count("pk", filter=Q(state__in=ANSWERED))
    )
    answered = Placement.objects.filter(
        COUNTING,
        campaign__pool=pool,
        item__answers__assignment__worker=worker,
        item__answers__assignment__state__in=COUNTED,
    ).order_by("item__answers")
    rows = answered.values_list(
        "item",
        "polarity",
        "expected",
        "campaign__hit_type__criteria",
        "campaign__hit_type__scale",
        "item__answers__criterion",
        "item__answers__slot",
        "item__answers__value",
    )
    return Record(counts["shown"], counts["answered"], _tally(rows))


def _tally(rows: Iterable[tuple[Any, ...]]) -> dict[str, tuple[int, int]]:
    questions: dict[int, tuple[Any, ...]] = {}
    answers: dict[int, list[Marked]] = {}
    for item, *question, criterion, slot, value in rows:
        _, expected, criteria, _ = question
        # With several criteria such a question cannot be marked, see `grade`.
        if criterion in criteria and (len(criteria) == 1 or "criteria" in expected):
            questions[item] = tuple(question)
            answers.setdefault(item, []).append(Marked(criterion, slot, value))
    right, asked = Counter[str](), Counter[str]()
    for item, marked in answers.items():
        polarity, expected, _, scale = questions[item]
        by_criterion = marks(
            marked,
            polarity=polarity,
            expected=expected,
            threshold=all_scales()[scale].binary_threshold,
        )
        asked[polarity] += 1
        # One question is one piece of evidence: its criteria were read together.
        right[polarity] += 2 * sum(by_criterion.values()) > len(by_criterion)
    return {kind: (right[kind], asked[kind]) for kind in Polarity.values if asked[kind]}
