"""How often one requester may call, in the words that their programs understand."""

import time

from django.core.cache import cache
from django.http import HttpRequest

from crowd.requester.models.account import Requester
from crowd.requester.protocol.errors import TurkError
from genie.accounts.throttles import WrongTokens

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
        raise _too_many()


def count_refused(request: HttpRequest) -> None:
    """Count a call that nobody of ours has signed, by address.

    Raises
    ------
    TurkError
        As above, instead of what is wrong with the signature.
    """
    if not WrongTokens().one_more(request):
        raise _too_many()


def _too_many() -> TurkError:
    return TurkError("Rate exceeded.", "Throttling", kind="ThrottlingException")
