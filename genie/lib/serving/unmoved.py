"""What has not moved since it was looked at in vain: a few queries for all of it.

Jobs of each minute go through everything; what they ask of one thing after the other is
only asked where its rows have changed, or where that was long ago.
"""

from collections.abc import Hashable
from typing import Any

from django.db.models import Count, Max, QuerySet

from genie.lib.serving.caches import computed

# What leaves no trace in the rows that are counted is found after so long.
AN_HOUR = 3600
Stamp = tuple[Any, ...]


def stamps(*listed: tuple[QuerySet[Any], str, str]) -> dict[Any, Stamp]:
    """Count rows by what they belong to, and give the newest: one query for each kind.

    Parameters
    ----------
    listed
        Rows, the field that says what they belong to, and the one that grows.
    """
    found: dict[Any, Stamp] = {}
    for number, (rows, group, grows) in enumerate(listed):
        counted = rows.order_by().values_list(group).annotate(Count("pk"), Max(grows))
        for key, *moved in counted:
            found[key] = (*found.get(key, ()), number, *moved)
    return found


def is_unmoved(name: str, stamp: Hashable) -> bool:
    """Tell whether this process looked at it in vain when its rows were the same."""
    return stamp is not None and computed.get(name) == stamp


def looked_in_vain(name: str, stamp: Hashable, seconds: int = AN_HOUR) -> None:
    """Keep that nothing was to do; the stamp is from before the look."""
    computed.set(name, stamp, seconds)
