"""Mechanical Turk and everything that speaks its protocol; the only user of boto3.

Mechanical Turk shows the HITs, takes the answers and pays. Its tokens make a repeated
call harmless for a day. After that, earlier calls are found by our marks: a HIT's
annotation, a reference in the reason of a bonus.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache, partial
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
from crowd.platforms.mturk_protocol import hits as work
from crowd.platforms.mturk_protocol.calls import (
    Account,
    TurkBusy,
    TurkRefusal,
    TurkSilence,
    all_done,
    each,
    hits_in,
    result_of,
)
from crowd.platforms.mturk_protocol.terms import (
    cents,
    dollars,
    qualification_requirements,
)
from genie.lib.errors import GenieError

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
    """Calls operations of one account, at the server's pace.

    All calls of the adapter may be sent twice: they carry a token or are idempotent. So
    botocore retries them, and slows down when the server refuses.
    """

    def __init__(self, account: Account, sleep: Callable[[float], None]) -> None:
        self.account = account
        self.sleep = sleep
        self._client = _client("mturk", account, account.url())

    def __call__(self, operation: str, **arguments: Any) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            answer: dict[str, Any] = getattr(self._client, operation)(**arguments)
        except ClientError as error:
            raise _as_outcome(error.response) from error
        except BotoCoreError as error:
            raise _silence_or_refusal(error) from error
        return answer


def _as_outcome(answer: Mapping[str, Any]) -> Exception:
    told = answer.get("Error", {})
    code, message = told.get("Code", ""), answer.get("Message") or told.get("Message")
    status = answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in BUSY or status == 429:
        return TurkBusy(message or code)
    if status >= 500 or status == 408:
        return TurkSilence(f"HTTP {status} {message or ''}".strip())
    # AWS's code is RequestError for nearly everything; the real one is the service's.
    turk_code = answer.get("TurkErrorCode", "")
    return TurkRefusal(
        turk_code.removeprefix("AWS.MechanicalTurk.") or code, message or ""
    )


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
        native_exclusion=True,
        checks_requirements=True,
        changes_reward=True,
    )

    def __init__(
        self,
        account: Account,
        *,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        account.url()
        self.account = account
        self.environment = account.environment
        self._sleep = sleep
        self._now = now

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> MTurk:
        return cls(Account(**{"environment": "", **options}))

    @cached_property
    def calls(self) -> Connection:
        return Connection(self.account, self._sleep)

    # --- the offer ---------------------------------------------------------------------

    def publish(self, campaign: CampaignSpec) -> Result:
        """Create the HIT type; the same values give the same one."""

        def make() -> Result:
            demands = qualification_requirements(
                campaign.requirements,
                self._people.excluded_from(campaign.pool),
                [
                    self._people.graded_type(test)
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
        return work.post(self.calls, ref, hits)

    def add_capacity(
        self, ref: ExternalRef, more: Sequence[MoreSpec]
    ) -> Iterator[Result]:
        return each(self.calls, more, partial(work.add_places, self.calls))

    def retype(self, ref: ExternalRef, hits: Mapping[str, str]) -> Iterator[Result]:
        return work.retype(self.calls, ref, hits)

    def close(self, ref: ExternalRef) -> Result:
        # Any time in the past ends a HIT at once. Yesterday, to the second, is in the
        # past on every clock, and differs from the request before the HIT was reopened:
        # the same request twice is refused as carried out.
        return self._expire_at(ref, self._now() - timedelta(days=1))

    def resume(self, ref: ExternalRef) -> Result:
        lifetime = timedelta(seconds=self.account.lifetime_seconds)
        return self._expire_at(ref, self._now() + lifetime)

    def _expire_at(self, ref: ExternalRef, at: datetime) -> Result:
        return all_done(ref.campaign_id, list(work.expire_at(self.calls, ref, at)))

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
        return result_of(key, lambda: self._people.exclude(key, worker_id, pool))

    def include(self, key: str, worker_id: str, pool: str) -> Result:
        return result_of(key, lambda: self._people.include(key, worker_id, pool))

    @cached_property
    def _people(self) -> work.People:
        return work.People(self.calls)

    # --- work and money ----------------------------------------------------------------

    def sync(self, ref: ExternalRef, since: datetime | None) -> Iterator[SessionEvent]:
        return work.sync_assignments(self.calls, ref)

    def decide(self, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
        return each(self.calls, decisions, partial(work.decide, self.calls))

    def bonus(self, bonuses: Sequence[BonusSpec]) -> Iterator[Result]:
        return each(self.calls, bonuses, partial(work.pay_bonus, self.calls))

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
        retries={"total_max_attempts": account.tries, "mode": "adaptive"},
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
        NoCredentialsError,
        ParamValidationError,
        PartialCredentialsError,
    )

    local = (NoCredentialsError, PartialCredentialsError, ParamValidationError)
    if isinstance(error, local):
        return TurkRefusal(type(error).__name__, str(error)[:300])
    return TurkSilence(f"{type(error).__name__}: {error}"[:300])
