"""Kinds of work in one pool: a task's own HITs, its comparisons, its joint evaluations."""

from __future__ import annotations

from crowd.hits.models.assignment import Assignment


def is_of_another_kind(assignment: Assignment) -> bool:
    """Tell whether the worker has had work of the pool, and none that looks like this."""
    campaign = assignment.hit.campaign
    before = Assignment.objects.filter(
        worker=assignment.worker_id, hit__campaign__pool=campaign.pool
    ).exclude(pk=assignment.pk)
    alike = before.filter(hit__campaign__hit_type__template=campaign.hit_type.template)
    return not alike.exists() and before.exists()
