import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from crowd.platforms.base import (
    BonusSpec,
    DecisionSpec,
    ExternalRef,
    HITSpec,
    MoreSpec,
    QualifyingTest,
    Result,
    SessionEvent,
    SessionStatus,
)
from crowd.platforms.mturk_protocol.calls import (
    Calls,
    TurkBusy,
    TurkRefusal,
    TurkSilence,
    at_once,
    each,
    pages,
    result_of,
)
from crowd.platforms.mturk_protocol.terms import (
    dollars,
    feedback,
    hit_in,
    token,
    was_processed,
)
from crowd.platforms.mturk_protocol.xml import (
    answer_key,
    external_question,
    html_question,
    question_form,
    read_answers,
)
from genie.lib.errors import GenieError


def post(calls: Calls, ref: ExternalRef, hits: Sequence[HITSpec]) -> Iterator[Result]:
    hit_ids: Mapping[str, str] = {}
    # A token protects only for a day. After that, a HIT is looked up by our key before
    # it is posted again.
    if any(hit.sent == "long-ago" for hit in hits):
        try:
            hit_ids = _search_annotations(calls, {hit.key for hit in hits})
        except Exception as error:  # noqa: BLE001 - sorted by `result_of`
            yield from (_same(hit.key, error) for hit in hits)
            return
    yield from (
        Result(hit.key, "done", hit_ids[hit.key]) for hit in hits if hit.key in hit_ids
    )
    missing = [hit for hit in hits if hit.key not in hit_ids]
    yield from each(calls, missing, lambda hit: _post_one(calls, ref, hit))


def _post_one(calls: Calls, ref: ExternalRef, hit: HITSpec) -> Result:
    question = _question(hit)
    try:
        answer = calls(
            "create_hit_with_hit_type",
            HITTypeId=ref.campaign_id,
            MaxAssignments=hit.max_assignments,
            LifetimeInSeconds=calls.account.lifetime_seconds,
            Question=question,
            RequesterAnnotation=hit.key,
            UniqueRequestToken=token(calls.account.environment, hit.key),
        )
    except TurkRefusal as refusal:
        if refusal.code != "HitAlreadyExists":
            raise
        return _accept_existing(calls, hit.key, hit_in(refusal.message))
    return Result(hit.key, "done", answer["HIT"]["HITId"])


def _question(hit: HITSpec) -> str:
    if not hit.page:
        return external_question(hit.url)
    try:
        return html_question(hit.page)
    except GenieError as error:
        if error.code != "question-too-long" or not hit.url:
            raise
    return external_question(hit.url)


def _accept_existing(calls: Calls, key: str, hit_id: str) -> Result:
    """Accept a HIT as ours only if it has our key."""
    if not hit_id:
        hit_id = _search_annotations(calls, {key}).get(key, "")
    hit = calls("get_hit", HITId=hit_id)["HIT"] if hit_id else {}
    if hit.get("RequesterAnnotation") != key:
        return Result(key, "refused", message="The token belongs to another HIT.")
    return Result(key, "done", hit_id)


def _search_annotations(calls: Calls, keys: set[str]) -> dict[str, str]:
    """Search all HITs of the account for those that carry our keys.

    The list is read twice, because it lags; matches in either count.
    """
    hit_ids: dict[str, str] = {}
    for look in range(2):
        if look:
            calls.sleep(calls.account.index_lag_seconds)
        for hit in pages(calls, "list_hits", "HITs"):
            note = hit.get("RequesterAnnotation", "")
            if note in keys:
                hit_ids.setdefault(note, hit["HITId"])
        if len(hit_ids) == len(keys):
            break
    return hit_ids


def add_places(calls: Calls, spec: MoreSpec) -> Result:
    if spec.sent == "long-ago":
        hit = calls("get_hit", HITId=spec.hit_id)["HIT"]
        # The token has expired by then, but the number of places shows whether it was
        # carried out.
        if hit["MaxAssignments"] >= spec.before + spec.n:
            return Result(spec.key, "done", spec.hit_id)
    try:
        calls(
            "create_additional_assignments_for_hit",
            HITId=spec.hit_id,
            NumberOfAdditionalAssignments=spec.n,
            UniqueRequestToken=token(calls.account.environment, spec.key),
        )
    except TurkRefusal as refusal:
        if was_processed(refusal.message):
            return Result(spec.key, "done", spec.hit_id)
        if refusal.code == "InvalidMaximumAssignmentsIncrease":
            return Result(spec.key, "refused", message=refusal.message, code="too-many")
        raise
    return Result(spec.key, "done", spec.hit_id)


