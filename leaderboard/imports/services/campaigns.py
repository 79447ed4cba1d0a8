"""The finished campaigns that imported answers belong to."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Max
from django.utils import timezone

from crowd.hits.models import Campaign, HITType, Input, Item
from crowd.hits.services.build import HITTypeSpec, shared_hit_type
from genie.lib.errors import GenieError
from genie.lib.formats import two_letters
from genie.lib.seeds import seed_from
from genie.lib.typing import Account
from leaderboard.designs.base import Design, content_key
from leaderboard.designs.one_output import ErrorSpans
from leaderboard.designs.several_outputs import RankME, TwoChoice
from leaderboard.evaluation.models.human_evaluation import (
    EvaluatedSystem,
    EvaluationCampaign,
    HumanEvaluation,
    JointEvaluation,
    Subject,
)
from leaderboard.imports.models import Import
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.selectors import (
    ONE,
    PAGES,
    PAIRS,
    PLATFORM,
    WON,
    About,
    key_of,
)
from leaderboard.imports.services.measures import Measure, measure
from leaderboard.imports.services.plan import Part
from leaderboard.imports.services.write import Place
from leaderboard.metric_runs.models import MetricResult, MetricRun
from leaderboard.submissions.models import Prediction
from leaderboard.submissions.states import State
from leaderboard.tasks.drafts.bundle import SLUG
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.readers.base import ReleaseInstance, release_of
from leaderboard.tasks.services.load import load_definition

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
        evaluation, system = joint, None
        if part.kind in (ONE, WON):
            system = systems[rows["system"].iloc[0]]
            evaluation = HumanEvaluation.objects.get(submissions=system)
        campaign = _campaign(row, part, int(str(number)), rows, questions)
        if evaluation is not None:
            _add(row, evaluation, system, campaign, rows)
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


def asked_hit_types(task: Task) -> dict[str, HITType]:
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
        pool_id=row.task.slug,
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
            description="Imported ratings.",
            keywords="",
            reward_cents=0,
            assignment_seconds=0,
            form=form,
        )
    )


def _moment(at: float) -> datetime:
    return timezone.now() if at != at else datetime.fromtimestamp(at, UTC)


def _add(
    row: Import,
    evaluation: HumanEvaluation,
    system: int | None,
    campaign: Campaign,
    rows: pd.DataFrame,
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
        submission_id=system,
        campaign=campaign,
        criterion=criterion,
        position=position,
    )


def _joint(
    row: Import, part: Part, systems: Mapping[str, int], by: Account
) -> HumanEvaluation:
    rows = part.rows
    n = rows["instance"].nunique()
    shown = rows["system"].unique().tolist()
    if part.kind == PAIRS:
        shown += rows["other"].unique().tolist()
    pks = list(dict.fromkeys(systems[name] for name in shown))
    by_item = rows.groupby("item")
    per_page = 2 if part.kind == PAIRS else int(by_item["system"].nunique().median())
    evaluation = JointEvaluation.objects.create(
        task=row.task,
        state=State.ANNOTATED,
        design=_SEVERAL[part.kind].slug,
        n_instances=n,
        seed=seed_from("joint evaluation", row.task.slug, part.kind),
        imported=row,
        requested_by=by,
        finished_at=timezone.now(),
        criteria=list(rows["named"].unique()),
        n_asked=n,
        n_workers=min(int(by_item["worker"].nunique().max()), 1_000),
        per_page=None if per_page >= len(pks) else per_page,
    )
    EvaluatedSystem.objects.bulk_create(
        EvaluatedSystem(evaluation=evaluation, submission_id=pk, position=place)
        for place, pk in enumerate(pks)
    )
    return evaluation


def count_instances(task: Task) -> None:
    """Store the number of rated inputs of each evaluation of a task."""
    counts = (
        Subject.objects.filter(evaluation__task=task)
        .order_by()
        .values_list("evaluation")
        .annotate(n=Count("instance", distinct=True))
    )
    rows = [HumanEvaluation(pk=pk, n_instances=n) for pk, n in counts]
    HumanEvaluation.objects.bulk_update(rows, ["n_instances"], batch_size=500)


# The task of an import: created from the files, or extended with more inputs.

DOCUMENT, DOMAIN = "document", "domain"
_LONGEST_TITLE = 100
_BATCH = 2_000


def check_slug(slug: str) -> None:
    """Raise ``bad-slug`` if a name cannot be a task's address."""
    if not SLUG.fullmatch(slug) or len(slug) > _LONGEST_TITLE:
        raise GenieError(
            f"{slug!r} cannot be a task's address: use small letters, digits and hyphens.",
            code="bad-slug",
        )


