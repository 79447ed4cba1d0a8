"""The task of an import: created from the files, or extended with more inputs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowd.hits.models import HITType, Input, Item
from genie.lib.errors import GenieError
from genie.lib.formats import two_letters
from genie.lib.typing import Account
from leaderboard.designs.base import content_key
from leaderboard.designs.one_output import ErrorSpans
from leaderboard.imports.about import About
from leaderboard.imports.readers.judgments import Judgments
from leaderboard.imports.services.measures import Measure, measure
from leaderboard.metric_runs.models import MetricResult, MetricRun
from leaderboard.submissions.models import Prediction
from leaderboard.tasks.drafts.bundle import SLUG
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.readers.base import ReleaseInstance, release_of
from leaderboard.tasks.services.load import load_definition

if TYPE_CHECKING:
    import pandas as pd

DOCUMENT, DOMAIN = "document", "domain"
_LONGEST_TITLE = 100
_BATCH = 2_000


def known_task(slug: str) -> Task | None:
    """Return the imported task of this name; None if the name is free.

    Raises ``bad-slug``, and ``not-imported`` if that task asks workers of this site.
    """
    if not SLUG.fullmatch(slug) or len(slug) > _LONGEST_TITLE:
        raise GenieError(
            f"{slug!r} cannot be a task's address: use small letters, digits and hyphens.",
            code="bad-slug",
        )
    task = Task.objects.filter(slug=slug).first()
    if task is not None and not task.imported:
        raise GenieError(
            f"{task.title} is a task of this site, on which people are asked here; "
            "judgments from elsewhere never mix with its own. Choose another name.",
            code="not-imported",
        )
    return task


def make(
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


def extend(
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
        _resized(task, n + len(new))


def ask(task: Task, asked: Mapping[str, HITType]) -> None:
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
    human |= {
        "design": found.design.slug,
        "hit_template": found.design.hit_template,
    }
    task.config["joint"]["criteria"] = criteria
    task.save(update_fields=["config"])


def leave_out(task: Task, ids: Collection[str]) -> None:
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
    _resized(task, len(left))


def _resized(task: Task, n: int) -> None:
    """Store the number of inputs; delete metric results, which used the old ones."""
    task.n_instances = n
    task.config["human"]["sample_size"] = n
    task.save(update_fields=["n_instances", "config"])
    MetricRun.objects.filter(task=task).delete()
    MetricResult.objects.filter(submission__task=task).delete()


def stored(task: Task, ids: Mapping[str, str]) -> tuple[dict[str, int], dict[str, str]]:
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
    document: dict[str, Any] = {
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
            "criteria": questions,
            "test_criteria": {"positive": [], "negative": []},
        },
        "joint": {
            "criteria": questions,
            "test_criteria": {"positive": [], "negative": []},
        },
    }
    return document


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
