import threading
from collections.abc import Iterator, Sequence
from typing import Any

from crowd.platforms.base import (
    BonusSpec,
    DecisionSpec,
    ExternalRef,
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
    pages,
    result_of,
)
from crowd.platforms.mturk_protocol.terms import dollars, feedback, token, was_processed
from crowd.platforms.mturk_protocol.xml import read_answers
from genie.lib.errors import GenieError

STATUS: dict[str, SessionStatus] = {
    "Submitted": "submitted",
    "Approved": "approved",
    "Rejected": "rejected",
}
NO_REASON = "The work does not follow the instructions of the HIT."


def sync(calls: Calls, ref: ExternalRef) -> Iterator[SessionEvent]:
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
    for events in at_once(list(ref.hit_ids.values()), look, calls.threads):
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


def decide(calls: Calls, decisions: Sequence[DecisionSpec]) -> Iterator[Result]:
    """Send decisions; earlier ones are looked up, not guessed."""
    yield from at_once(
        decisions,
        lambda spec: result_of(spec.key, lambda: _decide(calls, spec)),
        calls.threads,
    )


def _decide(calls: Calls, spec: DecisionSpec) -> Result:
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
            spec.key,
            "refused",
            spec.session_id,
            STATUS[status],
            "decided-otherwise",
        )
    return Result(spec.key, "done", spec.session_id)


def bonus(
    calls: Calls, environment: str, bonuses: Sequence[BonusSpec]
) -> Iterator[Result]:
    """Pay each bonus once; its reason carries a reference by which it is found again."""
    yield from at_once(
        bonuses,
        lambda spec: result_of(spec.key, lambda: _bonus(calls, environment, spec)),
        calls.threads,
    )


def _bonus(calls: Calls, environment: str, spec: BonusSpec) -> Result:
    name = token(environment, spec.key)
    reference = f"(reference {name[:12]})"
    amount = dollars(spec.amount_cents)
    # The token has expired by then, but the payments carry our reference.
    if spec.sent == "long-ago":
        for paid in pages(
            calls,
            "list_bonus_payments",
            "BonusPayments",
            AssignmentId=spec.session_id,
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
