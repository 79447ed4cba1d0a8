import time

from django.core.cache import cache
from django.http import HttpRequest

from crowd.requester.models.account import Requester
from crowd.requester.protocol.errors import TurkError
from genie.accounts.throttles import WrongTokens

# Calls of one requester run one after another, each in a thread of the server. This
# many leave threads for other users. Clients that are refused wait and try again.
CALLS = 500
WINDOW_SECONDS = 10


def count(requester: Requester) -> None:
    """Count a call; refuse it if there were too many recently.

    Raises
    ------
    TurkError
        A ``ThrottlingException``, after which Amazon's clients try again later.
    """
    window = int(time.time()) // WINDOW_SECONDS
    key = f"turk-calls-{requester.pk}-{window}"
    if cache.add(key, 1, 2 * WINDOW_SECONDS):
        return
    try:
        n = cache.incr(key)
    except ValueError:
        return  # It was evicted since, because the cache was full.
    if n > CALLS:
        raise _too_many()


def count_refused(request: HttpRequest) -> None:
    """Count a call without a valid signature, by address; refuse it as `count` does."""
    if not WrongTokens().one_more(request):
        raise _too_many()


def _too_many() -> TurkError:
    return TurkError("Rate exceeded.", "Throttling", kind="ThrottlingException")
