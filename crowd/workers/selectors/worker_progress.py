from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Q

from crowd.hits.models.assignment import Assignment
from crowd.hits.models.campaign import Campaign
from crowd.workers.models.worker import Worker
from crowd.workers.selectors.eligible import COUNTED, n_unseen
from crowd.workers.selectors.shares import left_of_share, most_left

State = Assignment.State
SENT_IN = (State.SUBMITTED, State.APPROVED, State.REJECTED)


@dataclass(frozen=True)
class WorkerProgress:
    n_done: int
    n_left: int
    # whether there may be more left, because counting stopped early
    at_least: bool = False

    @property
    def n_all(self) -> int:
        return self.n_done + self.n_left


def worker_progress(worker: Worker, campaigns: Sequence[Campaign]) -> WorkerProgress:
    counts = Assignment.objects.filter(
        worker=worker, hit__campaign__in=campaigns
    ).aggregate(
        n_done=Count("pk", filter=Q(state__in=SENT_IN)),
        n_open=Count("pk", filter=Q(state=State.ACCEPTED)),
    )
    running = [c for c in campaigns if c.state == Campaign.State.RUNNING]
    n_unseen_inputs = n_unseen(worker, running) if running else 0
    share = most_left(running, left_of_share(worker, running))
    within = share is not None and share <= n_unseen_inputs
    return WorkerProgress(
        n_done=counts["n_done"],
        n_left=counts["n_open"] + (share if within else n_unseen_inputs),
        at_least=n_unseen_inputs == COUNTED and not within,
    )


def is_of_another_kind(assignment: Assignment) -> bool:
    campaign = assignment.hit.campaign
    before = Assignment.objects.filter(
        worker=assignment.worker_id, hit__campaign__pool=campaign.pool
    ).exclude(pk=assignment.pk)
    alike = before.filter(hit__campaign__hit_type__template=campaign.hit_type.template)
    return not alike.exists() and before.exists()
