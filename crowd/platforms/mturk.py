"""Mechanical Turk and everything that speaks its protocol; the only user of boto3.

Mechanical Turk shows the HITs, takes the answers and pays. Its tokens make a repeated
call harmless for a day. After that, earlier calls are found by our marks: a HIT's
annotation, a reference in the reason of a bonus.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Any

from crowd.platforms.base import (
    BonusSpec,
    CampaignSpec,
    Capabilities,
    Completion,
    DecisionSpec,
    ExternalRef,
    HITSpec,
    Identity,
    MoreSpec,
    Outcome,
    Platform,
    Result,
    SessionEvent,
)
from crowd.platforms.mturk_protocol import hits as mturk_hits
from crowd.platforms.mturk_protocol import hits as people
from crowd.platforms.mturk_protocol.calls import (
    TurkBusy,
    TurkRefusal,
    TurkSilence,
    all_done,
    hits_in,
    result_of,
)
from crowd.platforms.mturk_protocol.hits import (
    decide_on_assignments,
    pay_bonuses,
    sync_assignments,
)
from crowd.platforms.mturk_protocol.terms import (
    cents,
    dollars,
    qualification_requirements,
)
from genie.lib.errors import GenieError

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
    calls_per_second: float = 200.0
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


# The rate of calls: as fast as the server allows, learned from its refusals.
WINDOW = 2.0
LEAST = 0.5


class Pace:
    """A token bucket whose rate follows the server's limit.

    It starts at `most`. A refusal sets the rate to slightly below the rate of successes
    in the last two seconds; each success raises it slightly, so it follows a changing
    limit. Thread-safe.


    `back_off` is the share of the measured rate kept after a refusal. Without refusals,
    the rate grows by `climb` calls per second each second.
    """

    def __init__(
        self,
        most: float = 200.0,
        *,
        back_off: float = 0.95,
        climb: float = 0.5,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.most = most
        self.rate = most
        self._back_off = back_off
        self._climb = climb
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._next = clock()
        self._through: deque[float] = deque()
        self._slowed = float("-inf")

    def wait(self) -> None:
        with self._lock:
            now = self._clock()
            # Idle time earns no credit, so there is no burst after a pause.
            turn = max(self._next, now)
            self._next = turn + 1 / self.rate
        if turn > now:
            self._sleep(turn - now)

    def went_through(self) -> None:
        with self._lock:
            now = self._clock()
            self._through.append(now)
            self._forget(now)
            # Each call adds its share, so the rate grows by `climb` a second whatever
            # the number of calls.
            self.rate = min(self.most, self.rate + self._climb / self.rate)

    def note_refusal(self) -> None:
        with self._lock:
            now = self._clock()
            self._forget(now)
            if now - self._slowed < WINDOW / 2:
                return  # The calls of one burst are refused together.
            self._slowed = now
            first = self._through[0] if self._through else now
            # Over a shorter time, a few quick calls would measure a rate that no server
            # sustains.
            measured = len(self._through) / max(now - first, 0.25)
            self.rate = max(LEAST, min(self.rate, measured) * self._back_off)
            self._next = now + 1 / self.rate

    def _forget(self, now: float) -> None:
        while self._through and self._through[0] < now - WINDOW:
            self._through.popleft()


# The assignment in the link while a worker only previews a HIT.
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
BUSY = {
    "ThrottlingException",
    "Throttling",
    "TooManyRequestsException",
    "RequestLimitExceeded",
}
EVENTS = [
    "AssignmentSubmitted",
    "AssignmentApproved",
    "AssignmentRejected",
    "HITReviewable",
]


class Connection:
    """Calls operations of one account, at the server's pace, and retries them.

    All calls of the adapter may be sent twice: they carry a token or are idempotent.
    boto3's own invisible retries are disabled.
    """

    def __init__(
        self,
        account: Account,
        pace: Pace | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.threads = account.threads
        self._account = account
        self._sleep = sleep
        self._pace = pace or Pace(account.calls_per_second)
        self._client = _client("mturk", account, account.url())

    def __call__(self, operation: str, **arguments: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        problem: Exception = TurkSilence("never tried")
        for attempt in range(self._account.tries):
            if attempt:
                self._sleep(min(0.1 * 2**attempt, 10.0))
            self._pace.wait()
            try:
                answer: dict[str, Any] = getattr(self._client, operation)(**arguments)
            except ClientError as error:
                problem = self._to_exception(error)
                if isinstance(problem, TurkRefusal):
                    raise problem from error
            except BotoCoreError as error:
                problem = _silence_or_refusal(error)
                if isinstance(problem, TurkRefusal):
                    raise problem from error
            else:
                self._pace.went_through()
                return answer
        raise problem

    def _to_exception(self, error: Any) -> Exception:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        message = error.response.get("Message") or error.response.get("Error", {}).get(
            "Message", ""
        )
        if code in BUSY or status == 429:
            self._pace.note_refusal()
            return TurkBusy(message or code)
        if status >= 500 or status == 408:
            return TurkSilence(f"HTTP {status} {message}".strip())
        # AWS's code is RequestError for nearly everything; the real one is the
        # service's.
        turk_code = error.response.get("TurkErrorCode", "")
        return TurkRefusal(
            turk_code.removeprefix("AWS.MechanicalTurk.") or code, message
        )


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MTurk(Platform):
    slug = "mturk"
    title = "Mechanical Turk"
    capabilities = Capabilities(
        external=True,
        assigns_items=True,
        answers_there=True,
        pays=True,
        idempotent_bonus=True,
        override_window_days=30,
        auto_approval=True,
        native_exclusion=True,
        checks_requirements=True,
        preview=True,
        sandbox=True,
        changes_reward=True,
    )

    def __init__(
        self,
        account: Account,
        *,
        calls: Connection | None = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = _utc_now,
    ) -> None:
        account.url()
        self.account = account
        self.environment = account.environment
        self._given = calls
        self._sleep = sleep
        self._now = now

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> MTurk:
        return cls(Account(**{"environment": "", **options}))

    @cached_property
    def calls(self) -> Connection:
        return self._given or Connection(self.account, sleep=self._sleep)

    @property
    def _hit_context(self) -> mturk_hits.HITContext:
        return mturk_hits.HITContext(
            self.calls,
            self.environment,
            self.account.lifetime_seconds,
            self.account.index_lag_seconds,
            self._sleep,
        )

    # --- the offer ---------------------------------------------------------------------

    def publish(self, campaign: CampaignSpec) -> Result:
        """Create the HIT type; the same values give the same one."""

        def make() -> Result:
            demands = qualification_requirements(
                campaign.requirements,
                self._people.find_or_create(campaign.pool),
                self.environment,
                [
                    people.graded_type(self._people, test)
                    for test in campaign.requirements.tests
                ],
            )
            hit_type_id = self.calls(
                "create_hit_type",
                Title=campaign.title[:128],
                Description=campaign.description[:2000],
                Keywords=campaign.keywords[:1000],
                Reward=dollars(campaign.reward_cents),
                # Mechanical Turk takes no less than 30 seconds.
                AssignmentDurationInSeconds=max(30, campaign.assignment_seconds),
                AutoApprovalDelayInSeconds=campaign.auto_approval_seconds,
                QualificationRequirements=demands,
            )["HITTypeId"]
            self._ask_for_notices(hit_type_id)
            return Result(campaign.key, "done", hit_type_id)

        return result_of(campaign.key, make)

    def _ask_for_notices(self, hit_type_id: str) -> None:
        # A queue if there is one, because it keeps notices until they are read.
        place = self.account.queue_url or self.account.topic
        if place:
            self.calls(
                "update_notification_settings",
                HITTypeId=hit_type_id,
                Active=True,
                Notification={
                    "Destination": place,
                    "Transport": "SQS" if self.account.queue_url else "SNS",
                    "Version": "2014-08-15",
                    "EventTypes": EVENTS,
                },
            )

    def post(self, ref: ExternalRef, hits: Sequence[HITSpec]) -> Iterator[Result]:
        return mturk_hits.post(self._hit_context, ref, hits)

    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]:
        return mturk_hits.add_capacity(self._hit_context, more)

    def retype(self, ref: ExternalRef, hits: Mapping[str, str]) -> Iterator[Result]:
        return mturk_hits.retype(self._hit_context, ref, hits)

    def close(self, ref: ExternalRef) -> Result:
        ended = mturk_hits.expire(self._hit_context, ref, now=self._now())
        return all_done(ref.campaign_id, list(ended))

    def resume(self, ref: ExternalRef) -> Result:
        opened = mturk_hits.prolong(self._hit_context, ref, now=self._now())
        return all_done(ref.campaign_id, list(opened))

    # --- people ------------------------------------------------------------------------

    def identity(self, parameters: Mapping[str, str]) -> Identity:
        session = parameters.get("assignmentId", "")
        preview = session == PREVIEW
        worker = parameters.get("workerId", "")
        if not session or (not worker and not preview):
            raise GenieError(
                "The link does not identify you; open the HIT again on Mechanical "
                "Turk.",
                code="who-are-you",
            )
        return Identity(
            worker_id=worker,
            session_id="" if preview else session,
            preview=preview,
            hit_id=parameters.get("hitId", ""),
            back_to=parameters.get("turkSubmitTo", ""),
        )

    def completion(self, who: Identity, outcome: Outcome) -> Completion:
        if outcome != "completed" or not who.back_to:
            return Completion("none")
        return Completion(
            "form",
            url=f"{who.back_to.rstrip('/')}/mturk/externalSubmit",
            fields={"assignmentId": who.session_id, "outcome": outcome},
        )

    def exclude(self, key: str, worker_id: str, pool: str, reason: str) -> Result:
        """Grant the worker the qualification that our HITs forbid; never block workers."""
        return people.exclude(self._people, key, worker_id, pool)

    def include(self, key: str, worker_id: str, pool: str) -> Result:
        return people.include(self._people, key, worker_id, pool)

    @cached_property
    def _people(self) -> people.Excluded:
        return people.Excluded(self.calls, self.account.index_lag_seconds, self._sleep)

    # --- work and money ----------------------------------------------------------------

    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        return sync_assignments(self.calls, ref)

    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        return decide_on_assignments(self.calls, decisions)

    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        return pay_bonuses(self.calls, self.environment, bonuses)

    def balance_cents(self) -> int | None:
        try:
            return cents(self.calls("get_account_balance")["AvailableBalance"])
        except (TurkRefusal, TurkBusy, TurkSilence) as error:
            raise GenieError(
                f"Mechanical Turk did not report the account balance: {error}"[:300],
                code="platform-unreachable",
                permanent=False,
            ) from error

    def hints(self) -> Iterator[frozenset[str]]:
        if not self.account.queue_url:
            return
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            yield from self._notices()
        except (BotoCoreError, ClientError) as error:
            raise GenieError(
                f"The queue of notices cannot be read: {error}"[:300],
                code="platform-unreachable",
                permanent=False,
            ) from error

    def _notices(self) -> Iterator[frozenset[str]]:
        queue = _client("sqs", self.account, self.account.queue_endpoint_url or None)
        address = self.account.queue_url
        while True:
            answer = queue.receive_message(QueueUrl=address, MaxNumberOfMessages=10)
            messages = answer.get("Messages", [])
            if not messages:
                return
            for message in messages:
                yield hits_in(message["Body"])
                queue.delete_message(
                    QueueUrl=address, ReceiptHandle=message["ReceiptHandle"]
                )


@lru_cache(maxsize=8)
def _client(service: str, account: Account, url: str | None) -> Any:
    """Return a cached connection of the account, because creating one is slow."""
    import boto3
    from botocore.config import Config

    settings = Config(
        retries={"total_max_attempts": 1, "mode": "standard"},
        max_pool_connections=account.threads + 2,
        connect_timeout=min(10.0, account.timeout_seconds),
        read_timeout=account.timeout_seconds,
    )
    # A separate session: the default one is not thread-safe.
    return boto3.session.Session().client(  # type: ignore[call-overload]
        service,
        region_name=account.region,
        endpoint_url=url,
        aws_access_key_id=account.access_key_id or None,
        aws_secret_access_key=account.secret_access_key or None,
        config=settings,
    )


def _silence_or_refusal(error: Exception) -> Exception:
    from botocore.exceptions import (
        HTTPClientError,
        NoCredentialsError,
        ParamValidationError,
        PartialCredentialsError,
    )

    if isinstance(error, HTTPClientError):
        return TurkSilence(f"{type(error).__name__}: {error}"[:300])
    local = (NoCredentialsError, PartialCredentialsError, ParamValidationError)
    if isinstance(error, local):
        return TurkRefusal(type(error).__name__, str(error)[:300])
    return TurkSilence(f"{type(error).__name__}: {error}"[:300])
