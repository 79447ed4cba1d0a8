"""The results of a release: the public board's evidence, and no more."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.db.models import Max

from leaderboard.boards.selectors.rows import Row, standings
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.result_columns import columns_of
from leaderboard.metric_runs.models import MetricResult
from leaderboard.releases.bundle import Record, in_batches
from leaderboard.releases.gathering.judgments import evaluations_of
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.models import Instance, Task
from quality.detection.models import DetectorFit
from quality.detection.selectors import verdicts_of

SYSTEMS = (
    "submission",
    "system",
    "team",
    "handed_in",
    "published",
    "simulated",
    "entry",
    "rank_first",
    "rank_last",
    "cluster",
    "partial",
    "ranks_partial",
    "design",
    "scale",
    "n_instances",
    "file_sha256",
    "description",
    "links",
)
METRICS = (
    "submission",
    "metric",
    "value",
    "is_mean",
    "signature",
    "computed_at",
    "per_instance",
    "details",
)
TEST_QUESTIONS = ("polarity", "worker", "n_questions", "n_correct", "p_noisy", "noisy")
INSTANCES = ("instance", "position", "sample_rank", "fields", "references")
PREDICTIONS = ("submission", "instance", "text")
ALL = "ALL"  # the polarity of a fit to all evidence
# Rows, or systems, in memory at a time.
AT_ONCE = 500
# metric results keep six decimals of each instance
_ROUNDING = 1e-5
# numbers printed elsewhere for the same ratings
PUBLISHED = ("table", "row", "column", "printed", "tolerance", "figure", "why")


def ranked_rows(task: Task) -> Iterator[Row]:
    board = standings(task)
    for first in range(0, len(board), AT_ONCE):
        some = board[first : first + AT_ONCE]
        yield from (row for row in some if row.human is not None)


def systems(task: Task, unranked: Sequence[Submission] = ()) -> Iterator[Record]:
    """Yield the board's systems with their ranks, then other systems in the tables."""
    for rows in in_batches(ranked_rows(task), AT_ONCE):
        pks = [row.pk for row in rows]
        submissions = Submission.objects.in_bulk(pks)
        evaluation_of = evaluations_of(pks)
        for row in rows:
            yield _ranked_record(row, submissions[row.pk], evaluation_of[row.pk])
    for submission in unranked:
        yield _unranked_record(submission)


def _ranked_record(
    row: Row, submission: Submission, evaluation: HumanEvaluation
) -> Record:
    return {
        "submission": row.pk,
        "system": row.system,
        "team": row.team.name if row.team else None,
        "handed_in": f"{row.submitted_at:%Y-%m-%d}",
        "published": f"{submission.published_at:%Y-%m-%d}",
        "simulated": row.simulated,
        "entry": row.entry,
        "rank_first": row.rank_first,
        "rank_last": row.rank_last,
        "cluster": row.cluster,
        "partial": str(row.partial) if row.partial else "",
        "ranks_partial": evaluation.ranks_partial,
        "design": evaluation.design,
        "scale": evaluation.campaign.hit_type.scale,
        "n_instances": evaluation.n_instances,
        "file_sha256": submission.file_sha256,
        # these could identify the team of an anonymous system
        "description": submission.description if row.team else "",
        "links": submission.links if row.team else [],
    }


def _unranked_record(submission: Submission) -> Record:
    team_is_known = not submission.anonymous_now
    return {
        **dict.fromkeys(SYSTEMS),
        "submission": submission.pk,
        "system": submission.system_name,
        "team": submission.team.name if team_is_known else None,
        "handed_in": f"{submission.created_at:%Y-%m-%d}",
        "simulated": submission.simulated,
        "file_sha256": submission.file_sha256,
        "description": submission.description if team_is_known else "",
        "links": submission.links if team_is_known else [],
    }


def scores(task: Task, pks: Sequence[int]) -> Iterator[Record]:
    criteria = set(task.human.criteria)
    for some in in_batches(pks, AT_ONCE):
        yield from _scores(criteria, some)


def _scores(criteria: set[str], pks: Sequence[int]) -> list[Record]:
    fields = [column.name for column in columns_of("release") if column.path is None]
    stored = Score.objects.filter(submission__in=pks, superseded_at=None).order_by(
        "submission_id", "pk"
    )
    evaluations = evaluations_of(pks)
    # imported criteria have separate campaigns, and scales
    scales = {
        pk: {
            criterion: campaign.hit_type.scale
            for campaign in evaluation.campaigns_in_order
            for criterion in campaign.hit_type.criteria
        }
        for pk, evaluation in evaluations.items()
    }
    index_of = {pk: i for i, pk in enumerate(pks)}
    records = [
        {
            "submission": row["submission_id"],
            **{name: row[name] for name in fields},
            "scale": scales[row["submission_id"]].get(
                row["criterion"],
                evaluations[row["submission_id"]].campaign.hit_type.scale,
            ),
            # a checkbox is no criterion on the scale
            "asked": row["criterion"] in {*criteria, *scales[row["submission_id"]]},
            "n_resamples": settings.GENIE["BOOTSTRAP_RESAMPLES"],
        }
        for row in stored.values("submission_id", *fields)
    ]
    return sorted(records, key=lambda record: index_of[record["submission"]])


