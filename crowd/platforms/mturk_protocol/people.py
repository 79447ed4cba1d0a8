import time
from collections.abc import Callable
from typing import Any

from crowd.platforms.base import Result
from crowd.platforms.demands import QualifyingTest
from crowd.platforms.mturk_protocol.calls import (
    Calls,
    TurkBusy,
    TurkRefusal,
    pages,
    result_of,
)
from crowd.platforms.mturk_protocol.xml import answer_key, question_form

NEVER = frozenset({"QualificationDoesNotExist", "InvalidQualificationState"})
LOOKS = 4


class Excluded:
    def __init__(
        self,
        calls: Calls,
        index_lag_seconds: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.calls = calls
        self._lag = index_lag_seconds
        self._sleep = sleep
        self._known: dict[str, str] = {}

    def of(self, pool: str) -> str:
        """Return the id of a pool's exclusion type, creating it if missing."""
        if pool not in self._known:
            self._known[pool] = self.type_of(
                f"Has done enough of this work: {pool}"[:190],
                "Workers with this qualification are not offered more of this "
                "requester's work of this kind.",
            )
        return self._known[pool]

    def type_of(self, name: str, description: str, **more: Any) -> str:
        return qualification_type(
            self.calls,
            name,
            description,
            index_lag_seconds=self._lag,
            sleep=self._sleep,
            **more,
        )


def exclude(people: Excluded, key: str, worker_id: str, pool: str) -> Result:
    def act() -> Result:
        people.calls(
            "associate_qualification_with_worker",
            QualificationTypeId=people.of(pool),
            WorkerId=worker_id,
            IntegerValue=1,
            SendNotification=False,
        )
        return Result(key, "done")

    return result_of(key, act)


def include(people: Excluded, key: str, worker_id: str, pool: str) -> Result:
    def act() -> Result:
        try:
            people.calls(
                "disassociate_qualification_from_worker",
                QualificationTypeId=people.of(pool),
                WorkerId=worker_id,
                Reason="You can take this work again.",
            )
        except TurkRefusal as refusal:
            if refusal.code not in NEVER:
                raise
        return Result(key, "done")

    return result_of(key, act)


def graded_type(people: Excluded, test: QualifyingTest) -> str:
    """Create a qualification type with a test that is graded there; return its id.

    Its value is the percentage of right answers; the HIT type requires the pass mark.
    """
    again: dict[str, Any] = {}
    if test.retry_seconds is not None:
        again["RetryDelayInSeconds"] = test.retry_seconds
    return people.type_of(
        test.name[:190],
        test.introduction.strip()[:2000] or test.name,
        Test=question_form(test.name, test.introduction, test.questions),
        AnswerKey=answer_key(test.questions),
        TestDurationInSeconds=test.seconds,
        **again,
    )


def qualification_type(
    calls: Calls,
    name: str,
    description: str,
    *,
    index_lag_seconds: float = 60.0,
    sleep: Callable[[float], None] = time.sleep,
    **more: Any,
) -> str:
    """Create a qualification type, or find the one of that name.

    Creating comes first, because the search is fuzzy and lags; it finds the name by one
    word.
    """
    try:
        return str(
            calls(
                "create_qualification_type",
                Name=name,
                Description=description,
                QualificationTypeStatus="Active",
                **more,
            )["QualificationType"]["QualificationTypeId"]
        )
    except TurkRefusal as refusal:
        # It shares its code with other wrong parameters; only the message identifies
        # it.
        if "already" not in refusal.message.lower():
            raise
    for look in range(LOOKS):
        if look:
            sleep(index_lag_seconds / LOOKS)
        for row in pages(
            calls,
            "list_qualification_types",
            "QualificationTypes",
            Query=name.split()[-1],
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        ):
            if row["Name"] == name:
                return str(row["QualificationTypeId"])
    raise TurkBusy(f"The qualification type {name!r} is not in the list yet.")