def retype(calls: Calls, ref: ExternalRef, hits: Mapping[str, str]) -> Iterator[Result]:
    return at_once(
        hits,
        lambda key: result_of(key, lambda: _retype(calls, ref, key, hits[key])),
        calls.account.threads,
    )


def _retype(calls: Calls, ref: ExternalRef, key: str, hit_id: str) -> Result:
    try:
        calls("update_hit_type_of_hit", HITId=hit_id, HITTypeId=ref.campaign_id)
    except TurkRefusal:
        # An earlier call may have arrived, and a worker have taken the HIT since then:
        # its pay is stored with the HIT.
        hit = calls("get_hit", HITId=hit_id)["HIT"]
        if hit.get("HITTypeId") != ref.campaign_id:
            raise
    return Result(key, "done", hit_id)


def expire_at(calls: Calls, ref: ExternalRef, until: datetime) -> Iterator[Result]:
    """Set the time from which workers cannot accept the HITs."""
    expires_at = until.astimezone(UTC).replace(microsecond=0)

    def end(hit_id: str) -> Result:
        try:
            calls("update_expiration_for_hit", HITId=hit_id, ExpireAt=expires_at)
        except TurkRefusal as refusal:
            # A HIT deleted there is ended, which is all we want.
            gone = refusal.code == "HITDoesNotExist"
            if not gone and not was_processed(refusal.message):
                raise
        return Result(hit_id, "done", hit_id)

    return at_once(
        list(ref.hit_ids.values()),
        lambda hit_id: result_of(hit_id, lambda: end(hit_id)),
        calls.account.threads,
    )


def _same(key: str, error: Exception) -> Result:
    def fail() -> Result:
        raise error

    return result_of(key, fail)


NEVER = frozenset({"QualificationDoesNotExist", "InvalidQualificationState"})
LOOKS = 4


class People:
    """The qualifications of workers; one of each pool excludes them from its work."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self._known: dict[str, str] = {}

    def excluded_from(self, pool: str) -> str:
        """Return the id of a pool's exclusion type, creating it if missing."""
        if pool not in self._known:
            self._known[pool] = self._type_of(
                f"Has done enough of this work: {pool}"[:190],
                "Workers with this qualification are not offered more of this "
                "requester's work of this kind.",
            )
        return self._known[pool]

    def exclude(self, key: str, worker_id: str, pool: str) -> Result:
        self.calls(
            "associate_qualification_with_worker",
            QualificationTypeId=self.excluded_from(pool),
            WorkerId=worker_id,
            IntegerValue=1,
            SendNotification=False,
        )
        return Result(key, "done")

    def include(self, key: str, worker_id: str, pool: str) -> Result:
        try:
            self.calls(
                "disassociate_qualification_from_worker",
                QualificationTypeId=self.excluded_from(pool),
                WorkerId=worker_id,
                Reason="You can take this work again.",
            )
        except TurkRefusal as refusal:
            if refusal.code not in NEVER:
                raise
        return Result(key, "done")

    def graded_type(self, test: QualifyingTest) -> str:
        """Create a qualification type with a test that is graded there; return its id.

        Its value is the percentage of right answers; the HIT type requires the pass
        mark.
        """
        again: dict[str, Any] = {}
        if test.retry_seconds is not None:
            again["RetryDelayInSeconds"] = test.retry_seconds
        return self._type_of(
            test.name[:190],
            test.introduction.strip()[:2000] or test.name,
            Test=question_form(test.name, test.introduction, test.questions),
            AnswerKey=answer_key(test.questions),
            TestDurationInSeconds=test.seconds,
            **again,
        )

    def _type_of(self, name: str, description: str, **more: Any) -> str:
        """Create a qualification type, or find the one of that name.

        Creating comes first, because the search is fuzzy and lags; it finds the name by
        one word.
        """
        try:
            return str(
                self.calls(
                    "create_qualification_type",
                    Name=name,
                    Description=description,
                    QualificationTypeStatus="Active",
                    **more,
                )["QualificationType"]["QualificationTypeId"]
            )
        except TurkRefusal as refusal:
            # It shares its code with other wrong parameters; only the message
            # identifies it.
            if "already" not in refusal.message.lower():
                raise
        for look in range(LOOKS):
            if look:
                self.calls.sleep(self.calls.account.index_lag_seconds / LOOKS)
            for row in pages(
                self.calls,
                "list_qualification_types",
                "QualificationTypes",
                Query=name.split()[-1],
                MustBeRequestable=False,
                MustBeOwnedByCaller=True,
            ):
                if row["Name"] == name:
                    return str(row["QualificationTypeId"])
        raise TurkBusy(f"The qualification type {name!r} is not in the list yet.")


