"""Choosers that decide which of the available HITs a worker gets first.

This app hands out HITs in order. The app above may prefer another order and registers a
chooser here; this app does not know its reasons.
"""

from collections.abc import Callable, Collection, Sequence

from crowd.hits.models import Campaign
from crowd.workers.models.worker import Worker

#: Gets the worker, the campaign and the keys of the HITs to choose from, none for all;
#: returns the keys of those to try, in order. None: no preference. Empty: none from this
#: pool now. The chooser makes sure that the next search skips the pool.
Chooser = Callable[[Worker, Campaign, Collection[int]], Sequence[int] | None]

_choosers: dict[str, Chooser] = {}


def register(name: str, chooser: Chooser) -> None:
    """Register a chooser to call for each handed-out HIT; one per name."""
    _choosers[name] = chooser


def preferred(
    worker: Worker,
    campaign: Campaign,
    hits: Sequence[int],
    among: Collection[int] = (),
) -> list[int]:
    for chooser in _choosers.values():
        chosen = chooser(worker, campaign, among)
        if chosen is not None:
            return list(chosen)
    return list(hits)
