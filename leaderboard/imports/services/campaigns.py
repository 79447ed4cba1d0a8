"""The finished campaigns that imported answers belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max
from django.utils import timezone

from crowd.hits.models import Campaign, HITType
from crowd.hits.services.build import HITTypeSpec, shared_hit_type
from genie.lib.seeds import seed_from
from genie.lib.typing import Account
from leaderboard.designs.base import Design
from leaderboard.designs.several_outputs import RankME, TwoChoice
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    EvaluationCampaign,
    HumanEvaluation,
    JudgedItem,
)
from leaderboard.evaluation.models.joint_evaluation import JointEvaluation
from leaderboard.evaluation.models.states import State
from leaderboard.imports.about import PLATFORM
from leaderboard.imports.kept import ONE, PAGES, PAIRS, WON, key_of
from leaderboard.imports.models import Import
from leaderboard.imports.services.plan import Part
from leaderboard.imports.services.write import Place
from leaderboard.tasks.models import Task

if TYPE_CHECKING:
    import pandas as pd

# Design by kind; ratings of one output have that of their measure.
_SEVERAL: Mapping[str, type[Design]] = {PAGES: RankME, PAIRS: TwoChoice}


def places_of(
    row: Import,
    part: Part,
    systems: Mapping[str, int],
    questions: Mapping[str, str],
    *,
    by: Account,
) -> list[Place]:
    """Create the campaigns of a part, in the order of their numbers."""
    joint = _joint(row, part, systems, by) if part.kind in _SEVERAL else None
    places = []
    for number, rows in part.rows.groupby("campaign"):
        evaluation = joint
        if part.kind in (ONE, WON):
            pk = systems[rows["system"].iloc[0]]
            evaluation = HumanEvaluation.objects.get(submission=pk)
        campaign = _campaign(row, part, int(str(number)), rows, questions)
        if evaluation is not None:
            _add(row, evaluation, campaign, rows)
        places.append(Place(campaign, evaluation))
    return places


def criteria_before(task: Task | None) -> tuple[set[str], set[str]]:
    found: dict[str, set[str]] = {ONE: set(), PAIRS: set()}
    for row in task.imports.all() if task else ():
        for kind, names in found.items():
            own = Campaign.objects.filter(key__startswith=f"{key_of(row.pk)}{kind}:")
            for criteria in own.values_list("hit_type__criteria", flat=True):
                names |= set(criteria)
    return found[ONE], found[PAIRS]


def asked(task: Task) -> dict[str, HITType]:
    """Return the first HIT type of each criterion that a task has scores of."""
    found: dict[str, HITType] = {}
    for row in task.imports.order_by("pk"):
        for kind in (ONE, WON):
            own = Campaign.objects.filter(key__startswith=f"{key_of(row.pk)}{kind}:")
            for one in own.order_by("pk").select_related("hit_type"):
                for name in one.hit_type.criteria:
                    found.setdefault(name, one.hit_type)
    return found


def move_ends(task: Task, moved: Mapping[str, str]) -> None:
    """Rename scales of a task whose ends have moved.

    HIT types never change, so campaigns get new ones that differ only in the scale.
    """
    for row in task.imports.all() if moved else ():
        scales = row.said.get("scales", {})
        row.said["scales"] = {
            name: moved.get(slug, slug) for name, slug in scales.items()
        }
        row.save(update_fields=["said"])
    of_task = Campaign.objects.filter(pool=task.slug)
    for old, new in moved.items():
        own = of_task.filter(hit_type__scale=old)
        for one in HITType.objects.filter(pk__in=own.values("hit_type")):
            said = {each.name: getattr(one, each.name) for each in fields(HITTypeSpec)}
            other = shared_hit_type(HITTypeSpec(**{**said, "scale": new}))
            of_task.filter(hit_type=one).update(hit_type=other)


def _campaign(
    row: Import,
    part: Part,
    number: int,
    rows: pd.DataFrame,
    questions: Mapping[str, str],
) -> Campaign:
    key = f"{key_of(row.pk)}{part.kind}:{number}"
    began, ended = _moment(rows["at"].min()), _moment(rows["at"].max())
    of = rows["system"].iloc[0] if part.kind in (ONE, WON) else part.kind
    return Campaign.objects.create(
        key=key,
        pool=row.task.slug,
        title=f"{row.task.title}: {of}, imported"[:200],
        hit_type=_hit_type(row, part, rows, questions),
        platform=PLATFORM,
        state=Campaign.State.COMPLETE,
        budget_cents=0,
        answers_per_hit=int(rows.groupby("item")["turn"].nunique().max()),
        seed=seed_from("campaign", key),
        starts_at=began,
        completed_at=ended,
    )


def _hit_type(
    row: Import, part: Part, rows: pd.DataFrame, questions: Mapping[str, str]
) -> HITType:
    human, scale = row.task.human, rows["scale"].iloc[0] or row.task.human.scale
    form: dict[str, Any] = {"allow_tie": True} if part.kind == PAIRS else {}
    return shared_hit_type(
        HITTypeSpec(
            template=_SEVERAL.get(part.kind, human).hit_template,
            scale=scale,
            criteria={
                name: questions.get(name, name) for name in rows["named"].unique()
            },
            title=f"Imported: {row.task.title}"[:128],
            description="Judgments that were made elsewhere.",
            keywords="",
            reward_cents=0,
            assignment_seconds=0,
            form=form,
        )
    )


def _moment(at: float) -> datetime:
    """Return a time of the files; now, if it is not recorded."""
    return timezone.now() if at != at else datetime.fromtimestamp(at, UTC)


def _add(
    row: Import, evaluation: HumanEvaluation, campaign: Campaign, rows: pd.DataFrame
) -> None:
    # not their number: the first may have been taken back
    last = evaluation.campaigns.aggregate(last=Max("position"))["last"]
    position = 0 if last is None else last + 1
    # only the first may have no criterion, and all waves must differ
    names = {"", *evaluation.campaigns.values_list("criterion", flat=True)}
    criterion = rows["named"].iloc[0] if position else ""
    if position and criterion in names:
        criterion = f"{criterion[:30]}, import {row.pk}"
    EvaluationCampaign.objects.create(
        evaluation=evaluation,
        campaign=campaign,
        criterion=criterion,
        position=position,
    )


def _joint(
    row: Import, part: Part, systems: Mapping[str, int], by: Account
) -> HumanEvaluation:
    rows = part.rows
    n = rows["instance"].nunique()
    evaluation = HumanEvaluation.objects.create(
        task=row.task,
        strategy=HumanEvaluation.Strategy.JOINT,
        state=State.ANNOTATED,
        design=_SEVERAL[part.kind].slug,
        n_instances=n,
        seed=seed_from("joint evaluation", row.task.slug, part.kind),
        imported=row,
        requested_by=by,
        finished_at=timezone.now(),
    )
    shown = rows["system"].unique().tolist()
    if part.kind == PAIRS:
        shown += rows["other"].unique().tolist()
    pks = list(dict.fromkeys(systems[name] for name in shown))
    EvaluatedSystem.objects.bulk_create(
        EvaluatedSystem(evaluation=evaluation, submission_id=pk, position=place)
        for place, pk in enumerate(pks)
    )
    per_page = 2 if part.kind == PAIRS else _per_page(rows)
    JointEvaluation.objects.create(
        evaluation=evaluation,
        criteria=list(rows["named"].unique()),
        n_instances=n,
        n_workers=min(int(rows.groupby("item")["worker"].nunique().max()), 1_000),
        per_page=None if per_page >= len(pks) else per_page,
    )
    return evaluation


def _per_page(rows: pd.DataFrame) -> int:
    return int(rows.groupby("item")["system"].nunique().median())


def count_instances(task: Task) -> None:
    """Store the number of rated inputs of each evaluation of a task."""
    counts = (
        JudgedItem.objects.filter(evaluation__task=task)
        .order_by()
        .values_list("evaluation")
        .annotate(n=Count("instance", distinct=True))
    )
    rows = [HumanEvaluation(pk=pk, n_instances=n) for pk, n in counts]
    HumanEvaluation.objects.bulk_update(rows, ["n_instances"], batch_size=500)
