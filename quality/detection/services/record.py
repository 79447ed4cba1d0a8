"""A worker's record in a pool, for the choice of the next HIT.

The queries never depend on the last HIT, so that their duration is no clue.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Q

from crowd.hits.models import Assignment
from crowd.scales.find import all_scales
from crowd.workers.models.worker import Worker
from genie.lib.database import prepare
from quality.test_questions.models import Placement
from quality.test_questions.services import COUNTED, Guesses, Marked, guesses, marks

# Polarity of a question, and the probability of a right answer without reading.
Kind = tuple[str, Guesses]
# questions that are not retired, or that staff have restored
COUNTING = Q(retirement=None) | Q(retirement__restored_at__isnull=False)


@dataclass(frozen=True)
class Record:
    """One worker in one pool.

    Parameters
    ----------
    n_shown : int
        HITs that they were given, including returned ones.
    tests : list of (Kind, bool)
        Kind of each answered test question and whether it was right, in the order of
        answering.
    """

    n_shown: int
    tests: list[tuple[Kind, bool]] = field(default_factory=list)

    @property
    def n_tests(self) -> int:
        return len(self.tests)

    def counts(self, first: int | None = None) -> dict[Kind, tuple[int, int]]:
        """Count (right, all) answers by kind, optionally of the first few only."""
        counts: dict[Kind, tuple[int, int]] = {}
        for kind, correct in self.tests[:first]:
            right, asked = counts.get(kind, (0, 0))
            counts[kind] = (right + correct, asked + 1)
        return counts


def record_of(worker: Worker, pool: str) -> Record:
    """Count the worker's HITs and mark their answers to test questions.

    Two queries, without stored grades, which may not be written yet.
    """
    n_shown = dict(_count_hits(worker.pk, pool)).get(worker.pk, 0)
    return Record(n_shown, _tally(_read_answers(worker.pk, pool)))


_count_hits = prepare(
    lambda worker, pool: (
        Assignment.objects.filter(worker=worker, hit__campaign__pool=pool)
        .order_by()
        .values_list("worker")
        .annotate(n=Count("pk"))
    )
)
_read_answers = prepare(
    lambda worker, pool: (
        Placement.objects.filter(
            COUNTING,
            campaign__pool=pool,
            item__answers__assignment__worker=worker,
            item__answers__assignment__state__in=COUNTED,
        )
        .order_by("item__answers__assignment", "item__answers")
        .values_list(
            "item",
            "polarity",
            "expected",
            "campaign__hit_type__criteria",
            "campaign__hit_type__scale",
            "item__answers__criterion",
            "item__answers__slot",
            "item__answers__value",
        )
    )
)


def _tally(rows: Iterable[tuple[Any, ...]]) -> list[tuple[Kind, bool]]:
    questions: dict[int, tuple[Any, ...]] = {}
    answers: dict[int, list[Marked]] = {}
    for item, *question, criterion, slot, value in rows:
        _, expected, criteria, _ = question
        # With several criteria such a question cannot be marked, see `grade`.
        if criterion in criteria and (len(criteria) == 1 or "criteria" in expected):
            questions[item] = tuple(question)
            answers.setdefault(item, []).append(Marked(criterion, slot, value))
    tests = []
    for item, marked in answers.items():
        polarity, expected, _, scale = questions[item]
        by_criterion = marks(
            marked,
            polarity=polarity,
            expected=expected,
            threshold=all_scales()[scale].binary_threshold,
        )
        # One question is one piece of evidence: its criteria were read together.
        right = 2 * sum(by_criterion.values()) > len(by_criterion)
        slots = sorted({one.slot for one in marked})
        own = guesses(expected, polarity, scale, slots)
        tests.append(((str(polarity), own), right))
    return tests