STATUS: dict[str, SessionStatus] = {
    "Submitted": "submitted",
    "Approved": "approved",
    "Rejected": "rejected",
}
NO_REASON = "The work does not follow the instructions of the HIT."


def sync_assignments(calls: Calls, ref: ExternalRef) -> Iterator[SessionEvent]:
    """Yield the assignments of all HITs of the offer, each once.

    The counters of a HIT are not used, because they leave out work that waits for a
    decision. Everything available is yielded before a failure is raised.
    """
    failures: list[Exception] = []
    lock = threading.Lock()

    def look(hit_id: str) -> list[SessionEvent]:
        try:
            rows = pages(calls, "list_assignments_for_hit", "Assignments", HITId=hit_id)
            return [event_of(row) for row in rows]
        except TurkRefusal as refusal:
            if refusal.code != "HITDoesNotExist":
                with lock:
                    failures.append(refusal)
        except (TurkBusy, TurkSilence) as error:
            with lock:
                failures.append(error)
        return []

    reported: set[tuple[str, str, str]] = set()
    for events in at_once(list(ref.hit_ids.values()), look, calls.account.threads):
        for event in events:
            name = (event.session_id, event.worker_id, event.status)
            if name not in reported:
                reported.add(name)
                yield event
    if failures:
        raise GenieError(
            f"{len(failures)} of {len(ref.hit_ids)} HITs could not be checked: "
            f"{failures[0]}"[:300],
            code="platform-unreachable",
            permanent=False,
        )


def event_of(row: dict[str, Any]) -> SessionEvent:
    raw = row.get("Answer", "")
    message = ""
    try:
        answers = read_answers(raw)
    except GenieError as error:
        answers, message = {}, error.message
    return SessionEvent(
        session_id=row["AssignmentId"],
        worker_id=row["WorkerId"],
        status=STATUS[row["AssignmentStatus"]],
        hit_id=row["HITId"],
        accepted_at=row.get("AcceptTime"),
        submitted_at=row.get("SubmitTime"),
        auto_approval_at=row.get("AutoApprovalTime"),
        answers=answers,
        raw=raw,
        message=message,
    )


def decide(calls: Calls, spec: DecisionSpec) -> Result:
    """Send a decision; an earlier one is looked up, not guessed."""
    wanted_status = "Rejected" if spec.decision == "reject" else "Approved"
    try:
        if spec.decision == "reject":
            calls(
                "reject_assignment",
                AssignmentId=spec.session_id,
                RequesterFeedback=feedback(spec.message) or NO_REASON,
            )
        else:
            message = feedback(spec.message)
            calls(
                "approve_assignment",
                AssignmentId=spec.session_id,
                OverrideRejection=spec.decision == "override",
                **({"RequesterFeedback": message} if message else {}),
            )
    except TurkRefusal as refusal:
        # Without money nothing was decided, so there is no decision to look up.
        if refusal.code == "InsufficientFunds":
            raise
        # Any other refusal may mean that it was decided before: by us, by staff there,
        # or automatically.
        assignment = calls("get_assignment", AssignmentId=spec.session_id)["Assignment"]
        status = assignment["AssignmentStatus"]
        if status == wanted_status:
            return Result(spec.key, "done", spec.session_id)
        # Still undecided, so it was refused for a different reason.
        if status == "Submitted" or spec.decision == "override":
            raise
        return Result(
            spec.key, "refused", spec.session_id, STATUS[status], "decided-otherwise"
        )
    return Result(spec.key, "done", spec.session_id)


def pay_bonus(calls: Calls, spec: BonusSpec) -> Result:
    """Pay a bonus once; its reason carries a reference by which it is found again."""
    name = token(calls.account.environment, spec.key)
    reference = f"(reference {name[:12]})"
    amount = dollars(spec.amount_cents)
    # The token has expired by then, but the payments carry our reference.
    if spec.sent == "long-ago":
        for paid in pages(
            calls, "list_bonus_payments", "BonusPayments", AssignmentId=spec.session_id
        ):
            if reference in paid.get("Reason", ""):
                return Result(spec.key, "done", name[:12])
    try:
        calls(
            "send_bonus",
            WorkerId=spec.worker_id,
            AssignmentId=spec.session_id,
            BonusAmount=amount,
            Reason=f"{feedback(spec.reason)[:900]} {reference}",
            UniqueRequestToken=name,
        )
    except TurkRefusal as refusal:
        if not was_processed(refusal.message):
            raise
    return Result(spec.key, "done", name[:12])
