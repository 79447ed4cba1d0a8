"""Calls to Prolific's API, and the possible outcomes of unclear ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from crowd.platforms.base import Result
from genie.lib.errors import GenieError

if TYPE_CHECKING:
    import requests

PRODUCTION_URL = "https://api.prolific.com"
PAGE = 100
# More pages than any study has; the limit for a server that never ends.
MOST_PAGES = 1_000
LONGEST_WAIT = 30.0
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


class ProlificRefusal(Exception):
    """The server understood, and said no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ProlificBusy(Exception):
    """The server did not take the call: it surely changed nothing."""


class ProlificSilence(Exception):
    """The call left this machine, and its outcome is unknown."""


@dataclass(frozen=True)
class Account:
    """The account in use; there is no sandbox, so no setting has a default that costs."""

    environment: str = ""
    token: str = ""
    url: str = ""
    workspace_id: str = ""
    project_id: str = ""
    # the key of the completion codes
    code_secret: str = ""
    # the hourly pay, for studies of unknown length
    hourly_cents: int = 1500
    timeout_seconds: float = 30.0
    tries: int = 5

    def base_url(self) -> str:
        if not self.token:
            raise unset("GENIE_PROLIFIC_TOKEN is not set")
        if self.environment == "production":
            return PRODUCTION_URL
        if self.environment != "endpoint" or not self.url:
            raise unset(
                "GENIE_PROLIFIC_ENVIRONMENT must be production, or endpoint with "
                "GENIE_PROLIFIC_URL"
            )
        parts = urlsplit(self.url)
        if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
            raise unset("the token must only be sent over https")
        return self.url.rstrip("/")


class Calls:
    """One account's calls, one after another: Prolific refuses parallel ones for money.

    Calls are repeated if the server is busy or silent. Calls that must not be repeated
    use `without_retry`, which sends them once, whatever happens.
    """

    def __init__(
        self, account: Account, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        import requests

        self._account = account
        self._base = account.base_url()
        self._sleep = sleep
        self._http = requests.Session()
        self._http.trust_env = False  # no password file, no unwanted proxy
        self._http.headers["Authorization"] = f"Token {account.token}"

    def __call__(self, method: str, path: str, **arguments: Any) -> Any:
        problem: Exception = ProlificSilence("never tried")
        for attempt in range(self._account.tries):
            if attempt:
                self._sleep(_wait(problem, attempt))
            try:
                return self.without_retry(method, path, **arguments)
            except (ProlificBusy, ProlificSilence) as error:
                problem = error
        raise problem

    def without_retry(self, method: str, path: str, **arguments: Any) -> Any:
        from requests.exceptions import ConnectTimeout, RequestException

        try:
            answer = self._http.request(
                method,
                f"{self._base}/api/v1/{path}",
                # A redirect would send the token to whatever host it names.
                allow_redirects=False,
                **{"timeout": self._account.timeout_seconds, **arguments},
            )
        except ConnectTimeout as error:
            # There was no connection, so the call has surely not arrived.
            raise ProlificBusy(type(error).__name__) from error
        except RequestException as error:
            raise ProlificSilence(type(error).__name__) from error
        return _read(answer)

    def pages(self, path: str, **query: str) -> Iterator[dict[str, Any]]:
        for page in range(1, MOST_PAGES):
            parameters = {**query, "page": str(page), "page_size": str(PAGE)}
            answer = self("GET", path, params=parameters)
            rows = answer.get("results", [])
            yield from rows
            if not _has_next(answer, page, rows):
                return


def result_of(key: str, act: Callable[[], Result]) -> Result:
    try:
        return act()
    except ProlificRefusal as error:
        if _says_no_money(error):  # It did not happen, and may once there is money.
            return Result(key, "again", message=str(error), code="no-funds")
        return Result(key, "refused", message=str(error))
    except ProlificBusy as error:
        return Result(key, "again", message=str(error), code="throttled")
    except ProlificSilence as error:
        return Result(key, "unknown", message=f"No clear answer: {error}")


def unreachable(error: Exception) -> GenieError:
    return GenieError(
        f"Prolific does not respond: {error}"[:300],
        code="platform-unreachable",
        permanent=False,
    )


def _read(answer: requests.Response) -> Any:
    if answer.status_code == 429 or answer.status_code == 503:
        busy = ProlificBusy(f"HTTP {answer.status_code}")
        busy.retry_after = answer.headers.get("Retry-After", "")  # type: ignore[attr-defined]
        raise busy
    if answer.status_code >= 500 or answer.status_code == 408:
        raise ProlificSilence(f"HTTP {answer.status_code}")
    if answer.status_code >= 300:
        raise ProlificRefusal(answer.status_code, _reason(answer))
    if not answer.content:
        return {}
    try:
        return answer.json()
    except ValueError as error:
        raise ProlificSilence("an answer that is not JSON") from error


def _reason(answer: requests.Response) -> str:
    try:
        error = answer.json().get("error", {})
        detail = error.get("detail", "") if isinstance(error, Mapping) else error
    except (ValueError, AttributeError):
        detail = ""
    sentence = str(detail) if detail else answer.reason or ""
    return f"HTTP {answer.status_code}: {sentence}"[:300]


def _has_next(answer: Mapping[str, Any], page: int, rows: list[Any]) -> bool:
    following = (answer.get("_links") or {}).get("next") or {}
    if following.get("href"):
        return True
    # Some lists have no links; for those the count tells.
    count = (answer.get("meta") or {}).get("count")
    return bool(rows) and isinstance(count, int) and count > page * PAGE


def _wait(problem: Exception, attempt: int) -> float:
    retry_after = str(getattr(problem, "retry_after", ""))
    seconds = float(retry_after) if retry_after.isdecimal() else 0.2 * 2**attempt
    return float(min(seconds, LONGEST_WAIT))


def _says_no_money(error: ProlificRefusal) -> bool:
    words = str(error).lower()
    return "balance" in words or "insufficient" in words or "top up" in words


def unset(what: str) -> GenieError:
    return GenieError(
        f"Prolific is not configured: {what}.", code="platform-not-configured"
    )