def known_task(slug: str) -> Task | None:
    """Return the imported task of this name; None if the name is free.

    Raises ``bad-slug``, and ``not-imported`` if that task asks workers of this site.
    """
    check_slug(slug)
    task = Task.objects.filter(slug=slug).first()
    if task is not None and not task.imported:
        raise GenieError(
            f"{task.title} is a task of this site, on which raters work here, so "
            f"imported ratings cannot be added to it. Choose another name.",
            code="not-imported",
        )
    return task


def make_task(
    slug: str,
    judgments: Judgments,
    instances: Sequence[str],
    ids: Mapping[str, str],
    criteria: Mapping[str, tuple[str, Measure]],
    *,
    about: About,
    by: Account,
) -> Task:
    """Create a task without submissions; `criteria` are name -> (question, measure)."""
    rows = [_instance(name, ids[name], judgments) for name in instances]
    document = _document(slug, judgments, rows, criteria, about)
    report = load_definition(slug, document, release_of(rows, {}), by=by)
    report.task.imported, report.task.accepts_submissions = True, False
    report.task.save(update_fields=["imported", "accepts_submissions"])
    return report.task


def extend_task(
    task: Task, judgments: Judgments, instances: Sequence[str], ids: Mapping[str, str]
) -> None:
    known = set(task.instances.values_list("instance_id", flat=True))
    new = [_instance(n, ids[n], judgments) for n in instances if ids[n] not in known]
    n = task.n_instances
    Instance.objects.bulk_create(
        [
            Instance(
                task=task,
                instance_id=one.id,
                position=place,
                fields=one.fields,
                references=one.references,
                sample_rank=place,
            )
            for place, one in enumerate(new, n)
        ],
        batch_size=_BATCH,
    )
    if new:
        _resize_task(task, n + len(new))


def ask_criteria(task: Task, asked: Mapping[str, HITType]) -> None:
    """Set a task's criteria to those of its imports, in their order.

    The first one ranks: its scale is the task's.
    """
    human = task.config["human"]
    names = [*(name for name in human["criteria"] if name in asked)]
    names += [name for name in asked if name not in names]
    of_first = asked[names[0]]
    scale, marked = of_first.scale, of_first.template == ErrorSpans.hit_template
    found = measure(scale, marked=marked)
    criteria = {
        name: human["criteria"].get(name) or asked[name].criteria[name]
        for name in names
    }
    human |= {"criteria": criteria, "scale": scale}
    human |= {"design": found.design.slug, "hit_template": found.design.hit_template}
    task.config["joint"]["criteria"] = criteria
    task.save(update_fields=["config"])


def leave_out_inputs(task: Task, ids: Collection[str]) -> None:
    """Remove those inputs that have no ratings left, with their outputs."""
    items = Item.objects.filter(campaign__pool=task.slug)
    used = set(items.values_list("content_key", flat=True))
    rows = task.instances.filter(instance_id__in=ids)
    gone = [
        pk
        for pk, name in rows.values_list("pk", "instance_id")
        if content_key(task.slug, name) not in used
    ]
    Input.objects.filter(scope=task.slug, hits=None).delete()
    if not gone:
        return
    Prediction.objects.filter(instance__in=gone).delete()
    task.instances.filter(pk__in=gone).delete()
    left = list(task.instances.order_by("position"))
    # from the first on, so that two never have the same position
    for place, one in enumerate(left):
        if (one.position, one.sample_rank) != (place, place):
            one.position = one.sample_rank = place
            one.save(update_fields=["position", "sample_rank"])
    _resize_task(task, len(left))


