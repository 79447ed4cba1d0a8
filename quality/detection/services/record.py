"""What a worker has done of a pool so far, as far as the next HIT depends on it.

The same queries whatever was shown last: the time that they take tells nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Q

from crowd.hits.models.assignment import Answer, Assignment
from crowd.scales.base import all_scales
from crowd.workers.models.worker import Worker
from quality.test_questions.models import Placement
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
    tests : list of (str, bool)
        Polarity of each answered test question and whether it was right, in the order
        of answering.
    """

    n_shown: int
    n_answered: int
    tests: list[tuple[str, bool]] = field(default_factory=list)

    @property
    def n_tests(self) -> int:
        return len(self.tests)

    def counts(self, first: int | None = None) -> dict[str, tuple[int, int]]:
        """Give right answers and all answers by polarity, or those of the first few."""
        counts: dict[str, tuple[int, int]] = {}
        for polarity, correct in self.tests[:first]:
            right, asked = counts.get(polarity, (0, 0))
            counts[polarity] = (right + correct, asked + 1)
        return counts


def record_of(worker: Worker, pool: str) -> Record:
    """Count what the worker did, and mark their answers to test questions.

    Three queries. Grades may not be written yet, and here they need not be.
    """
    done = Assignment.objects.filter(worker=worker, hit__campaign__pool=pool)
    graded = done.filter(state__in=COUNTED)
    counts = done.aggregate(
        shown=Count("pk"), answered=Count("pk", filter=Q(state__in=ANSWERED))
    )
    placements = {
        row.item_id: row
        for row in Placement.objects.filter(
            COUNTING, item__hit__in=graded.order_by().values("hit")
        ).select_related("campaign__hit_type")
    }
    # No item has the key 0: with it the query is made also where there is nothing.
    rows = (
        Answer.objects.filter(item__in=[0, *placements], assignment__worker=worker)
        .order_by("assignment_id", "pk")
        .values_list("item_id", "criterion", "slot", "value")
    )
    return Record(counts["shown"], counts["answered"], _tally(placements, rows))


def _tally(
    placements: dict[int, Placement], rows: Iterable[tuple[int, str, str, float]]
) -> list[tuple[str, bool]]:
    answers: dict[int, list[Marked]] = {}
    for item, criterion, slot, value in rows:
        if criterion in placements[item].campaign.hit_type.criteria:
            answers.setdefault(item, []).append(Marked(criterion, slot, value))
    tests = []
    for item, marked in answers.items():
        placement = placements[item]
        hit_type = placement.campaign.hit_type
        if len(hit_type.criteria) > 1 and "criteria" not in placement.expected:
            continue  # such a question cannot be marked, see `grade`
        by_criterion = marks(
            marked,
            polarity=placement.polarity,
            expected=placement.expected,
            threshold=all_scales()[hit_type.scale].binary_threshold,
        )
        # One question is one piece of evidence: its criteria were read together.
        right = 2 * sum(by_criterion.values()) > len(by_criterion)
        tests.append((str(placement.polarity), right))
    return tests
