"""Skip repeated checks of unchanged objects, with a few queries for all of them.

Jobs that run every minute go through all objects. Their checks of a single object run
again only if its rows have changed, or after a long time.
"""

from collections.abc import Hashable
from typing import Any

from django.db.models import Count, Max, QuerySet

from genie.lib.serving.caches import computed

# Changes outside the counted rows are found after this time.
AN_HOUR = 3600
Stamp = tuple[Any, ...]


def stamps(*listed: tuple[QuerySet[Any], str, str]) -> dict[Any, Stamp]:
    """Count rows by their object, and return the newest: one query for each kind.

    Each of `listed` has the rows, the field with their object, and the one that grows.
    """
    found: dict[Any, Stamp] = {}
    for number, (rows, group, grows) in enumerate(listed):
        counted = rows.order_by().values_list(group).annotate(Count("pk"), Max(grows))
        for key, *moved in counted:
            found[key] = (*found.get(key, ()), number, *moved)
    return found


def is_unmoved(name: str, stamp: Hashable) -> bool:
    """Check whether this process found no work when the rows were the same."""
    return stamp is not None and computed.get(name) == stamp


def looked_in_vain(name: str, stamp: Hashable, seconds: int = AN_HOUR) -> None:
    """Store that there was no work; the stamp is from before the look."""
    computed.set(name, stamp, seconds)