def _resize_task(task: Task, n: int) -> None:
    """Store the number of inputs; delete metric results, which used the old ones."""
    task.n_instances = n
    task.config["human"]["sample_size"] = n
    task.save(update_fields=["n_instances", "config"])
    MetricRun.objects.filter(task=task).delete()
    MetricResult.objects.filter(submission__task=task).delete()


def store_inputs(
    task: Task, ids: Mapping[str, str]
) -> tuple[dict[str, int], dict[str, str]]:
    rows = task.instances.values_list("instance_id", "pk", f"fields__{DOCUMENT}")
    found = {one: (pk, document or "") for one, pk, document in rows}
    of = {name: found[kept] for name, kept in ids.items()}
    pks = {name: pk for name, (pk, _) in of.items()}
    return pks, {name: document for name, (_, document) in of.items()}


def _instance(name: str, kept: str, judgments: Judgments) -> ReleaseInstance:
    texts = judgments.texts
    fields = {key: str(text) for key, text in texts.inputs.get(name, {}).items()}
    for key, of in ((DOCUMENT, judgments.documents), (DOMAIN, judgments.domains)):
        if of.get(name):
            fields.setdefault(key, of[name])
    fields = {key: text.replace("\0", "") for key, text in fields.items()}
    return ReleaseInstance(kept, fields, list(texts.references.get(name, [])))


def _document(
    slug: str,
    judgments: Judgments,
    rows: Sequence[ReleaseInstance],
    criteria: Mapping[str, tuple[str, Measure]],
    about: About,
) -> dict[str, Any]:
    shown = dict.fromkeys(
        name for one in judgments.texts.inputs.values() for name in one
    )
    labels = {name: name.replace("_", " ") for name in shown}
    title = about.title or slug
    source, target = judgments.languages
    measure = next(iter(criteria.values()))[1]
    questions = {name: question for name, (question, _) in criteria.items()}
    return {
        "slug": slug,
        "title": title[:_LONGEST_TITLE],
        "kind": "imported",
        "licence": about.licence[:200],
        "homepage": about.source[:200] if about.source.startswith("http") else "",
        "citation": about.citation,
        "source_language": two_letters(source)[:16] or "und",
        "target_language": two_letters(target)[:16] or "und",
        "release": {"reader": "demo-jsonl"},
        "fields": labels or {"source": "Input"},
        "metrics": {"use": _metrics(judgments, rows)},
        "human": {
            "design": measure.design.slug,
            "scale": measure.scale,
            "hit_template": measure.design.hit_template,
            "sample_size": len(rows),
            "reward_cents": 0,
            "show_reference": False,
            "positive_share": 0,
            "negative_share": 0,
            "repost_share": 0,
            "anchor_share": 0,
            "worker_percent": 100,
            "exposure": "campaign",
            **({"raters": about.raters} if about.raters else {}),
            "criteria": questions,
            "test_criteria": {"positive": [], "negative": []},
        },
        "joint": {
            "criteria": questions,
            "test_criteria": {"positive": [], "negative": []},
        },
    }


def _metrics(judgments: Judgments, rows: Sequence[ReleaseInstance]) -> list[str]:
    if not judgments.texts.outputs or not all(one.references for one in rows):
        return []
    return ["sacrebleu", "chrf", "rougeL", "length"]


def instances_in(judgments: Judgments, counted: pd.DataFrame) -> list[str]:
    """Return the inputs of a board: in the test set's order, or as in the files."""
    judged = set(counted["instance"].unique())
    with_text = {instance for _, instance in judgments.texts.outputs}
    ordered = dict.fromkeys([*judgments.documents, *judgments.texts.inputs])
    wanted = judged | (with_text & set(judgments.texts.inputs))
    first = [name for name in ordered if name in wanted]
    return list(dict.fromkeys([*first, *counted["instance"].unique()]))
