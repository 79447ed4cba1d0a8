"""Which of the HITs that a worker could be given comes first.

This app hands HITs out in their order and knows no reason for another. The app above may
have one and registers a chooser here; what its reasons are, nobody below learns.
"""

from collections.abc import Callable, Sequence

from django.db.models import QuerySet

from crowd.hits.models.campaign import HIT, Campaign
from crowd.workers.models.worker import Worker

#: Gets the worker, the campaign and its HITs that the worker may be given; gives the keys
#: of those to try, in order. None: no preference. Empty: nothing from this pool now,
#: which the chooser has made sure of, so that the next search passes the pool over.
Chooser = Callable[[Worker, Campaign, QuerySet[HIT]], Sequence[int] | None]

_choosers: dict[str, Chooser] = {}


def register(name: str, chooser: Chooser) -> None:
    """Have a chooser asked whenever a HIT is handed out; one of each name."""
    _choosers[name] = chooser


def preferred(
    worker: Worker, campaign: Campaign, unseen: QuerySet[HIT], hits: Sequence[int]
) -> list[int]:
    """Give the HITs to try, in order: a chooser's, or those that come first."""
    for chooser in _choosers.values():
        chosen = chooser(worker, campaign, unseen)
        if chosen is not None:
            return list(chosen)
    return list(hits)
