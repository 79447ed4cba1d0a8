"""A submission's own states, and the only way from one to the next.

Once it is measured, pages show the state of its human evaluation (`evaluation.machine`).
"""

import json
from dataclasses import asdict
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext

from crowd.hit_templates.form import read_errors
from crowd.hits.services.check_answers import checked_spans
from genie.lib import jobs
from genie.lib.errors import GenieError
from genie.lib.runner import CLEARED, Runner
from genie.lib.typing import Account
from leaderboard.designs.base import all_designs
from leaderboard.files import printable
from leaderboard.submissions import states
from leaderboard.submissions.models import (
    PRIMARY,
    Prediction,
    Submission,
    SubmissionEvent,
    shown_state,
)
from leaderboard.submissions.readers import PredictionFile, Problem, read_predictions
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services.configuration import errors_asked

State = Submission.State


LEGAL: dict[str, frozenset[str]] = {
    State.RECEIVED: frozenset({State.VALID, State.INVALID, State.WITHDRAWN}),
    State.VALID: frozenset({State.MEASURED, State.WITHDRAWN}),
    State.MEASURED: frozenset({State.WITHDRAWN}),
    State.INVALID: frozenset(),
    # it can return to its earlier state within a day
    State.WITHDRAWN: frozenset({State.RECEIVED, State.VALID, State.MEASURED}),
}

# What takes a submission on from a state; without an entry, a person does, or its
# evaluation's job.
RUNNERS: dict[str, Runner] = {
    state: Runner(Submission, job, where=Q(own_state=state))
    for state, job in (
        (State.RECEIVED, "leaderboard.jobs.validate"),
        (State.VALID, "leaderboard.jobs.measure"),
    )
}


def move(
    pk: int,
    old: str,
    new: str,
    sentence: str,
    *,
    by: Account | None = None,
    shown: str = "",
    **fields: Any,
) -> bool:
    """Change its own state from `old` to `new`, log it, and enqueue the next job.

    The log has the state that pages show, `shown` unless it is its own. Return False if
    another process was faster. Callers wrap this and the step's other
    writes in one transaction, and roll these back on False.
    """
    if new not in LEGAL[old]:
        raise ValueError(f"A submission cannot go from {old} to {new}.")
    with transaction.atomic():
        moved = Submission.objects.filter(pk=pk, own_state=old).update(
            own_state=new, **CLEARED, **fields
        )
        if not moved:
            return False
        tell(pk, shown or new, sentence, by=by)
        if runner := RUNNERS.get(new):
            jobs.enqueue(runner.job, pk=pk)
    return True


def lock(pk: int) -> Submission:
    """Lock a submission's row until the transaction ends.

    Locks are taken in this order, to avoid deadlocks: submission, evaluation, worker,
    campaign, budget, commitment.
    """
    # Others may log about it meanwhile: they hold a later lock, and would wait forever.
    return Submission.objects.select_for_update(no_key=True).get(pk=pk)


def tell(pk: int, state: str, sentence: str, *, by: Account | None = None) -> None:
    """Log a sentence without changing the state."""
    SubmissionEvent.objects.create(
        submission_id=pk,
        state=state,
        sentence=sentence[:500],
        actor_id=by.pk if by else None,
    )


def withdraw(submission: Submission, reason: str, *, by: Account) -> str:
    """Withdraw a locked submission, and return the sentence of its history."""
    before = submission.own_state
    if State.WITHDRAWN not in LEGAL[before]:
        raise GenieError(
            gettext("This submission is %(state)s and cannot be withdrawn.")
            % {"state": submission.get_state_display()},
            code="not-withdrawable",
        )
    sentence = f"Withdrawn: {reason}" if reason else "Withdrawn."
    move(submission.pk, before, State.WITHDRAWN, sentence, by=by)
    return sentence


def restore(submission: Submission, asked: str | None, *, by: Account) -> str:
    # `asked` is the state of its evaluation
    before = way_back(submission)
    others = submission.task.submissions.filter(
        team=submission.team, entry=PRIMARY
    ).exclude(own_state__in=[State.INVALID, State.WITHDRAWN])
    if submission.entry == PRIMARY and others.exists():
        before = None
    if before is None:
        raise GenieError(
            gettext(
                "Only a submission that its team withdrew less than a day ago can be "
                "restored."
            ),
            code="not-restorable",
        )
    if asked is not None:
        before = State.MEASURED
    # a published one has been a result since its publication
    shown = shown_state(before, submission.published_at, asked)
    sentence = f"Restored. It is {State(shown).label} again."
    move(submission.pk, State.WITHDRAWN, before, sentence, by=by, shown=shown)
    return sentence