def metrics(pks: Sequence[int]) -> Iterator[Record]:
    for pk in pks:
        # one system at a time: a result has a number for each instance
        of_one = MetricResult.objects.filter(submission=pk).order_by()
        newest = of_one.values("metric").annotate(newest=Max("pk")).values("newest")
        results = list(MetricResult.objects.filter(pk__in=newest))
        for result in sorted(results, key=lambda result: result.metric):
            yield {
                "submission": pk,
                "metric": result.metric,
                "value": result.value,
                "is_mean": _is_mean(result),
                "signature": result.signature,
                "computed_at": f"{result.computed_at:%Y-%m-%d}",
                "per_instance": result.per_instance,
                "details": result.details,
            }


def _is_mean(result: MetricResult) -> bool:
    values: list[float] = result.per_instance
    # without the texts, a metric can be checked only if it is the instances' mean
    mean = sum(values) / len(values) if values else float("nan")
    return abs(mean - result.value) <= _ROUNDING


def detector_fits(task: Task, names: Pseudonyms) -> tuple[list[Record], dict[str, Any]]:
    """Return the counts that the last fits used, and their settings.

    One fit per polarity, or one of all evidence, called `ALL`; those of older detectors
    have no effect now.
    """
    records: list[Record] = []
    fits: dict[str, Any] = {}
    pool = DetectorFit.objects.filter(pool=task.slug)
    newest = pool.order_by("-pk").values("detector", "polarity").first()
    if newest is not None:
        together = newest["polarity"] == ""
        pool = pool.filter(polarity="") if together else pool.exclude(polarity="")
    for polarity in sorted(set(pool.order_by().values_list("polarity", flat=True))):
        fit = pool.filter(polarity=polarity).order_by("-pk").first()
        if fit is None:
            continue
        rows = verdicts_of(fit)
        counts: list[Record] = [
            {
                "polarity": polarity or ALL,
                "worker": names.pseudonym_of(row.worker_id),
                "n_questions": row.n_questions,
                "n_correct": row.n_correct,
                "p_noisy": row.p_noisy,
                "noisy": row.noisy,
            }
            for row in rows
        ]
        fits[polarity or ALL] = {
            "detector": fit.detector,
            "seed": fit.seed,
            "code_version": fit.code_version,
            "parameters": fit.public_parameters,
            "threshold": rows[0].threshold if rows else None,
            "n_workers": len(counts),
            "n_asked": sum(row["n_questions"] for row in counts),
            "n_wrong": sum(row["n_questions"] - row["n_correct"] for row in counts),
            "n_noisy": sum(row["noisy"] for row in counts),
        }
        records += sorted(counts, key=lambda row: str(row["worker"]))
    return records, fits


def instances(task: Task, *, texts: bool, shows_sample: bool) -> Iterator[Record]:
    """Yield instances, but never hidden references.

    Without `shows_sample`, their positions in the draw of the sample are left out.
    """
    rows = Instance.objects.filter(task=task).order_by("position")
    if task.hidden_references:
        # not even read: columns that were not fetched cannot be disclosed
        rows = rows.defer("references")
    for row in rows.iterator(chunk_size=AT_ONCE):
        yield {
            "instance": row.instance_id,
            "position": row.position,
            "sample_rank": row.sample_rank if shows_sample else None,
            "fields": row.fields if texts else None,
            "references": row.references
            if texts and not task.hidden_references
            else None,
        }


def predictions(pks: Sequence[int]) -> Iterator[Record]:
    for pk in pks:
        texts = Prediction.objects.filter(submission=pk).values_list(
            "instance__instance_id", "text"
        )
        in_order = texts.order_by("instance__position")
        for name, text in in_order.iterator(chunk_size=AT_ONCE):
            yield {"submission": pk, "instance": name, "text": text}


def published_rows(task: Task) -> Iterator[Record]:
    """Yield the numbers shown beside the board as printed."""
    for one in task.published_figures.all():
        own = (one.table, one.row, one.column, str(one.value), one.tolerance)
        yield dict(zip(PUBLISHED, (*own, one.figure, one.why), strict=True))
