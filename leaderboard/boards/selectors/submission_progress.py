"""A submission's progress, in eight steps."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Literal

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.text import capfirst
from django.utils.timesince import timesince
from django.utils.translation import get_language, gettext, gettext_noop

from crowd.hits.models import Campaign
from crowd.hits.selectors import open_pages, stopped_words
from genie.lib.serving.languages import ENGLISH
from leaderboard.boards.selectors.rows import Pending
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.ranked_scores import n_judged, to_approve
from leaderboard.evaluation.selectors.system_ratings import evaluation_of
from leaderboard.evaluation.selectors.unsettled import LAST_CHECK, unsettled
from leaderboard.evaluation.services.refit import AGAIN
from leaderboard.submissions.models import Submission, SubmissionEvent
from leaderboard.submissions.selectors import VisibleParts
from quality.bans.selectors import waits_for_decision

# Whom a submission waits for, since when, and how long that usually takes.

# The usual time is the median of at most so many, and of no fewer than these.
MOST, LEAST = 20, 5
_MINUTE = timedelta(minutes=1)


def waiting_sentence(
    submission: Submission, waits: str, events: list[SubmissionEvent]
) -> str:
    """Return a sentence; `waits` is its beginning, without a full stop."""
    since = _arrival(submission, events)
    if since is None:
        return f"{waits}."
    said = {"waits": waits, "since": _format_span(timezone.now() - since)}
    after = Submission.WALK.index(submission.state) + 1
    usual = _usual(submission, Submission.WALK[after])
    if usual is None:
        return gettext("%(waits)s, for %(since)s so far.") % said
    n, lasts = usual
    return gettext(
        "%(waits)s, for %(since)s so far; usually %(usual)s (median of the last %(n)s)."
    ) % {**said, "usual": _format_span(lasts), "n": n}


def _arrival(submission: Submission, events: list[SubmissionEvent]) -> datetime | None:
    return next((e.at for e in events if e.state == submission.state), None)


def _usual(submission: Submission, after: str) -> tuple[int, timedelta] | None:
    state = submission.state
    others = SubmissionEvent.objects.filter(
        submission__task=submission.task_id,
        # programs answer in minutes, people in days
        submission__simulated=submission.simulated,
    ).exclude(submission=submission)
    left = others.filter(state=after).order_by("-pk")
    ends = dict(left.values_list("submission", "at")[:MOST])
    if len(ends) < LEAST:
        return None
    came = others.filter(state=state, submission__in=ends).order_by("-pk")
    # the first arrival of each is the last one read
    starts: dict[int, datetime] = dict(came.values_list("submission", "at"))
    lasted = [
        (ends[pk] - at).total_seconds() for pk, at in starts.items() if ends[pk] >= at
    ]
    if len(lasted) < LEAST:
        return None
    return len(lasted), timedelta(seconds=median(lasted))


def _expected_day(
    submission: Submission, events: list[SubmissionEvent], pending: Pending | None
) -> str:
    """Return the place in the queue and the expected day of the score, if known."""
    queue, day = "", _expected_at(submission, events, pending)
    if submission.state == State.MEASURED:
        n = to_approve().filter(pk__lte=submission.pk).count()
        queue = gettext("Number %(n)s of %(of)s in the queue for approval.") % {
            "n": n,
            "of": to_approve().count(),
        }
    if day is None:
        return queue
    score = gettext("Score expected on %(day)s.")
    return f"{queue} {score % {'day': date_format(day, 'l, Y-m-d')}}".strip()


def _expected_at(
    submission: Submission, events: list[SubmissionEvent], pending: Pending | None
) -> datetime | None:
    since, now = _arrival(submission, events), timezone.now()
    if since and pending and pending.n:  # at the pace so far
        return now + (now - since) * ((pending.of - pending.n) / pending.n)
    usual = _usual(submission, State.PUBLISHED)
    return max(now, since + usual[1]) if since and usual else None


def _format_span(span: timedelta) -> str:
    if span < _MINUTE:
        return gettext("less than a minute")
    now = timezone.now()
    return timesince(now - span, now, depth=1)


State = Submission.State
Status = Literal["done", "now", "failed", "waiting"]

LABELS: dict[str, str] = {
    State.RECEIVED: gettext_noop("Received"),
    State.VALID: gettext_noop("Valid"),
    State.MEASURED: gettext_noop("Measured"),
    State.APPROVED: gettext_noop("Approved"),
    State.ANNOTATING: gettext_noop("Collecting ratings"),
    State.ANNOTATED: gettext_noop("Ratings complete"),
    State.SCORED: gettext_noop("Scored"),
    State.PUBLISHED: gettext_noop("Published"),
}
# Sentences on completed steps for readers outside the team.
_DONE: dict[str, str] = {
    State.RECEIVED: gettext_noop("The predictions were received."),
    State.VALID: gettext_noop("Every instance has its prediction."),
    State.MEASURED: gettext_noop("Automatic metrics are computed."),
    State.APPROVED: gettext_noop("Budget approved by staff."),
    State.ANNOTATING: gettext_noop("HITs were posted for workers."),
    State.ANNOTATED: gettext_noop("All ratings are in."),
    State.SCORED: gettext_noop(
        "Unreliable ratings were excluded and the rest averaged."
    ),
    State.PUBLISHED: gettext_noop("The result is on the board."),
}
# Who is waited for after a step; the time is added.
_WAITS: dict[str, str] = {
    State.RECEIVED: gettext_noop("Waits for the site to check the file"),
    State.VALID: gettext_noop("Waits for the site to compute automatic metrics"),
    State.MEASURED: gettext_noop("Waits for staff to approve its cost"),
    State.APPROVED: gettext_noop("Waits for the site to create the campaign"),
    State.ANNOTATING: gettext_noop("Waits for workers to rate the outputs"),
    State.ANNOTATED: gettext_noop("Waits for the site to compute the score"),
    State.SCORED: gettext_noop("Waits for the site to publish the result"),
}
# The next step.
_NEXT: dict[str, str] = {
    State.RECEIVED: gettext_noop("Next: automatic metrics, usually within minutes."),
    State.VALID: gettext_noop("Next: staff decide on the cost of human evaluation."),
    State.MEASURED: gettext_noop("Next: workers rate the outputs."),
    State.APPROVED: gettext_noop("Next: workers rate the outputs."),
    State.ANNOTATING: gettext_noop("Next: the score is computed and published."),
    State.ANNOTATED: gettext_noop("Next: the result is published."),
}
# Sentences for programs that simulate people.
_SIMULATED: dict[str, str] = {
    "HITs were posted for workers.": gettext_noop(
        "HITs were posted for simulated annotators."
    ),
    "Next: workers rate the outputs.": gettext_noop(
        "Next: simulated annotators rate the outputs."
    ),
    "Waits for workers to rate the outputs": gettext_noop(
        "Waits for simulated annotators to rate the outputs"
    ),
}
# Sentences for studies in which nothing has a price.
_COLLEAGUES: dict[str, str] = {
    "Budget approved by staff.": gettext_noop("Approved"),
    "HITs were posted for workers.": "",
    "Waits for the site to create the campaign": _WAITS[State.ANNOTATING],
    gettext_noop("Waits for staff, who paused the campaign"): _WAITS[State.ANNOTATING],
}
# States off the walk: the step that did not happen, and the sentence instead.
_OFF_WALK: dict[str, tuple[str, str, str]] = {
    State.INVALID: (
        State.VALID,
        gettext_noop("Invalid"),
        gettext_noop("The file is invalid."),
    ),
    State.DECLINED: (
        State.APPROVED,
        gettext_noop("Declined"),
        gettext_noop("Staff declined the cost."),
    ),
    State.STOPPED: (
        State.ANNOTATED,
        gettext_noop("Stopped"),
        gettext_noop("Staff stopped the human evaluation and published no result."),
    ),
}


@dataclass(frozen=True)
class Step:
    state: str
    label: str
    status: Status
    at: datetime | None
    sentence: str


@dataclass(frozen=True)
class SubmissionProgress:
    steps: list[Step]
    events: list[SubmissionEvent]
    waits_for: str
    next: str
    pending: Pending | None
    # people's progress, in words
    rated: str = ""
    # the place in the queue and the day of the score
    expected: str = ""

    @property
    def version(self) -> str:
        """Return a tag of this state, which changes with anything displayed."""
        newest = self.newest.pk if self.newest else 0
        stands = [(step.state, step.status, step.sentence) for step in self.steps]
        text = repr((newest, stands, self.waits_for, self.rated, self.expected))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def place(self) -> int:
        return max(1, sum(step.status in {"done", "now"} for step in self.steps))

    @property
    def newest(self) -> SubmissionEvent | None:
        return self.events[-1] if self.events else None


def submission_progress(
    submission: Submission, evaluation: HumanEvaluation | None, view: VisibleParts
) -> SubmissionProgress:
    """Return the progress that the viewer may see: events in full for team and staff."""
    events = list(submission.events.order_by("pk"))
    pending = _find_pending(submission, evaluation)
    waits = _waits_for(submission, evaluation, pending)
    return SubmissionProgress(
        steps=_steps(submission, events, view),
        events=events if view.inner else [],
        waits_for=waiting_sentence(submission, waits, events) if waits else "",
        next=""
        if _is_only_compared(submission)
        else _honest(submission, _NEXT.get(submission.state, "")),
        pending=pending,
        rated=_rated_words(submission, pending),
        expected=""
        if _is_held(submission, evaluation)
        else _expected_day(submission, events, pending),
    )


def _find_pending(
    submission: Submission, evaluation: HumanEvaluation | None
) -> Pending | None:
    if submission.state != State.ANNOTATING or evaluation is None:
        return None
    n = n_judged([submission.pk]).get(submission.pk, 0)
    return Pending(n=min(n, evaluation.n_instances), of=evaluation.n_instances)


def _waits_for(
    submission: Submission, evaluation: HumanEvaluation | None, pending: Pending | None
) -> str:
    if _is_only_compared(submission):
        return ""
    if submission.state != State.ANNOTATING or evaluation is None:
        return _honest(submission, _WAITS.get(submission.state, ""))
    campaign = evaluation.campaign
    if campaign.state == Campaign.State.SCHEDULED:
        return gettext("Waits for HITs to be posted on %(moment)s UTC") % {
            "moment": date_format(campaign.starts_at, "l, Y-m-d, H:i")
        }
    if campaign.state == Campaign.State.STOPPED:
        pks = [one.pk for one in evaluation.campaigns_in_order]
        return capfirst(stopped_words(open_pages(pks).values()))
    if campaign.state == Campaign.State.PAUSED:
        return _honest(submission, "Waits for staff, who paused the campaign")
    if (
        pending is not None
        and pending.n >= pending.of
        and waits_for_decision(submission.task.slug, simulated=submission.simulated)
    ):
        return gettext("Waits for staff to decide whether to exclude some workers")
    return _honest(submission, _WAITS[State.ANNOTATING])


def _is_held(submission: Submission, evaluation: HumanEvaluation | None) -> bool:
    """Check whether no day can be expected, as no work is under way."""
    return (
        submission.state not in Submission.WALK[:-1]
        or _is_only_compared(submission)
        or bool(
            submission.state == State.ANNOTATING
            and evaluation
            and evaluation.campaign.state != Campaign.State.RUNNING
        )
    )


def _is_only_compared(submission: Submission) -> bool:
    return submission.state == State.MEASURED and submission.task.side_by_side


def _rated_words(submission: Submission, pending: Pending | None) -> str:
    if pending is None:
        return ""
    said = {"n": f"{pending.n:,}", "of": f"{pending.of:,}"}
    if submission.simulated:
        return (
            gettext("%(n)s of %(of)s instances rated by simulated annotators.") % said
        )
    return gettext("%(n)s of %(of)s instances rated by workers.") % said


def _steps(
    submission: Submission, events: list[SubmissionEvent], view: VisibleParts
) -> list[Step]:
    # a step may be taken twice (scored again): the last time counts
    last = {event.state: event for event in events}
    reached = _reached_step(submission, last)
    # the only state that is itself an activity, and not the end of one
    going_on = submission.state == State.ANNOTATING and not submission.failed_step
    steps = []
    for index, state in enumerate(Submission.WALK):
        if index <= reached:
            event = last.get(state)
            done = _honest(submission, _DONE[state])
            sentence = event.sentence if event and _in_full(view) else done
            at = event.at if event else None
            status: Status = "now" if going_on and index == reached else "done"
            steps.append(Step(state, _label(submission, state), status, at, sentence))
        elif index == reached + 1 and not going_on:
            steps.append(_next_step(submission, state, last, view))
        else:
            steps.append(Step(state, _label(submission, state), "waiting", None, ""))
    return steps


def _in_full(view: VisibleParts) -> bool:
    return view.inner and get_language() == ENGLISH


def _label(submission: Submission, state: str) -> str:
    return _honest(submission, LABELS[state])


def _honest(submission: Submission, words: str) -> str:
    words = _SIMULATED.get(words, words) if submission.simulated else words
    words = _COLLEAGUES.get(words, words) if submission.task.by_colleagues else words
    return gettext(words) if words else ""


def _reached_step(submission: Submission, last: dict[str, SubmissionEvent]) -> int:
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
        explanation = event.sentence if event and _in_full(view) else gettext(sentence)
        at = event.at if event else None
        return Step(submission.state, gettext(label), "failed", at, explanation)
    if submission.state == State.WITHDRAWN:
        event = last.get(State.WITHDRAWN)
        at = event.at if event else None
        return Step(
            State.WITHDRAWN,
            gettext("Withdrawn"),
            "failed",
            at,
            gettext("Withdrawn by the team or by staff."),
        )
    if submission.failed:
        explanation = (
            submission.work.failure
            if view.inner
            else gettext("This step failed because of a problem on our side.")
        )
        return Step(state, _label(submission, state), "failed", None, explanation)
    # the line below has what is waited for, in full
    return Step(state, _label(submission, state), "now", None, "")


@dataclass(frozen=True)
class ScoreChange:
    criterion: str
    at: datetime
    reason: str
    before: float
    # None if no ratings count any longer
    after: float | None
    was_provisional: bool

    @property
    def difference(self) -> float | None:
        return None if self.after is None else self.after - self.before


def scores_of(submission: Submission) -> list[Score]:
    """Return the current and former scores of a submission's evaluation, oldest first."""
    rows = Score.objects.filter(
        submission=submission, evaluation=submission.human_evaluation_id
    )
    return list(rows.order_by("pk"))


