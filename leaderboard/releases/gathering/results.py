"""What goes into a release: the public board's evidence, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.conf import settings

from genie.lib.errors import GenieError
from leaderboard.boards.selectors.rows import Row
from leaderboard.boards.selectors.standings import standings
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.board_ratings import current_fit
from leaderboard.evaluation.selectors.campaigns import launched
from leaderboard.evaluation.selectors.ratings_beside import ratings_beside
from leaderboard.evaluation.selectors.ratings_digest import OF_ONE, digest
from leaderboard.evaluation.selectors.system_ratings import all_system_ratings_of
from leaderboard.evaluation.services import refit
from leaderboard.metric_runs.models.result import MetricResult
from leaderboard.releases.bundle import Record
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.releases.published_numbers import EXCLUDED
from leaderboard.submissions.models.submission import Prediction, Submission
from leaderboard.tasks.models import Instance, Task
from quality.bans.selectors.weights import weight_of
from quality.detection.models import DetectorFit
from quality.detection.selectors import verdicts_of

if TYPE_CHECKING:
    import pandas as pd

SYSTEMS = (
    "submission",
    "system",
    "team",
    "handed_in",
    "published",
    "simulated",
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
JUDGMENTS = (
    "submission",
    "criterion",
    "instance",
    "worker",
    "value",
    "counts",
    "why_not",
    "slot",
    "answered",
    "on",
    "weight",
)
SCORES = (
    "submission",
    "criterion",
    "mean",
    "low",
    "high",
    "low_50",
    "high_50",
    "n",
    "n_workers",
    "n_excluded_workers",
    "histogram",
    "covers",
    "provisional",
    "reason",
    "scale",
    "asked",
    "seed",
    "n_resamples",
    "signature",
    "estimates",
    "effective_workers",
    "largest_share",
    "cluster",
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
TEST_QUESTIONS = (
    "polarity",
    "worker",
    "n_questions",
    "n_correct",
    "p_noisy",
    "noisy",
)
INSTANCES = ("instance", "position", "sample_rank", "fields", "references")
PREDICTIONS = ("submission", "instance", "text")
ALL = "ALL"  # the kind of questions that a fit to all evidence has seen
# metric results keep six decimals of each instance
_ROUNDING = 1e-5


def ranked(task: Task) -> list[Row]:
    """Give the rows of the public board that have a score, in its order."""
    return [row for row in standings(task) if row.human is not None]


def systems(
    task: Task, rows: Sequence[Row], unranked: Sequence[Submission] = ()
) -> list[Record]:
    """Give the board's systems with their ranks, then others that tables speak of."""
    submissions = Submission.objects.in_bulk([row.pk for row in rows])
    evaluation_of = _evaluations(rows)
    ranked_ones = [
        {
            "submission": row.pk,
            "system": row.system,
            "team": row.team.name if row.team else None,
            "handed_in": f"{row.submitted_at:%Y-%m-%d}",
            "published": f"{submissions[row.pk].published_at:%Y-%m-%d}",
            "simulated": row.simulated,
            "rank_first": row.rank_first,
            "rank_last": row.rank_last,
            "cluster": row.cluster,
            "partial": str(row.partial) if row.partial else "",
            "ranks_partial": evaluation_of[row.pk].ranks_partial,
            "design": evaluation_of[row.pk].design,
            "scale": evaluation_of[row.pk].campaign.hit_type.scale,
            "n_instances": evaluation_of[row.pk].n_instances,
            "file_sha256": submissions[row.pk].file_sha256,
            # who made an anonymous system may be told by these
            "description": submissions[row.pk].description if row.team else "",
            "links": submissions[row.pk].links if row.team else [],
        }
        for row in rows
    ]
    return ranked_ones + [_unranked(submission) for submission in unranked]


def _unranked(submission: Submission) -> Record:
    """Give a system that was compared with others and has no score of its own."""
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


def _evaluations(rows: Sequence[Row]) -> dict[int, HumanEvaluation]:
    return {
        evaluation.submission.pk: evaluation
        for evaluation in launched(row.pk for row in rows)
    }


def judgments(task: Task, rows: Sequence[Row], names: Pseudonyms) -> list[Record]:
    """Give every rating with its pseudonym; their order tells nothing of workers."""
    import pandas as pd

    evaluations = list(_evaluations(rows).values())
    ids = task_ids(task)
    ratings = all_system_ratings_of([evaluation.pk for evaluation in evaluations])
    marks = [
        ratings_beside(evaluation, ratings[ratings["evaluation"] == evaluation.pk])
        for evaluation in evaluations
    ]
    marks = [marked for marked in marks if len(marked)]
    ratings = pd.concat([ratings, *marks], ignore_index=True)
    _check_current(task, rows, ratings)
    row_index = {row.pk: i for i, row in enumerate(rows)}
    weights = getattr(current_fit(task), "weights", {})
    records = [
        {
            "submission": int(row["submission"]),
            "criterion": row["criterion"],
            "instance": ids[int(row["instance"])],
            "worker": names.of(int(row["worker"])),
            "value": float(row["value"]),
            "counts": not row["why_not"],
            "why_not": row["why_not"],
            "slot": row["slot"],
            "answered": float(row["answered"]),
            "on": row["on"],
            "weight": weight_of(weights, row["worker"], row["item"])
            * (not row["why_not"]),
        }
        for row in ratings.to_dict("records")
    ]
    position = {name: i for i, name in ids.items()}
    records.sort(
        key=lambda r: (
            row_index[r["submission"]],
            r["criterion"],
            position[r["instance"]],
            r["worker"],
            r["slot"],
        )
    )
    return records


