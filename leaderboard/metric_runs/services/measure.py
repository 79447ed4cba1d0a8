"""Compute a submission's light metrics and the warnings of the pre-flight check."""

from dataclasses import asdict
from typing import Any

import numpy as np
from django.db import transaction

from genie.lib import jobs
from genie.lib.seeds import seed_from
from genie.lib.unguessable import seed_for
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation
from leaderboard.evaluation.services.request import commitment_key, requested
from leaderboard.metric_runs.models import MetricResult
from leaderboard.metric_runs.selectors import Chosen, chosen_of
from leaderboard.metrics.base import Batch, Metric, MetricOutput
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.submissions.preflight import preflight
from leaderboard.submissions.services import lifecycle
from leaderboard.tasks.models import Instance

State = Submission.State
# Number of latest submissions that are searched for near-duplicates.
N_EARLIER = 20


def run(pk: int) -> None:
    """Move from VALID to MEASURED; all computing is done before the first write.

    Heavy metrics do not delay a submission: they follow piece by piece (`metric_runs`).
    """
    submission = Submission.objects.select_related("task").get(pk=pk)
    if submission.state != State.VALID:
        return
    batch = batch_of(submission)
    chosen = chosen_of(submission.task)
    outputs = [
        (choice, choice.metric.compute(batch))
        for choice in chosen
        if choice.light and not choice.absent and _applies(choice.metric, batch)
    ]
    warnings = warnings_for(submission, batch)
    with transaction.atomic():
        moved = lifecycle.move(
            pk,
            State.VALID,
            State.MEASURED,
            _sentence(len(outputs), len(warnings)),
            warnings=warnings,
        )
        # Another process measured it first: discard these results.
        if not moved:
            return
        _request_evaluation(submission)
        for choice, output in outputs:
            write_result(submission, choice, output)
        if any(not choice.light and not choice.absent for choice in chosen):
            jobs.enqueue("leaderboard.jobs.catch_up_metrics", task=submission.task_id)


def _request_evaluation(submission: Submission) -> None:
    Submission.objects.filter(pk=submission.pk).update(
        human_evaluation=requested(
            HumanEvaluation.Strategy.SINGLE,
            [submission],
            by=submission.owner_id,
            design=submission.task.human.design,
            n_instances=submission.task.sample_size,
            seed=seed_for("campaign", commitment_key(submission.pk)),
        )
    )


def _applies(metric: Metric, batch: Batch) -> bool:
    has_sources = any(source.strip() for source in batch.sources)
    return (any(batch.references) or not metric.needs_references) and (
        has_sources or not metric.needs_sources
    )


def batch_of(submission: Submission) -> Batch:
    """Return predictions, references and sources in the order of the instances' positions."""
    source = submission.task.source_field
    instances = list(
        Instance.objects.filter(task_id=submission.task_id)
        .order_by("position")
        .values_list("pk", "references", "fields")
    )
    return Batch(
        predictions=texts_of(submission.pk),
        references=[references for _, references, _ in instances],
        sources=[str(fields.get(source, "")) for _, _, fields in instances],
        target_language=submission.task.target_language,
        source_language=submission.task.source_language,
        conversations=submission.task.holds_conversations,
    )


def texts_of(submission_pk: int) -> list[str]:
    """Return a submission's predictions in the order of the instances' positions."""
    return list(
        Prediction.objects.filter(submission_id=submission_pk)
        .order_by("instance__position")
        .values_list("text", flat=True)
    )


def warnings_for(submission: Submission, batch: Batch) -> list[dict[str, Any]]:
    task = submission.task
    earlier = (
        Submission.objects.filter(task=task, pk__lt=submission.pk)
        .exclude(state__in=[State.RECEIVED, State.INVALID, State.WITHDRAWN])
        .order_by("-pk")[:N_EARLIER]
    )
    warnings = preflight(
        list(batch.predictions),
        [list(references) for references in batch.references],
        list(batch.sources),
        target_language=task.target_language,
        source_language=task.source_language,
        earlier=[
            (_name_for(submission, other), texts_of(other.pk)) for other in earlier
        ],
        seed=seed_from("preflight", task.slug),
    )
    return [asdict(warning) for warning in warnings]


def _name_for(submission: Submission, other: Submission) -> str:
    hidden = (
        other.visibility == Submission.Visibility.PRIVATE or other.anonymous_now
    ) and other.team_id != submission.team_id
    return "an earlier submission" if hidden else other.system_name


def write_result(submission: Submission, choice: Chosen, output: MetricOutput) -> None:
    """Store a result; older ones with different settings are kept, the newest is shown."""
    MetricResult.objects.update_or_create(
        submission=submission,
        metric=choice.slug,
        signature=output.signature,
        defaults={
            "identity": choice.identity,
            "value": output.overall,
            "per_instance": np.round(output.per_instance, 6).tolist(),
            "details": output.details,
        },
    )


def _sentence(n_metrics: int, n_warnings: int) -> str:
    noticed = (
        "no pre-flight warnings"
        if n_warnings == 0
        else f"{n_warnings} pre-flight warning{'s' if n_warnings > 1 else ''}"
    )
    return f"{n_metrics} automatic metrics computed; {noticed}."
