"""Raters of a board's systems in anonymous figures, and their instrument."""

from collections import defaultdict
from dataclasses import dataclass

from django.db.models import F

from crowd.hits.models import Campaign
from crowd.scales.find import all_scales
from genie.lib.serving.computed_once import computed_once
from leaderboard.boards.selectors.certainty import Agreement
from leaderboard.boards.selectors.version import State
from leaderboard.evaluation.models.board_fit import BoardFit
from leaderboard.evaluation.models.human_evaluation import EvaluationCampaign
from leaderboard.evaluation.selectors.campaigns import ratings_per_output
from leaderboard.evaluation.selectors.worker_figures import (
    WorkerFigures,
    figures_of_each,
)
from leaderboard.submissions.selectors import public
from leaderboard.tasks.models import Task

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
    return computed_once(now.key("raters"), lambda: _counted(task), _KEPT_SECONDS)


def agreement_of(task: Task) -> dict[str, Agreement]:
    rows = BoardFit.objects.filter(task=task, of=None, superseded_at=None)
    stored = rows.values_list("evidence", flat=True).first() or {}
    return {
        criterion: Agreement(**found["agreement"])
        for criterion, found in stored.items()
        if found.get("agreement")
    }


def _counted(task: Task) -> dict[int, Raters]:
    rows = EvaluationCampaign.objects.filter(
        public("evaluation__submission__"), evaluation__submission__task=task
    ).annotate(system=F("evaluation__submission"), design=F("evaluation__design"))
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
