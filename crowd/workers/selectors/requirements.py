from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Q

from crowd.elsewhere.models import ExternalSession
from crowd.hits.models import Assignment, Campaign
from crowd.platforms.selfhosted import SelfHosted
from crowd.requester.models import WorkerRecord
from crowd.workers.models.qualification_attempt import QualificationGrant, TestAttempt
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.models.requirement import Requirement
from crowd.workers.models.worker import Profile, Worker
from genie.lib.database import prepare

State = QualificationTest.State


@dataclass(frozen=True)
class TestStanding:
    __test__ = False  # hides it from pytest

    test: QualificationTest
    held: bool
    # staff revoked the qualification: no further attempt
    revoked: bool
    open_attempt: TestAttempt | None
    n_tried: int
    # when the next attempt may begin, if not yet
    wait_until: datetime | None

    @property
    def n_left(self) -> int:
        n_open = 1 if self.open_attempt else 0
        return max(0, self.test.n_tries - self.n_tried + n_open)

    @property
    def may_start(self) -> bool:
        if self.open_attempt is not None:
            return True
        barred = self.held or self.revoked or self.wait_until is not None
        return self.n_left > 0 and not barred

    @property
    def hopeless(self) -> bool:
        return not self.held and (self.revoked or self.n_left == 0)


def in_force(now: datetime) -> Q:
    return Q(ended_at=None) & (Q(expires_at=None) | Q(expires_at__gt=now))


def held_qualifications(
    worker: Worker, names: Collection[str], now: datetime
) -> set[str]:
    """Return which of these qualifications the worker has, in at most two queries."""
    grants = dict(
        QualificationGrant.objects.filter(
            in_force(now), worker=worker, name__in=names
        ).values_list("name", "version")
    )
    if not grants:
        return set()
    floors: dict[str, int] = dict(
        QualificationTest.objects.filter(name__in=list(grants), asks_again=True)
        .exclude(state=State.DRAFT)
        .order_by()
        .values_list("name")
        .annotate(newest=Max("version"))
    )
    # Staff's own grants have no version and always count.
    return {
        name
        for name, version in grants.items()
        if version == 0 or version >= floors.get(name, 0)
    }


def standings_of(
    worker: Worker, names: Collection[str], now: datetime
) -> dict[str, TestStanding]:
    """Return the worker's standing in the tests of these names; at most five queries."""
    tests = list(
        QualificationTest.objects.filter(name__in=names, state=State.PUBLISHED)
    )
    if not tests:
        return {}
    held_names = held_qualifications(worker, names, now)
    newest = dict(
        QualificationGrant.objects.filter(worker=worker, name__in=names)
        .order_by("pk")
        .values_list("name", "revoked_by")
    )
    revoked = {name for name, by in newest.items() if by}
    tries: dict[str, list[TestAttempt]] = {}
    for attempt in TestAttempt.objects.filter(
        worker=worker, test__name__in=names
    ).select_related("test"):
        tries.setdefault(attempt.test.name, []).append(attempt)
    return {
        test.name: _test_standing(
            test,
            tries.get(test.name, []),
            test.name in held_names,
            test.name in revoked,
            now,
        )
        for test in tests
    }


def _test_standing(
    test: QualificationTest,
    tries: list[TestAttempt],
    is_held: bool,
    revoked: bool,
    now: datetime,
) -> TestStanding:
    # An expired pass does not count against a new beginning.
    last_pass = max((attempt.pk for attempt in tries if attempt.passed), default=0)
    tries_since_pass = [
        attempt
        for attempt in tries
        if attempt.test_id == test.pk and attempt.pk > last_pass
    ]
    # An attempt at a version that was replaced meanwhile is finished all the same.
    unfinished = [attempt for attempt in tries if attempt.finished_at is None]
    waits = [
        attempt.next_try_at
        for attempt in tries_since_pass
        if attempt.next_try_at is not None
    ]
    wait_until = max(waits, default=None)
    return TestStanding(
        test=test,
        held=is_held,
        revoked=revoked and not is_held,
        open_attempt=unfinished[0] if unfinished else None,
        n_tried=len(tries_since_pass),
        wait_until=wait_until if wait_until is not None and wait_until > now else None,
    )


def texts_of_tests(pool: str) -> set[str]:
    drawn = QualificationQuestion.objects.filter(test__pool=pool).exclude(data=None)
    shown = drawn.order_by().values_list("data", flat=True)
    return {str(data["prediction"]) for data in shown if data and "prediction" in data}


def inputs_of_tests(pool: str) -> set[str]:
    return set(
        QualificationQuestion.objects.filter(test__pool=pool)
        .exclude(content_key="")
        .order_by()
        .values_list("content_key", flat=True)
    )


