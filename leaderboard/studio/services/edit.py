"""Change a loaded task, and begin a new version if scores would not be comparable."""

import copy
import json
from collections.abc import Mapping
from typing import Any

from django.contrib.admin.models import DELETION, LogEntry
from django.core.files.base import ContentFile
from django.db import transaction

from crowd.campaigns.services.change_reward import reword
from crowd.campaigns.services.run import HERE
from crowd.hits.models import Assignment, Campaign
from crowd.money.services import budgets
from crowd.workers.models.worker import Invitation
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.evaluation.campaigns import end
from leaderboard.evaluation.models.human_evaluation import TABLES, EvaluationCampaign
from leaderboard.evaluation.strategies import strategy_of
from leaderboard.monitoring.selectors import UNDER_WAY
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep, make
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.submissions.states import STEPS
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.config.human import STUDY
from leaderboard.tasks.drafts.ask import offered_designs
from leaderboard.tasks.intake import roles
from leaderboard.tasks.intake.roles import Use
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.selectors import is_rated
from leaderboard.tasks.services import load
from leaderboard.tasks.services.configuration import hit_type_of
from leaderboard.tasks.services.load import next_slug

FILE = "version.json"
# Fields have no colon in their names, so these columns are distinct.
ID, REFERENCES = "row: id", "row: references"
# The settings that a page changes, and their keys in task.toml.
PLACES = {
    "title": ("title",),
    "summary": ("summary",),
    "description": ("description",),
    "raters": ("human", "raters"),
    "reward_cents": ("human", "reward_cents"),
    "criteria": ("human", "criteria"),
    "labels": ("fields",),
    "instructions": ("human", "instructions"),
    "consent": ("human", "consent"),
    **{name: ("human", name) for name in STUDY},
    "submissions": ("quota", "submissions"),
    "days": ("quota", "days"),
    "judges_show": ("judges", "show"),
    "judges_rank": ("judges", "rank"),
}
# The settings of imported tasks, which ask no workers.
OF_COLLEAGUES = ("reworded", *(name for name in PLACES if name != "reward_cents"))
OF_IMPORTED = ("title", "summary", "description", "judges_show", "judges_rank")


# What raters read with each item.
WORDS = {"criteria", "labels", "instructions"}


def said_by(task: Task) -> dict[str, Any]:
    config = task.configuration
    asked = task.asked
    return {
        "title": config.title,
        "summary": config.summary,
        "description": config.description,
        "raters": config.human.population,
        "reward_cents": config.human.reward_cents,
        "criteria": dict(asked.criteria),
        "labels": dict(config.fields),
        "instructions": asked.instructions,
        "consent": config.human.consent,
        **{name: getattr(config.human, name) for name in STUDY},
        "submissions": config.quota.submissions,
        "days": config.quota.days,
        "judges_show": config.judges.show,
        "judges_rank": config.judges.rank,
    }


@transaction.atomic
def change(
    task: Task,
    said: Mapping[str, Any],
    *,
    by: Account,
    because: str = "",
    budget_cents: int | None = None,
    reworded: bool = False,
) -> None:
    """Store new settings, with author and time.

    Approved work keeps its price, and running work keeps its reward.

    Raises ``unusable-task`` with the problems, ``not-asked-here`` for settings that
    imported tasks do not have, ``rated`` if words are not only `reworded`.
    """
    now, before = said_by(task), task.configuration
    changed = {name: value for name, value in said.items() if value != now[name]}
    if task.imported and (budget_cents is not None or {*changed} - {*OF_IMPORTED}):
        raise GenieError(
            f"{task.title} has imported ratings, so it has no budget, reward, quota, "
            "instructions or consent.",
            code="not-asked-here",
        )
    reworded = reworded or not is_rated(task)
    if WORDS & {*changed} and not reworded:
        raise GenieError(
            "There are ratings already. Confirm that only the wording changes, or "
            "create a new version.",
            code="rated",
        )
    document = copy.deepcopy(dict(task.config))
    for name, value in changed.items():
        *tables, key = PLACES[name]
        table: dict[str, Any] = document
        for part in tables:
            if name in WORDS:
                part = task.table
            table = table.setdefault(part, {})
        table[key] = value
    if budget_cents is not None:
        budgets.set_limit(task.slug, budget_cents, by=by, why=because)
        document["budget"] = {**document.get("budget", {}), "cents": budget_cents}
    load.change(task, document, by=by, because=because, reworded=reworded)
    if {"title", *WORDS} & {*changed}:
        labels = zip(before.fields.values(), task.field_labels.values(), strict=True)
        _reword(task, dict(labels))


def _reword(task: Task, labels: Mapping[str, str]) -> None:
    for row in EvaluationCampaign.objects.filter(
        evaluation__task=task, campaign__state__in=UNDER_WAY, campaign__platform=HERE
    ):
        kind, asked = row.evaluation.kind, row.campaign.hit_type.criteria
        human: HumanConfig = getattr(task.configuration, TABLES.get(kind, kind))
        words = {name: human.criteria.get(name, asked[name]) for name in asked}
        reword(row.campaign, hit_type_of(task, human, words), labels)


