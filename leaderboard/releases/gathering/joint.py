"""Joint evaluations in a release: their results, and the ratings behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from genie.lib.errors import GenieError
from leaderboard.evaluation.models.human_evaluation import JointEvaluation, ShownOutput
from leaderboard.evaluation.result_columns import columns_of, joint_row
from leaderboard.evaluation.selectors.joint import estimates_of, joint_seen_by
from leaderboard.evaluation.selectors.system_ratings import (
    OF_SEVERAL,
    all_system_ratings_of,
    digest,
)
from leaderboard.evaluation.services import joint
from leaderboard.releases.bundle import Record
from leaderboard.releases.gathering.judgments import task_ids
from leaderboard.releases.pseudonyms import Pseudonyms
from leaderboard.releases.published_numbers import EXCLUDED
from leaderboard.tasks.models import Task
from quality.bans.selectors import weight_of

if TYPE_CHECKING:
    import pandas as pd

EVALUATIONS = (
    "joint",
    "criterion",
    "question",
    "design",
    "scale",
    "n_workers_each",
    "per_page",
    "n_judgements",
    "n_instances",
    "n_workers",
    "n_excluded_workers",
    "normalised",
    "covers",
    "agreement_form",
    "agreement",
    "agreement_low",
    "agreement_high",
    "seed",
    "n_resamples",
    "signature",
    "provisional",
    "simulated",
    "finished",
)
RESULTS = ("joint", "criterion", "place", "submission")
PAIRS = (
    "joint",
    "criterion",
    "submission",
    "other",
    "p_above",
    "wins",
    "ties",
    "losses",
)
JUDGMENTS = (
    "joint",
    "criterion",
    "submission",
    "instance",
    "worker",
    "value",
    "counts",
    "why_not",
    "slot",
    "page",
    "on",
    "weight",
)


def scored_evaluations(task: Task) -> list[JointEvaluation]:
    rows = joint_seen_by(None, task).filter(state=JointEvaluation.State.SCORED)
    return list(rows.order_by("pk"))


def evaluations(rows: Sequence[JointEvaluation]) -> list[Record]:
    records = []
    for joint_evaluation in rows:
        questions = joint.criteria_of(joint_evaluation.task)
        for criterion, result in joint_evaluation.results["criteria"].items():
            agreement = result.get("agreement", {})
            records.append(
                {
                    "joint": joint_evaluation.pk,
                    "criterion": criterion,
                    "question": questions.get(criterion, ""),
                    "design": joint_evaluation.design,
                    "scale": result["scale"],
                    "n_workers_each": joint_evaluation.workers_each[0],
                    "per_page": joint_evaluation.per_page,
                    "n_judgements": result["n_judgements"],
                    "n_instances": result.get("n_instances", 0),
                    "n_workers": result.get("n_workers", 0),
                    "n_excluded_workers": result["n_excluded_workers"],
                    "normalised": result.get("normalised", ""),
                    "covers": result.get("covers", ""),
                    "agreement_form": agreement.get("form"),
                    "agreement": agreement.get("value"),
                    "agreement_low": agreement.get("low"),
                    "agreement_high": agreement.get("high"),
                    "seed": result["seed"],
                    "n_resamples": result["n_resamples"],
                    "signature": result["signature"],
                    "provisional": joint_evaluation.is_provisional,
                    "simulated": joint_evaluation.simulated,
                    "finished": f"{joint_evaluation.finished_at:%Y-%m-%d}",
                }
            )
    return records


def result_columns() -> tuple[str, ...]:
    numbers = (column.name for column in columns_of("release", "joint_results"))
    return (*RESULTS, *numbers)


def results(rows: Sequence[JointEvaluation]) -> list[Record]:
    return [
        {
            "joint": joint_evaluation.pk,
            "criterion": criterion,
            "place": index,
            "submission": row.submission_id,
            **joint_row(vars(row), "release"),
        }
        for joint_evaluation in rows
        for estimates in [estimates_of(joint_evaluation)]
        for criterion in joint_evaluation.results["criteria"]
        for index, row in enumerate(estimates[criterion])
    ]


def pairs(rows: Sequence[JointEvaluation]) -> Iterator[Record]:
    return (
        {
            "joint": joint_evaluation.pk,
            "criterion": criterion,
            "submission": row.submission_id,
            "other": other.submission_id,
            "p_above": result["p_above"][i][j],
            **dict(zip(PAIRS[-3:], result["win_tie_loss"][i][j], strict=True)),
        }
        for joint_evaluation in rows
        for estimates in [estimates_of(joint_evaluation)]
        for criterion, result in joint_evaluation.results["criteria"].items()
        for i, row in enumerate(estimates[criterion])
        for j, other in enumerate(estimates[criterion])
        if i != j
    )


def judgments(
    task: Task, rows: Sequence[JointEvaluation], names: Pseudonyms
) -> Iterator[Record]:
    """Yield every rating with its pseudonym; their order does not identify workers."""
    ids = task_ids(task)
    for joint_evaluation in rows:
        yield from _judgments(joint_evaluation, ids, names)


def _judgments(
    joint_evaluation: JointEvaluation, ids: dict[int, str], names: Pseudonyms
) -> list[Record]:
    ratings = all_system_ratings_of([joint_evaluation.pk])
    _check_current(joint_evaluation, ratings)
    weights = joint_evaluation.results.get("weights", {})
    # a preference between two outputs has no slot, but each of them had one
    slots = {
        (item, submission): slot
        for item, submission, slot in ShownOutput.objects.filter(
            subject__evaluation=joint_evaluation.pk
        ).values_list("subject__item", "submission", "slot")
    }
    # the number of the page of this instance, to distinguish a worker's pages
    page = ratings.groupby("instance")["item"].rank(method="dense").astype(int)
    records = [
        {
            "joint": joint_evaluation.pk,
            "criterion": row["criterion"],
            "submission": int(row["submission"]),
            "instance": ids[int(row["instance"])],
            "worker": names.pseudonym_of(int(row["worker"])),
            "value": float(row["value"]),
            "counts": not row["why_not"],
            "why_not": row["why_not"],
            "slot": slots[row["item"], row["submission"]],
            "page": row["page"],
            "on": row["on"],
            "weight": 0.0
            if row["why_not"]
            else weight_of(weights, int(row["worker"]), int(row["item"])),
        }
        for row in ratings.assign(page=page).to_dict("records")
    ]
    position = {name: index for index, name in ids.items()}
    return sorted(
        records,
        key=lambda row: (
            row["criterion"],
            row["submission"],
            position[row["instance"]],
            row["worker"],
        ),
    )


def _check_current(joint_evaluation: JointEvaluation, ratings: pd.DataFrame) -> None:
    """Refuse results that are about to be computed again: no release has their ratings."""
    for criterion, result in joint_evaluation.results["criteria"].items():
        rows = ratings[ratings["criterion"] == criterion]
        now = digest(rows[rows["why_not"] == ""], OF_SEVERAL)
        n_excluded = rows[rows["why_not"] == EXCLUDED]["worker"].nunique()
        if (
            now != result["ratings_sha256"]
            or n_excluded != result["n_excluded_workers"]
        ):
            raise GenieError(
                f"“{joint_evaluation}” is about to be rescored. Create the release in a "
                "few minutes; published results change at most once a day, so it may "
                "take until tomorrow.",
                code="scored-again",
            )
