from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, Q

from crowd.workers.models.qualification_attempt import QualificationGrant, TestAttempt
from crowd.workers.models.qualification_test import (
    QualificationQuestion,
    QualificationTest,
)
from crowd.workers.models.worker import Worker

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


def held(worker: Worker, names: Collection[str], now: datetime) -> set[str]:
    """Return which of these qualifications the worker has, in at most two queries."""
    grants = dict(
        QualificationGrant.objects.filter(
            in_force(now), worker=worker, name__in=names
        ).values_list("name", "version")
    )
    if not grants:
        return set()
    floors = _floors(grants)
    # Staff's own grants have no version and always count.
    return {
        name
        for name, version in grants.items()
        if version == 0 or version >= floors.get(name, 0)
    }


def _floors(names: Collection[str]) -> dict[str, int]:
    rows = (
        QualificationTest.objects.filter(name__in=list(names), asks_again=True)
        .exclude(state=State.DRAFT)
        .order_by()
        .values_list("name")
        .annotate(newest=Max("version"))
    )
    return dict(rows)


def standings_of(
    worker: Worker, names: Collection[str], now: datetime
) -> dict[str, TestStanding]:
    """Return the worker's standing in the tests of these names; at most five queries."""
    tests = list(
        QualificationTest.objects.filter(name__in=names, state=State.PUBLISHED)
    )
    if not tests:
        return {}
    held_names = held(worker, names, now)
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
        test.name: _standing(
            test,
            tries.get(test.name, []),
            test.name in held_names,
            test.name in revoked,
            now,
        )
        for test in tests
    }


def _standing(
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