def may_delete(task: Task) -> bool:
    """Check that there are no ratings, and no work on another platform."""
    elsewhere = Campaign.objects.filter(pool=task.slug).exclude(platform=HERE)
    return not (is_rated(task) or elsewhere.exists())


@transaction.atomic
def delete(task: Task, *, by: Account) -> None:
    """Delete a task that `may_delete` allows, with its systems."""
    Task.objects.select_for_update().get(pk=task.pk)
    for evaluation in task.human_evaluations.filter(state__in=[*STEPS]):
        keys = strategy_of(evaluation.specific).keys(evaluation.specific)
        end(evaluation, keys, by=by, reason="The task was deleted.")
    LogEntry.objects.log_actions(
        by.pk, [task], DELETION, "Deleted without ratings.", single_object=True
    )
    Submission.objects.filter(task=task).update(human_evaluation=None)
    for rows in (
        Assignment.objects.filter(hit__campaign__pool=task.slug),
        task.human_evaluations.all(),
        Campaign.objects.filter(pool=task.slug),
        Submission.objects.filter(task=task),
        Task.objects.filter(pk=task.pk),
    ):
        rows.delete()


@transaction.atomic
def new_version(task: Task, *, by: Account) -> Draft:
    """Create a draft with the task's texts and questions, to change and load beside it.

    It has the outputs of the user's systems; other teams submit theirs again.
    """
    slug, number = next_slug(task)
    systems = make.submissions_of(
        task,
        Submission.objects.filter(task=task, owner_id=by.pk)
        .order_by("pk")
        .values_list("system_name", flat=True)
        .distinct(),
        owner=by,
    )
    rows, uses = _columns(task, list(dict.fromkeys(systems)))
    file = ContentFile(json.dumps(rows, ensure_ascii=False).encode(), name=FILE)
    stem = task.title.rpartition(", version ")[0] or task.title[:80]
    title = f"{stem}, version {number}"
    draft = keep.begin(owner=by, slug=slug, title=title, files=[file])
    keep.settle(draft, uses)
    keep.keep(
        draft, version_of=task.slug, asked=_question_texts(task), people=_people(task)
    )
    return draft


def _columns(
    task: Task, systems: list[Submission]
) -> tuple[list[dict[str, Any]], list[Use]]:
    config = task.configuration
    texts = {
        one.pk: dict(
            Prediction.objects.filter(submission=one).values_list(
                "instance__instance_id", "text"
            )
        )
        for one in systems
    }
    rows = [
        {
            ID: row.instance_id,
            **{name: row.fields.get(name, "") for name in config.fields},
            REFERENCES: row.references,
            **{
                f"output: {one.system_name}": texts[one.pk].get(row.instance_id)
                for one in systems
            },
        }
        for row in Instance.objects.filter(task=task).order_by("position")
    ]
    shown = config.formats
    return rows, [
        Use(FILE, ID, roles.ID, "", roles.TEXT),
        *(
            Use(FILE, name, roles.INPUT, label, shown.get(name, roles.TEXT))
            for name, label in config.fields.items()
        ),
        Use(FILE, REFERENCES, roles.REFERENCE, "", config.output_format),
        *(
            Use(
                FILE,
                f"output: {one.system_name}",
                roles.SYSTEM,
                one.system_name,
                config.output_format,
            )
            for one in systems
        ),
    ]


def _question_texts(task: Task) -> dict[str, Any]:
    config, human = task.configuration, task.asked
    blind = {name for name, shown in human.show_input.items() if not shown}
    way = offered_designs().get(human.design)
    usual = way and (way.table(), way.scales[0]) == (task.table, human.scale)
    return {
        "design": human.design if usual else "",
        "criteria": [
            [name, question, name in blind] for name, question in human.criteria.items()
        ],
        "kind": config.kind,
        "summary": config.summary,
        "checkboxes": list(human.checkboxes),
        "allow_tie": human.allow_tie,
        "together": human.setup == 1,
        "instructions": human.instructions,
        "consent": human.consent,
        "source_language": config.source_language,
        "target_language": config.target_language,
        "hidden_references": task.hidden_references,
    }


def _people(task: Task) -> dict[str, Any]:
    human, asked = task.human, task.asked
    by_link = task.by_colleagues or Invitation.objects.filter(pool=task.slug).exists()
    here = keep.LINK if by_link else keep.INVITED
    return {
        "who": here if human.platform == "selfhosted" else human.platform,
        "reward_cents": human.reward_cents or None,
        "n_items": human.sample_size,
        "ratings": human.ratings_per_instance,
        "tests_percent": round(100 * human.positive_share),
        "items_per_page": asked.items_per_page,
        "by_document": bool(asked.page_by),
    }
