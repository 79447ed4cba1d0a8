import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from crowd.platforms.base import Result
from genie.lib.errors import GenieError

Spec = TypeVar("Spec")
Found = TypeVar("Found")
PAGE = 100
# The limit for a server that never ends a list.
MAX_PAGES = 10_000


URLS = {
    "sandbox": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
    "production": "https://mturk-requester.us-east-1.amazonaws.com",
}


@dataclass(frozen=True)
class Account:
    environment: str
    endpoint_url: str = ""
    production_confirmed: bool = False
    region: str = "us-east-1"
    access_key_id: str = ""
    secret_access_key: str = ""
    queue_url: str = ""
    topic: str = ""
    queue_endpoint_url: str = ""
    threads: int = 10
    timeout_seconds: float = 60.0
    tries: int = 8
    lifetime_seconds: int = 1_209_600
    index_lag_seconds: float = 60.0

    def url(self) -> str:
        """Return the one address that may be called, or refuse missing settings."""
        if self.environment == "endpoint":
            if not self.endpoint_url:
                raise _unset("GENIE_MTURK_ENDPOINT_URL is not set")
            return self.endpoint_url
        if self.environment not in URLS:
            raise _unset(
                "GENIE_MTURK_ENVIRONMENT must be endpoint, sandbox or production"
            )
        if self.environment == "production" and not self.production_confirmed:
            raise _unset("production needs GENIE_MTURK_PRODUCTION=yes as well")
        return URLS[self.environment]


def _unset(what: str) -> GenieError:
    return GenieError(
        f"Mechanical Turk is not configured: {what}.", code="platform-not-configured"
    )


class TurkRefusal(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class TurkBusy(Exception):
    """The server did nothing because of too many requests, after all retries."""


class TurkSilence(Exception):
    """No answer, or an unclear one; the call may have been carried out."""


class Calls(Protocol):
    account: Account
    sleep: Callable[[float], None]

    def __call__(self, operation: str, **arguments: Any) -> dict[str, Any]:
        """Call an operation; raises only TurkRefusal, TurkBusy and TurkSilence."""


def result_of(key: str, act: Callable[[], Result]) -> Result:
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
    """Act on all specs with several threads; yield results as they come.

    If the caller stops iterating, actions that have not begun are dropped.
    """
    pool = ThreadPoolExecutor(max_workers=threads)
    try:
        futures = [pool.submit(act, spec) for spec in specs]
        for future in as_completed(futures):
            yield future.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def each(
    calls: Calls, specs: Iterable[Any], act: Callable[[Any], Result]
) -> Iterator[Result]:
    """Act on specs with a key, several at once; a failure is the result of its spec."""
    return at_once(
        specs,
        lambda spec: result_of(spec.key, lambda: act(spec)),
        calls.account.threads,
    )


def pages(
    calls: Calls, operation: str, name: str, **arguments: Any
) -> Iterator[dict[str, Any]]:
    """Yield all entries of a list; empty and short pages do not end it."""
    token: str | None = None
    used: set[str] = set()
    for _ in range(MAX_PAGES):
        more = {} if token is None else {"NextToken": token}
        answer = calls(operation, MaxResults=PAGE, **arguments, **more)
        yield from answer.get(name, ())
        token = answer.get("NextToken")
        # A repeated token would make us read the same pages for ever.
        if not token or token in used:
            return
        used.add(token)


def all_done(key: str, results: Iterable[Result]) -> Result:
    """Merge several results into one: the first that is not done decides."""
    for result in results:
        if result.state != "done":
            return Result(key, result.state, "", result.message, result.code)
    return Result(key, "done")


# Mechanical Turk's notifications: hints where to look, never the truth.
#
# Notices come twice, late, in any order or not at all, and contain neither workers nor
# answers. So only the names of HITs are read from them.
_ENTITY = re.compile(r"[A-Z0-9]{1,64}")


@dataclass(frozen=True)
class Envelope:
    kind: str
    event_id: str
    message: str
    topic: str = ""
    subscribe_url: str = ""
    # all of it unchanged, for the signature
    fields: Mapping[str, Any] = field(default_factory=dict)


def open_envelope(body: bytes) -> Envelope:
    """Read a topic's message; a notice may come without an envelope.

    Raises
    ------
    GenieError
        ``unreadable`` for anything else.
    """
    text = body.decode("utf-8", "replace")
    envelope = _object(text)
    if isinstance(envelope.get("Events"), list):
        return Envelope("Notification", _word(envelope, "EventDocId"), text)
    kind = _word(envelope, "Type")
    if not kind:
        raise GenieError("The notice is empty.", code="unreadable")
    return Envelope(
        kind,
        _word(envelope, "MessageId"),
        _word(envelope, "Message"),
        _word(envelope, "TopicArn"),
        _word(envelope, "SubscribeURL"),
        envelope,
    )


def hits_in(body: str) -> frozenset[str]:
    """Return the HITs in a message; empty if it is no notice.

    SNS envelopes, whose `Message` is the notice, are read, too.
    """
    notice = _object(body)
    if isinstance(notice.get("Message"), str):
        notice = _object(notice["Message"])
    events = notice.get("Events")
    if not isinstance(events, list):
        return frozenset()
    named = (event.get("HITId") for event in events if isinstance(event, dict))
    return frozenset(
        name for name in named if isinstance(name, str) and _ENTITY.fullmatch(name)
    )


def _word(envelope: dict[str, Any], name: str) -> str:
    value = envelope.get(name)
    return value if isinstance(value, str) else ""


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
