"""Whom a submission waits for, since when, and how long that usually takes."""

from datetime import datetime, timedelta
from statistics import median

from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext

from leaderboard.submissions.models.submission import Submission, SubmissionEvent

# The usual time is the median of at most so many, and of no fewer than these.
MOST, LEAST = 20, 5
_MINUTE = timedelta(minutes=1)


def waiting_sentence(
    submission: Submission, waits: str, events: list[SubmissionEvent]
) -> str:
    """Return a sentence; `waits` is its beginning, without a full stop."""
    since = next((e.at for e in events if e.state == submission.state), None)
    if since is None:
        return f"{waits}."
    said = {"waits": waits, "since": _lasting(timezone.now() - since)}
    usual = _usual(submission)
    if usual is None:
        return gettext("%(waits)s, since %(since)s ago.") % said
    n, lasts = usual
    return gettext(
        "%(waits)s, since %(since)s ago; usually %(usual)s (median of the last %(n)s)."
    ) % {**said, "usual": _lasting(lasts), "n": n}


def _usual(submission: Submission) -> tuple[int, timedelta] | None:
    """Return how many other submissions left this state, and after which median time."""
    state = submission.state
    if state not in Submission.WALK[:-1]:
        return None
    after = Submission.WALK[Submission.WALK.index(state) + 1]
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


def _lasting(span: timedelta) -> str:
    if span < _MINUTE:
        return gettext("less than a minute")
    now = timezone.now()
    return timesince(now - span, now, depth=1)
