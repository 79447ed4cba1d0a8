"""How often one requester may call, in the words that their programs understand."""

from __future__ import annotations

import time

from django.core.cache import cache

from crowd.requester.models.account import Requester
from crowd.requester.protocol.errors import TurkError

# Calls of one requester go one after another, each in a thread of the server: these many
# leave threads for everybody else. Clients wait and try again when they are told so.
CALLS = 500
WINDOW_SECONDS = 10


def count(requester: Requester) -> None:
    """Count a call; refuse it where there were too many just now.

    Raises
    ------
    TurkError
        A ``ThrottlingException``, upon which Amazon's clients try again later.
    """
    window = int(time.time()) // WINDOW_SECONDS
    key = f"turk-calls-{requester.pk}-{window}"
    if cache.add(key, 1, 2 * WINDOW_SECONDS):
        return
    try:
        n = cache.incr(key)
    except ValueError:
        return  # gone since: the cache was full
    if n > CALLS:
        raise TurkError("Rate exceeded.", "Throttling", kind="ThrottlingException")
