"""Mark the answers to test questions right or wrong."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from crowd.campaigns.services import undo
from crowd.hits.models.assignment import Answer, Assignment
from crowd.hits.models.campaign import Campaign
from crowd.scales.find import all_scales
from quality.test_questions.models import Grade, Placement
from quality.test_questions.services.marking import Marked, marks

COUNTED = (Assignment.State.SUBMITTED, Assignment.State.APPROVED)


def grade(campaign: Campaign) -> int:
    """Grade the ungraded answers; return the number of new grades.

    A rating above the scale's threshold counts as "good" (Genie, section 5: binarized
    at 0.5), on each marked criterion by itself. Check marks beside the ratings do not
    count, nor do questions of several criteria that do not define which can be marked.
    """
    settled = timezone.now() - undo.CHANGEABLE
    old = Q(assignment__submitted_at__lte=settled) | Q(assignment__submitted_at=None)
    n = _grade(campaign, old)
    with transaction.atomic():
        # The lock keeps answers unchanged while they are marked.
        Campaign.objects.select_for_update(of=("self",), no_key=True).get(
            pk=campaign.pk
        )
        return n + _grade(campaign, Q(assignment__submitted_at__gt=settled))


def again(assignment: Assignment) -> None:
    """Regrade an assignment with changed answers; callers lock the campaign."""
    if Grade.objects.filter(assignment=assignment).delete()[0]:
        _grade(assignment.hit.campaign, Q(assignment=assignment))


def _grade(campaign: Campaign, which: Q) -> int:
    threshold = all_scales()[campaign.hit_type.scale].binary_threshold
    several = len(campaign.hit_type.criteria) > 1
    placements = {
        placement.item_id: placement
        for placement in Placement.objects.filter(campaign=campaign)
        if "criteria" in placement.expected or not several
    }
    done = set(
        Grade.objects.filter(placement__campaign=campaign).values_list(
            "placement_id", "assignment_id"
        )
    )
    values: dict[tuple[int, int, int], list[Marked]] = {}
    answers = Answer.objects.filter(
        which,
        item__in=list(placements),
        assignment__state__in=COUNTED,
        criterion__in=list(campaign.hit_type.criteria),
    ).values_list(
        "item_id",
        "assignment_id",
        "assignment__worker_id",
        "criterion",
        "slot",
        "value",
    )
    for item_id, assignment_id, worker_id, criterion, slot, value in answers:
        key = (item_id, assignment_id, worker_id)
        values.setdefault(key, []).append(Marked(criterion, slot, value))
    new = [
        Grade(
            placement=placements[item_id],
            assignment_id=assignment_id,
            worker_id=worker_id,
            pool=campaign.pool,
            criterion=criterion,
            polarity=placements[item_id].polarity,
            correct=correct,
        )
        for (item_id, assignment_id, worker_id), marked in sorted(
            values.items(), key=lambda pair: pair[0]
        )
        if (placements[item_id].pk, assignment_id) not in done
        for criterion, correct in marks(
            marked,
            polarity=placements[item_id].polarity,
            expected=placements[item_id].expected,
            threshold=threshold,
        ).items()
    ]
    # Two processes may grade one campaign; the first row stays.
    Grade.objects.bulk_create(new, ignore_conflicts=True, batch_size=2_000)
    return len(new)