def score_changes(submission: Submission, scores: Iterable[Score]) -> list[ScoreChange]:
    if submission.published_at is None:
        return []
    before: dict[str, Score] = {}
    changes = []
    for score in scores:
        old = before.get(score.criterion)
        if old is not None and not (
            score.reason == AGAIN and f"{old.mean:.1f}" == f"{score.mean:.1f}"
        ):
            changes.append(_change(old, score))
        before[score.criterion] = score
    # superseded without a successor
    changes += [
        _change(old, None) for old in before.values() if old.superseded_at is not None
    ]
    return sorted(changes, key=lambda change: change.at)


def still_open(submission: Submission, scores: Iterable[Score]) -> list[str]:
    provisional = (one for one in scores if one.provisional and not one.superseded_at)
    if (
        submission.published_at is None
        or evaluation_of(submission) is None
        or not any(provisional)
    ):
        return []
    # its systems become final together
    return unsettled(submission.evaluation) or [LAST_CHECK]


def _change(old: Score, new: Score | None) -> ScoreChange:
    return ScoreChange(
        criterion=old.criterion,
        at=(new.created_at if new else old.superseded_at) or old.created_at,
        reason=new.reason if new else "no ratings count any longer",
        before=old.mean,
        after=new.mean if new else None,
        was_provisional=old.provisional,
    )
