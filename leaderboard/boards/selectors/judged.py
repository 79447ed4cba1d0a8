"""Judges and raters of a board's systems, in anonymous figures."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from operator import itemgetter

from django.db.models import F

from crowd.hits.models import Campaign
from crowd.scales.base import all_scales
from genie.lib.interval import Interval
from genie.lib.serving.caches import computed_once
from leaderboard.boards.selectors.certainty import Agreement
from leaderboard.boards.selectors.version import State
from leaderboard.evaluation.models.board_fit import BoardFit, JudgedEstimate
from leaderboard.evaluation.models.human_evaluation import EvaluationCampaign
from leaderboard.evaluation.selectors.board_ratings import standing_licences
from leaderboard.evaluation.selectors.system_ratings import ratings_per_output
from leaderboard.evaluation.selectors.worker_figures import (
    WorkerFigures,
    figures_of_each,
)
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

#: Explanation of the two numbers wherever they are shown side by side.
JUDGED_HELP = (
    "People’s mean rating over all instances that licensed judges scored, with the "
    "judges’ help (efficient influence function, cross-fitted), next to the mean of "
    "people’s ratings alone. 95% intervals cover workers and instances (only "
    "instances if the raters are not recorded). Judges are programs. Their scores "
    "change the estimate only as much as they predict people’s."
)


@dataclass(frozen=True)
class Judged:
    criterion: str
    # means with 95% intervals, in the unit of scores
    helped: Interval
    plain: Interval
    # share of the variance between instances that the judges predict
    explained: float
    # instances that people need not have rated; negative if judges cost some
    labels_saved: float
    n_people: int
    n_judge: int
    # each with its kind of program
    judges: tuple[str, ...]
    seed: int

    @property
    def saved(self) -> str:
        """Return in words how many labels were saved, with their share of people's.

        Examples
        --------
        >>> mean = Interval(1.0, 0.0, 2.0)
        >>> Judged("c", mean, mean, 0.2, -12.4, 200, 900, (), 0).saved
        '−12 (−6%)'
        """
        share = 100 * self.labels_saved / max(self.n_people, 1)
        return f"{_format_signed(self.labels_saved)} ({_format_signed(share)}%)"


def _format_signed(value: float) -> str:
    # "-0" is 0
    return f"{round(value):,}".replace("-", "−")


def judged_of(task: Task, pks: Collection[int]) -> dict[int, dict[str, Judged]]:
    """Return helped scores by criterion; the caller passes only visible systems."""
    if not task.configuration.judges.show:
        return {}
    rows = JudgedEstimate.objects.filter(submission__task=task).exclude(helped={})
    stored = list(rows.filter(submission__in=pks).order_by("submission", "criterion"))
    if not stored:
        return {}
    standing = {
        (license.criterion, license.run.judge_id): license.run.judge
        for license in standing_licences(task)
    }
    found: dict[int, dict[str, Judged]] = defaultdict(dict)
    for row in stored:
        judges = [standing.get((row.criterion, pk)) for pk in row.judges]
        if not all(judges):
            continue
        found[row.submission_id][row.criterion] = Judged(
            criterion=row.criterion,
            helped=Interval(*_NUMBERS(row.helped)),
            plain=Interval(*_NUMBERS(row.plain)),
            explained=row.explained,
            labels_saved=row.labels_saved,
            n_people=row.n_people,
            n_judge=row.n_judge,
            judges=tuple(f"{judge} ({judge.what})" for judge in judges if judge),
            seed=row.seed,
        )
    return dict(found)


_NUMBERS = itemgetter("mean", "low", "high")

# Raters of a board's systems in anonymous figures, and their instrument.
_KEPT_SECONDS = 600


@dataclass(frozen=True)
class Instrument:
    design: str
    scale: str
    options: tuple[str, ...]
    questions: dict[str, str]
    shown: tuple[str, ...]
    ratings_per_output: str


@dataclass(frozen=True)
class Raters:
    platforms: tuple[str, ...]
    figures: WorkerFigures
    instrument: Instrument


def raters_of(task: Task, now: State) -> dict[int, Raters]:
    return computed_once(now.key("raters"), lambda: _count_raters(task), _KEPT_SECONDS)


def agreement_of(task: Task) -> dict[str, Agreement]:
    rows = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    stored = rows.values_list("evidence", flat=True).first() or {}
    return {
        criterion: Agreement(**found["agreement"])
        for criterion, found in stored.items()
        if found.get("agreement")
    }


def _count_raters(task: Task) -> dict[int, Raters]:
    rows = EvaluationCampaign.objects.filter(
        public("submission__"), submission__task=task
    ).annotate(system=F("submission"), design=F("evaluation__design"))
    asked: dict[int, list[Campaign]] = defaultdict(list)
    for row in rows:
        asked[row.system].append(row.campaign)
    designs = {row.system: row.design for row in rows}
    return {
        pk: Raters(
            tuple(sorted({campaign.platform for campaign in asked[pk]})),
            figures,
            _instrument(task, designs[pk], asked[pk]),
        )
        for pk, figures in figures_of_each(asked).items()
    }


def _instrument(task: Task, design: str, campaigns: list[Campaign]) -> Instrument:
    scale = all_scales().get(campaigns[0].hit_type.scale)
    return Instrument(
        design,
        campaigns[0].hit_type.scale,
        tuple(option.label for option in scale.options) if scale else (),
        {k: v for one in campaigns for k, v in one.hit_type.criteria.items()},
        tuple(task.field_labels.values()),
        str(ratings_per_output(campaigns, task.human.ratings_per_instance)),
    )