Kind = Requirement.Kind
AssignmentState = Assignment.State
# The approval rate does not count before this many decisions, as on Mechanical Turk.
ENOUGH_WORK = 100
# self-reported properties
SAID = {Kind.COUNTRY, Kind.LANGUAGE}


@dataclass(frozen=True)
class TrackRecord:
    n_approved: int
    n_rejected: int

    @property
    def percent(self) -> int:
        """Return the approval rate in whole percent; 100 before there is enough work."""
        n = self.n_approved + self.n_rejected
        return 100 if n < ENOUGH_WORK else 100 * self.n_approved // n


def track_record(worker: Worker) -> TrackRecord:
    counts = Assignment.objects.filter(worker=worker).aggregate(
        approved=Count("pk", filter=Q(state=AssignmentState.APPROVED)),
        rejected=Count("pk", filter=Q(state=AssignmentState.REJECTED)),
    )
    return TrackRecord(counts["approved"], counts["rejected"])


def unmet(
    worker: Worker, campaigns: Collection[Campaign], now: datetime
) -> dict[int, list[Requirement]]:
    """Return the unmet requirements by campaign, in six queries however many campaigns.

    A worker with no stated or checked country does not meet a country requirement,
    unless the platform that sent them filters by it.
    """
    required = _requirements_of(campaigns)
    if not required:
        return {}
    rows = [row for of_campaign in required.values() for row in of_campaign]
    meets = _judge(worker, rows, now)
    vouched = _vouched_campaigns(worker, campaigns)
    lacking = {
        pk: [
            row
            for row in of_campaign
            if not meets(row) and row.content not in vouched.get(pk, ())
        ]
        for pk, of_campaign in required.items()
    }
    return {pk: of_campaign for pk, of_campaign in lacking.items() if of_campaign}


def _requirements_of(campaigns: Collection[Campaign]) -> dict[int, list[Requirement]]:
    if not campaigns:
        return {}
    pks: dict[str | None, list[int]] = {}
    for campaign in campaigns:
        pks.setdefault(campaign.pool_id, []).append(campaign.pk)
    rows = _read_required(*pks, *(one.pk for one in campaigns), n_pools=len(pks))
    rows_by_campaign: dict[int, list[Requirement]] = {}
    for row in rows:
        concerned = [row.campaign_id] if row.campaign_id else pks[row.pool_id]
        for pk in concerned:
            before = rows_by_campaign.setdefault(pk, [])
            if row.content not in [other.content for other in before]:
                before.append(row)
    return rows_by_campaign


_read_required = prepare(
    lambda *given, n_pools: Requirement.objects.filter(
        Q(pool__slug__in=given[:n_pools]) | Q(campaign__pk__in=given[n_pools:])
    ).order_by("pk")
)


def _judge(
    worker: Worker, rows: list[Requirement], now: datetime
) -> Callable[[Requirement], bool]:
    counted = {Kind.APPROVED, Kind.APPROVED_PERCENT}
    record = (
        track_record(worker)
        if any(row.kind in counted for row in rows)
        else TrackRecord(0, 0)
    )
    profile = (
        Profile.objects.filter(worker=worker).first()
        if any(row.kind in SAID for row in rows)
        else None
    ) or Profile()
    country = ""
    if any(row.kind == Kind.COUNTRY for row in rows):
        said = WorkerRecord.objects.filter(worker=worker)
        country = said.values_list("country", flat=True).first() or profile.country
    spoken = set(profile.languages.split())
    names = {row.test_name for row in rows if row.kind == Kind.TEST}
    held_names = held_qualifications(worker, names, now) if names else set()

    def meets(row: Requirement) -> bool:
        if row.kind == Kind.TEST:
            return row.test_name in held_names
        if row.kind == Kind.APPROVED:
            return record.n_approved >= (row.at_least or 0)
        if row.kind == Kind.APPROVED_PERCENT:
            return record.percent >= (row.at_least or 0)
        if row.kind == Kind.LANGUAGE:
            return not spoken.isdisjoint(row.language_codes)
        return country in row.country_codes

    return meets


def _vouched_campaigns(
    worker: Worker, campaigns: Collection[Campaign]
) -> dict[int, list[list[object]]]:
    if worker.platform == SelfHosted.slug:
        return {}
    sessions = ExternalSession.objects.filter(worker=worker, campaign__in=campaigns)
    vouched: dict[int, list[list[object]]] = {}
    for pk, contents in sessions.values_list("campaign", "attested"):
        vouched.setdefault(pk, []).extend(contents)
    return vouched