def way_back(submission: Submission) -> str | None:
    """Return the state before the team's withdrawal; None if it cannot be restored."""
    if not submission.is_withdrawn:
        return None
    events = SubmissionEvent.objects.filter(submission=submission.pk).order_by("-pk")
    withdrawn = events.filter(state=State.WITHDRAWN)
    earlier = events.exclude(state=State.WITHDRAWN).first()
    # the first event of this withdrawal: later events may have been added
    newer = withdrawn.filter(pk__gt=earlier.pk) if earlier else withdrawn
    if earlier is None or (taken_back := newer.last()) is None:
        return None
    # a team cannot restore a submission that staff withdrew
    team = submission.team.members.values_list("pk", flat=True)
    own = taken_back.actor_id in set(team)
    recent = timezone.now() - taken_back.at < states.WAY_BACK
    return earlier.state if own and recent else None


# Check a received file against the task's instances; store its predictions.

# For an output without marks in a file with marks.
_NO_MARKS: dict[str, object] = {"spans": [], "by": ""}


def validate(pk: int) -> None:
    """Change RECEIVED to VALID with all predictions stored, or to INVALID with none."""
    submission = Submission.objects.select_related("task").get(pk=pk)
    if submission.state != State.RECEIVED:
        return
    instances = dict(
        Instance.objects.filter(task=submission.task)
        .order_by("position")
        .values_list("instance_id", "pk")
    )
    with _open_stored(submission) as stream:
        result = read_predictions(
            stream,
            filename=submission.file_name,
            instance_ids=list(instances),
            max_bytes=settings.GENIE["MAX_UPLOAD_BYTES"],
            max_chars_per_prediction=settings.GENIE["MAX_PREDICTION_CHARS"],
            conversations=submission.task.holds_conversations,
        )
    try:
        marks = _marks(submission.task, result)
    except GenieError as error:
        result.problems.append(Problem("unusable-marks", error.message))
    if result.problems:
        _refuse(submission, result)
    else:
        _accept(submission, result, instances, marks)


def _marks(task: Task, result: PredictionFile) -> dict[str, dict[str, object]]:
    """Check marks of a file like those of a page; a task without marks ignores them.

    Raises ``unusable-spans`` or ``answer-missing``, with the id.
    """
    design = all_designs().get(task.human.design)
    if design is None or not design.marks_errors or result.problems:
        return {}
    errors = read_errors(errors_asked(task.human))
    found: dict[str, dict[str, object]] = {}
    for key, marks in result.marks.items():
        try:
            spans = checked_spans(json.dumps(marks), result.predictions[key], errors)
        except GenieError as error:
            raise GenieError(
                f"{printable(key)}: {error.message}", code=error.code
            ) from error
        found[key] = {"spans": spans, "by": result.marks_by}
    return found


def _open_stored(submission: Submission) -> BinaryIO:
    """Open the stored file; if it is damaged, the step fails, not the submission."""
    try:
        whole = submission.file.size == submission.file_bytes
    except FileNotFoundError:
        whole = False
    if not whole:
        raise GenieError(
            "The stored file is lost or damaged on our side. Please submit it again.",
            code="file-gone",
        )
    return cast("BinaryIO", submission.file.open("rb"))


def _refuse(submission: Submission, result: PredictionFile) -> None:
    problems = [asdict(problem) for problem in result.problems]
    n = len(problems)
    move(
        submission.pk,
        State.RECEIVED,
        State.INVALID,
        f"The file is invalid: {problems[0]['message']}" + _others(n - 1),
        errors=problems,
        file_format=result.format or "",
    )


def _others(n: int) -> str:
    if not n:
        return ""
    return f" ({n} more {'kind' if n == 1 else 'kinds'} of problem below.)"


def _accept(
    submission: Submission,
    result: PredictionFile,
    instances: dict[str, int],
    marks: dict[str, dict[str, object]],
) -> None:
    rows = [
        Prediction(
            submission_id=submission.pk,
            instance_id=instance_pk,
            text=result.predictions[key],
            spans=marks.get(key, _NO_MARKS if marks else None),
        )
        for key, instance_pk in instances.items()
    ]
    with transaction.atomic():
        moved = move(
            submission.pk,
            State.RECEIVED,
            State.VALID,
            f"All {len(rows):,} predictions are present and readable.",
            file_format=result.format or "",
        )
        # Two processes may have read the file: the one that moved it stores them.
        if moved:
            Prediction.objects.bulk_create(rows, batch_size=2_000)