def _check_current(task: Task, rows: Sequence[Row], ratings: pd.DataFrame) -> None:
    """Refuse scores that are about to be computed again: no release has their ratings."""
    by = ["submission", "criterion"]
    # the digest stored with a score must be that of the ratings which go out with it
    groups = ratings[ratings["why_not"] == ""].groupby(by, sort=False)
    now = {name: digest(group, OF_ONE) for name, group in groups}
    left_out = ratings[ratings["why_not"] == EXCLUDED]
    excluded = left_out.groupby(by, sort=False)["worker"].nunique().to_dict()
    scores = list(
        Score.objects.filter(
            submission__in=[row.pk for row in rows], superseded_at=None
        )
    )
    then = {
        (score.submission_id, score.criterion): score.ratings_sha256 for score in scores
    }
    if (
        now != then
        or task.pk in refit.due()
        or refit.holds(task)
        or any(
            score.n_excluded_workers
            != excluded.get((score.submission_id, score.criterion), 0)
            for score in scores
            if score.criterion in task.human.criteria
        )
    ):
        raise GenieError(
            "Some systems are about to be rescored, because the ratings that "
            "count have changed. Create the release in a few minutes; published "
            "scores change at most once a day, so it may take until tomorrow.",
            code="scored-again",
        )


def task_ids(task: Task) -> dict[int, str]:
    """Name the task's instances by their positions."""
    rows = task.instances.values_list("position", "instance_id")
    return dict(rows.order_by("position"))


def scores(task: Task, rows: Sequence[Row]) -> list[Record]:
    fields = [name for name in SCORES if name not in {"scale", "asked", "n_resamples"}]
    fields.remove("submission")
    stored = Score.objects.filter(
        submission__in=[r.pk for r in rows], superseded_at=None
    ).order_by("submission_id", "pk")
    hit_types = {
        pk: evaluation.campaign.hit_type
        for pk, evaluation in _evaluations(rows).items()
    }
    row_index = {row.pk: i for i, row in enumerate(rows)}
    criteria = set(task.human.criteria)
    records = [
        {
            "submission": row["submission_id"],
            **{name: row[name] for name in fields},
            "scale": hit_types[row["submission_id"]].scale,
            # a box that could be ticked is no criterion on the scale
            "asked": row["criterion"]
            in {*criteria, *hit_types[row["submission_id"]].criteria},
            "n_resamples": settings.GENIE["BOOTSTRAP_RESAMPLES"],
        }
        for row in stored.values("submission_id", *fields)
    ]
    return sorted(records, key=lambda record: row_index[record["submission"]])


def metrics(rows: Sequence[Row]) -> list[Record]:
    """Give the newest result of each metric of each system."""
    newest: dict[tuple[int, str], MetricResult] = {}
    results = MetricResult.objects.filter(submission__in=[row.pk for row in rows])
    for result in results.order_by("pk"):
        newest[result.submission_id, result.metric] = result
    row_index = {row.pk: i for i, row in enumerate(rows)}
    return [
        {
            "submission": result.submission_id,
            "metric": result.metric,
            "value": result.value,
            "is_mean": _is_mean(result),
            "signature": result.signature,
            "computed_at": f"{result.computed_at:%Y-%m-%d}",
            "per_instance": result.per_instance,
            "details": result.details,
        }
        for result in sorted(
            newest.values(),
            key=lambda result: (row_index[result.submission_id], result.metric),
        )
    ]


def _is_mean(result: MetricResult) -> bool:
    values: list[float] = result.per_instance
    # without the texts, a metric can be checked again only where it is the instances'
    # mean
    mean = sum(values) / len(values) if values else float("nan")
    return abs(mean - result.value) <= _ROUNDING


def detector_fits(task: Task, names: Pseudonyms) -> tuple[list[Record], dict[str, Any]]:
    """Give the counts that the last fits judged, and their settings.

    One of each polarity, or one to all evidence, called `ALL`; those of other detectors
    than the newest decide nothing now.
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
                "worker": names.of(row.worker_id),
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


def instances(task: Task, *, texts: bool, shows_sample: bool) -> list[Record]:
    """Give the task's instances; hidden references never, texts where they may be.

    Without `shows_sample` their places in the draw of the sample are left out.
    """
    rows = Instance.objects.filter(task=task).order_by("position")
    if task.hidden_references:
        # not even read: what was not fetched cannot slip out
        rows = rows.defer("references")
    return [
        {
            "instance": row.instance_id,
            "position": row.position,
            "sample_rank": row.sample_rank if shows_sample else None,
            "fields": row.fields if texts else None,
            "references": row.references
            if texts and not task.hidden_references
            else None,
        }
        for row in rows
    ]


def predictions(pks: Sequence[int]) -> list[Record]:
    """Give the texts of these systems, in this order."""
    index_of = {pk: i for i, pk in enumerate(pks)}
    texts = Prediction.objects.filter(submission__in=list(index_of)).values_list(
        "submission_id", "instance__instance_id", "instance__position", "text"
    )
    ordered = sorted(texts, key=lambda row: (index_of[row[0]], row[2]))
    return [
        {"submission": pk, "instance": name, "text": text}
        for pk, name, _, text in ordered
    ]
