"""How the rest of the adapter calls Mechanical Turk, and how calls end."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Protocol, TypeVar

from crowd.platforms.base import Result
from genie.lib.errors import GenieError

Spec = TypeVar("Spec")
Found = TypeVar("Found")
PAGE = 100
# A server that never ends a list is not believed for ever.
MAX_PAGES = 10_000


class TurkRefusal(Exception):
    """The server understood the request and did nothing."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class TurkBusy(Exception):
    """The server did nothing because too much was asked of it, however often."""


class TurkSilence(Exception):
    """No answer, or none that says what happened; it may have been carried out."""


class Calls(Protocol):
    """One connection to one account."""

    threads: int

    def __call__(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation.

        Raises
        ------
        TurkRefusal, TurkBusy, TurkSilence
            As they say; nothing else.
        """


def result_of(key: str, act: Callable[[], Result]) -> Result:
    """Turn however a call ends into a result."""
    try:
        return act()
    except TurkRefusal as error:
        if error.code == "InsufficientFunds":
            return Result(key, "again", message=error.message, code="no-funds")
        return Result(key, "refused", message=str(error)[:300])
    except TurkBusy as error:
        return Result(key, "again", message=str(error)[:300], code="throttled")
    except TurkSilence as error:
        return Result(key, "unknown", message=str(error)[:300])
    except GenieError as error:
        return Result(key, "refused", message=error.message[:300], code=error.code)


def at_once(
    specs: Iterable[Spec], act: Callable[[Spec], Found], threads: int
) -> Iterator[Found]:
    """Act on all specs with several threads; give what comes out as it comes.

    Whoever stops listening stops the sending: what has not begun is dropped.
    """
    pool = ThreadPoolExecutor(max_workers=threads)
    try:
        futures = [pool.submit(act, spec) for spec in specs]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def pages(
    calls: Calls, operation: str, name: str, **arguments: Any
) -> Iterator[dict[str, Any]]:
    """Give everything that a list holds; empty and short pages do not end it."""
    token: str | None = None
    used: set[str] = set()
    for _ in range(MAX_PAGES):
        more = {} if token is None else {"NextToken": token}
        answer = calls(operation, MaxResults=PAGE, **arguments, **more)
        yield from answer.get(name, ())
        token = answer.get("NextToken")
        # A token that comes back would have us read the same pages for ever.
        if not token or token in used:
            return
        used.add(token)


def all_done(key: str, results: Iterable[Result], platform_id: str = "") -> Result:
    """Sum up several results as one: the first that is not done decides."""
    for result in results:
        if result.state != "done":
            return Result(key, result.state, platform_id, result.message, result.code)
    return Result(key, "done", platform_id)
