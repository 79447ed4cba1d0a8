"""Texts that are known to be good: confirmed by staff, rated well, or references."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.db.models import QuerySet

from crowd.scales.find import all_scales
from leaderboard.evaluation.models.confirmed_output import ConfirmedOutput
from leaderboard.evaluation.models.human_evaluation import HumanEvaluation, Score
from leaderboard.evaluation.selectors.system_ratings import system_ratings_of
from leaderboard.evaluation.services.hidden.offers import (
    CLOSE_TO,
    CONFIRMED,
    REFERENCE,
    SETTLED,
    Offer,
)
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.config import EDITED, HumanConfig
from leaderboard.tasks.models import Instance, Task
from quality.test_questions.edits.make import likeness

OF_A_CAMPAIGN = "campaign"
TRANSLATION = "translation"
# Words and pairs of words shared with a reference (F1) above which an output of a good
# system is right; translations share more, right or wrong.
CLOSE, CLOSE_TRANSLATION = 0.35, 0.65
# Their outputs are neither rated now nor public.
NOT_HIDDEN = (
    Submission.State.WITHDRAWN,
    Submission.State.INVALID,
    Submission.State.PUBLISHED,
)


@dataclass(frozen=True)
class Known:
    """Sources of a campaign's good texts.

    `shows_reference`: pages show the first reference, so that another is the better
    one.
    """

    task: Task
    human: HumanConfig
    marked: Sequence[str]
    instances: Sequence[Instance]
    shows_reference: bool = False

    def own(self, systems: Collection[Submission]) -> Iterator[dict[int, list[Offer]]]:
        """Yield systems' outputs that staff confirmed, then those close to a reference."""
        yield _confirmed(self.marked, systems, self.instances)
        # Genie's own questions use only references.
        if self.human.test_questions == EDITED:
            yield _close(self.task, self.marked, systems, self.instances)

    def public(self, systems: Sequence[Submission]) -> Iterator[dict[int, list[Offer]]]:
        """Yield references and well-rated public outputs, least known texts first."""
        first = 1 if self.shows_reference else 0
        references = {
            row.pk: [
                Offer(row.pk, text, REFERENCE, self.marked)
                for text in row.references[first:] or row.references
            ]
            for row in self.instances
        }
        if self.task.hidden_references:
            yield references
        yield _settled(self.task, self.human, self.marked, systems, self.instances)
        yield references


def not_public_yet(task: Task, systems: Sequence[Submission]) -> QuerySet[Submission]:
    others = Submission.objects.filter(
        task=task, visibility=Submission.Visibility.PUBLIC
    )
    others = others.exclude(pk__in=[s.pk for s in systems])
    return others.exclude(state__in=NOT_HIDDEN).order_by("pk")


def _confirmed(
    marked: Sequence[str],
    systems: Collection[Submission],
    instances: Sequence[Instance],
) -> dict[int, list[Offer]]:
    rows = ConfirmedOutput.objects.filter(
        prediction__submission__in=systems, prediction__instance__in=instances
    ).select_related("prediction")
    offers = defaultdict(list)
    for row in rows.order_by("pk"):
        offers[row.prediction.instance_id].append(
            _offer(row.prediction, CONFIRMED, marked)
        )
    return offers


def _close(
    task: Task,
    marked: Sequence[str],
    systems: Collection[Submission],
    instances: Sequence[Instance],
) -> dict[int, list[Offer]]:
    """Offer own outputs that nearly equal a reference, of good systems only.

    A system counts as good if half of its outputs are that close. Now and then, a bad
    one that copies words comes close as well, and is wrong all the same.
    """
    least = CLOSE_TRANSLATION if task.kind == TRANSLATION else CLOSE
    references_of = {row.pk: row.references for row in instances}
    offers = defaultdict(list)
    for system in systems:
        rows = list(
            Prediction.objects.filter(submission=system, instance__in=references_of)
        )
        close = [
            row
            for row in rows
            if any(
                likeness(row.text, r) >= least for r in references_of[row.instance_id]
            )
        ]
        if 2 * len(close) >= len(rows):
            for row in close:
                offers[row.instance_id].append(_offer(row, CLOSE_TO, marked))
    return offers


def _settled(
    task: Task,
    human: HumanConfig,
    marked: Sequence[str],
    systems: Sequence[Submission],
    instances: Sequence[Instance],
) -> dict[int, list[Offer]]:
    """Offer well-rated public outputs; workers may have rated them in other campaigns."""
    scale = all_scales()[human.scale]
    if human.exposure == OF_A_CAMPAIGN or scale.relative or scale.compares:
        return {}
    simulated = any(system.simulated for system in systems)
    evaluations = settled_high(task, human, simulated=simulated)
    if not evaluations:
        return {}
    good = _rated_well(evaluations, marked, scale.binary_threshold)
    position_of = {row.position: row.pk for row in instances}
    wanted = {
        (submission, position_of[position]): criteria
        for (submission, position), criteria in good.items()
        if position in position_of
    }
    rows = Prediction.objects.filter(
        submission__in={submission for submission, _ in wanted},
        instance__in={instance for _, instance in wanted},
    ).order_by("submission", "instance")
    offers = defaultdict(list)
    for row in rows:
        if criteria := wanted.get((row.submission_id, row.instance_id)):
            offers[row.instance_id].append(_offer(row, SETTLED, criteria))
    return offers


def settled_high(task: Task, human: HumanConfig, *, simulated: bool) -> list[int]:
    """Return evaluations of public systems with a final score in the upper half."""
    scores = Score.objects.filter(
        submission__task=task,
        submission__state=Submission.State.PUBLISHED,
        submission__visibility=Submission.Visibility.PUBLIC,
        criterion=next(iter(human.criteria)),
        evaluation__strategy=HumanEvaluation.Strategy.SINGLE,
        superseded_at=None,
        provisional=False,
    )
    # Programs' ratings do not make an output good for people.
    if not simulated:
        scores = scores.filter(submission__simulated=False)
    means = dict(scores.order_by("pk").values_list("evaluation", "mean"))
    middle = median(means.values()) if means else 0.0
    return [evaluation for evaluation, mean in means.items() if mean >= middle]


def _rated_well(
    evaluations: Collection[int], marked: Sequence[str], threshold: float
) -> Mapping[tuple[int, int], list[str]]:
    ratings = system_ratings_of(evaluations)
    keys = ["submission", "instance", "criterion"]
    worst = ratings.groupby(keys)["value"].min().reset_index()
    good = defaultdict(list)
    for submission, instance, criterion, value in zip(
        *(worst[name].tolist() for name in (*keys, "value")), strict=True
    ):
        if criterion in marked and value > threshold:
            good[int(submission), int(instance)].append(str(criterion))
    return good


def _offer(row: Prediction, kind: str, criteria: Sequence[str]) -> Offer:
    made_from = {"submission": row.submission_id}
    return Offer(row.instance_id, row.text, kind, criteria, made_from)
