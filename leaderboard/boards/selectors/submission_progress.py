"""Where a submission is on its way, in eight steps that everybody can follow."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from crowd.hits.models.campaign import Campaign
from leaderboard.boards.selectors.rows import Pending
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.selectors.progress import n_judged
from leaderboard.submissions.models.submission import Submission, SubmissionEvent
from leaderboard.submissions.selectors.visibility import VisibleParts
from quality.bans.selectors.held import waits_for_decision

State = Submission.State
Status = Literal["done", "now", "failed", "waiting"]

LABELS: dict[str, str] = {
    State.RECEIVED: "Received",
    State.VALID: "Valid",
    State.MEASURED: "Measured",
    State.APPROVED: "Approved",
    State.ANNOTATING: "Collecting ratings",
    State.ANNOTATED: "Ratings complete",
    State.SCORED: "Scored",
    State.PUBLISHED: "Published",
}
# What readers outside the team are told of a step that is done.
_DONE: dict[str, str] = {
    State.RECEIVED: "The predictions were received.",
    State.VALID: "Every instance has its prediction.",
    State.MEASURED: "Automatic metrics are computed.",
    State.APPROVED: "Budget approved by staff.",
    State.ANNOTATING: "HITs were posted for workers.",
    State.ANNOTATED: "All ratings are in.",
    State.SCORED: "Unreliable ratings were excluded and the rest averaged.",
    State.PUBLISHED: "The result is on the board.",
}
# What is waited for once a step is done.
_WAITS: dict[str, str] = {
    State.RECEIVED: "The file is being checked against the task's instances.",
    State.VALID: "Automatic metrics are being computed.",
    State.MEASURED: "Waiting for staff to approve the cost of human evaluation.",
    State.APPROVED: "Waiting for the campaign to be created.",
    State.ANNOTATING: "Workers are rating the outputs.",
    State.ANNOTATED: "The score is being computed.",
    State.SCORED: "The result is about to be published.",
    State.PUBLISHED: "",
}
# What follows once that is done.
_NEXT: dict[str, str] = {
    State.RECEIVED: "Next: automatic metrics, usually within minutes.",
    State.VALID: "Next: staff decide on the cost of human evaluation.",
    State.MEASURED: "Next: workers rate the outputs.",
    State.APPROVED: "Next: workers rate the outputs.",
    State.ANNOTATING: "Next: the score is computed and published.",
    State.ANNOTATED: "Next: the result is published.",
}
# What is said instead where programs play the people.
_SIMULATED: dict[str, str] = {
    "HITs were posted for workers.": "HITs were posted for simulated annotators.",
    "Next: workers rate the outputs.": "Next: simulated annotators rate the outputs.",
    "Workers are rating the outputs.": "Simulated annotators are rating the outputs.",
}
# Off the walk: the step that did not come about, and what is said instead.
_OFF_WALK: dict[str, tuple[str, str, str]] = {
    State.INVALID: (State.VALID, "Invalid", "The file is invalid."),
    State.DECLINED: (State.APPROVED, "Declined", "Staff declined the cost."),
    State.STOPPED: (
        State.ANNOTATED,
        "Stopped",
        "Staff stopped the human evaluation and published no result.",
    ),
}


@dataclass(frozen=True)
class Step:
    """One dot of the state line."""

    state: str
    label: str
    status: Status
    at: datetime | None
    sentence: str


@dataclass(frozen=True)
class SubmissionProgress:
    """The state line, the newest event in words, and what is waited for."""

    steps: list[Step]
    events: list[SubmissionEvent]
    waits_for: str
    next: str
    pending: Pending | None

    @property
    def newest(self) -> SubmissionEvent | None:
        return self.events[-1] if self.events else None


def submission_progress(
    submission: Submission, evaluation: HumanEvaluation | None, view: VisibleParts
) -> SubmissionProgress:
    """Tell how far it is as the viewer may know it: events in full for team and staff."""
    events = list(submission.events.order_by("pk"))
    pending = _pending(submission, evaluation)
    return SubmissionProgress(
        steps=_steps(submission, events, view),
        events=events if view.inner else [],
        waits_for=_waits_for(submission, evaluation, pending),
        next=_honest(submission, _NEXT.get(submission.state, "")),
        pending=pending,
    )


def _pending(
    submission: Submission, evaluation: HumanEvaluation | None
) -> Pending | None:
    if submission.state != State.ANNOTATING or evaluation is None:
        return None
    n = n_judged([submission.pk]).get(submission.pk, 0)
    return Pending(n=min(n, evaluation.n_instances), of=evaluation.n_instances)


def _waits_for(
    submission: Submission,
    evaluation: HumanEvaluation | None,
    pending: Pending | None,
) -> str:
    if submission.state != State.ANNOTATING or evaluation is None:
        return _honest(submission, _WAITS.get(submission.state, ""))
    campaign = evaluation.campaign
    if campaign.state == Campaign.State.SCHEDULED:
        return f"HITs will be posted on {campaign.starts_at:%A, %Y-%m-%d, %H:%M} UTC."
    if campaign.state == Campaign.State.PAUSED:
        return "Staff paused the campaign."
    if pending is None:
        return ""
    if pending.n >= pending.of and waits_for_decision(
        submission.task.slug, simulated=submission.simulated
    ):
        return "All ratings are in. Staff are deciding whether to exclude some workers."
    judges = "simulated annotators" if submission.simulated else "workers"
    return f"{pending.n:,} of {pending.of:,} instances rated by {judges}."


def _steps(
    submission: Submission,
    events: list[SubmissionEvent],
    view: VisibleParts,
) -> list[Step]:
    # a step may be taken twice (scored again): the last time counts
    last = {event.state: event for event in events}
    reached = _reached(submission, last)
    # the only state that is itself a thing going on, and not the end of one
    going_on = submission.state == State.ANNOTATING and not submission.failed_step
    steps = []
    for index, state in enumerate(Submission.WALK):
        if index <= reached:
            event = last.get(state)
            sentence = (
                event.sentence
                if event and view.inner
                else _honest(submission, _DONE[state])
            )
            at = event.at if event else None
            status: Status = "now" if going_on and index == reached else "done"
            steps.append(Step(state, _label(submission, state), status, at, sentence))
        elif index == reached + 1 and not going_on:
            steps.append(_next_step(submission, state, last, view))
        else:
            steps.append(Step(state, _label(submission, state), "waiting", None, ""))
    return steps


def _label(submission: Submission, state: str) -> str:
    return _honest(submission, LABELS[state])


def _honest(submission: Submission, words: str) -> str:
    """Say "people" only of people."""
    return _SIMULATED.get(words, words) if submission.simulated else words


def _reached(submission: Submission, last: dict[str, SubmissionEvent]) -> int:
    """Give the index of the last step that is done."""
    if submission.state in Submission.WALK:
        return Submission.WALK.index(submission.state)
    if submission.state in _OFF_WALK:
        return Submission.WALK.index(_OFF_WALK[submission.state][0]) - 1
    walked = [i for i, state in enumerate(Submission.WALK) if state in last]
    return max(walked, default=0)


def _next_step(
    submission: Submission,
    state: str,
    last: dict[str, SubmissionEvent],
    view: VisibleParts,
) -> Step:
    if submission.state in _OFF_WALK:
        _, label, sentence = _OFF_WALK[submission.state]
        event = last.get(submission.state)
        explanation = event.sentence if event and view.inner else sentence
        return Step(
            submission.state, label, "failed", event.at if event else None, explanation
        )
    if submission.state == State.WITHDRAWN:
        event = last.get(State.WITHDRAWN)
        at = event.at if event else None
        return Step(
            State.WITHDRAWN,
            "Withdrawn",
            "failed",
            at,
            "Withdrawn by the team or by staff.",
        )
    if submission.failed:
        explanation = (
            submission.failure
            if view.inner
            else "This step failed because of a problem on our side."
        )
        return Step(state, _label(submission, state), "failed", None, explanation)
    # what is waited for stands below the line, in full
    return Step(state, _label(submission, state), "now", None, "")
