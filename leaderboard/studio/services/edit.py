"""Change a loaded task, and begin a new version if scores would not be comparable."""

import copy
import json
from collections.abc import Mapping
from typing import Any

from django.core.files.base import ContentFile
from django.db import transaction

from crowd.money.services import budgets
from crowd.workers.models.worker import Invitation
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.studio.models import Draft
from leaderboard.studio.services import keep, make
from leaderboard.submissions.models import Prediction, Submission
from leaderboard.tasks.config import HumanConfig
from leaderboard.tasks.drafts.ask import offered_designs
from leaderboard.tasks.intake import roles
from leaderboard.tasks.intake.roles import Use
from leaderboard.tasks.models import Instance, Task
from leaderboard.tasks.services import load
from leaderboard.tasks.services.load import next_slug

FILE = "version.json"
# Fields have no colon in their names, so these columns are distinct.
ID, REFERENCES = "row: id", "row: references"
# The settings that a page changes, and their keys in task.toml.
PLACES = {
    "title": ("title",),
    "summary": ("summary",),
    "description": ("description",),
    "reward_cents": ("human", "reward_cents"),
    "instructions": ("human", "instructions"),
    "consent": ("human", "consent"),
    "submissions": ("quota", "submissions"),
    "days": ("quota", "days"),
    "judges_show": ("judges", "show"),
    "judges_rank": ("judges", "rank"),
}
# The settings of imported tasks, which ask no workers.
OF_IMPORTED = ("title", "summary", "description", "judges_show", "judges_rank")


def said_by(task: Task) -> dict[str, Any]:
    config = task.configuration
    of_pairs = _table_of(task) == "comparison"
    return {
        "title": config.title,
        "summary": config.summary,
        "description": config.description,
        "reward_cents": config.human.reward_cents,
        "instructions": (config.comparison if of_pairs else config.human).instructions,
        "consent": config.human.consent,
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
) -> None:
    """Store new settings, with author and time.

    Approved work keeps its price, and running work keeps its reward and its words.

    Raises ``unusable-task`` with the problems, ``not-asked-here`` for settings that
    imported tasks do not have.
    """
    if task.imported:
        _refuse_for_people(task, said, budget_cents)
    document = copy.deepcopy(dict(task.config))
    now = said_by(task)
    for name, value in said.items():
        if value == now[name]:
            continue
        *tables, key = PLACES[name]
        table: dict[str, Any] = document
        for part in tables:
            if name == "instructions":
                part = _table_of(task)
            table = table.setdefault(part, {})
        table[key] = value
    if budget_cents is not None:
        budgets.set_limit(task.slug, budget_cents, by=by, why=because)
        document["budget"] = {**document.get("budget", {}), "cents": budget_cents}
    load.change(task, document, by=by, because=because)


def _refuse_for_people(
    task: Task, said: Mapping[str, Any], budget_cents: int | None
) -> None:
    now = said_by(task)
    changed = [name for name, value in said.items() if value != now[name]]
    if budget_cents is not None or set(changed) - {*OF_IMPORTED}:
        raise GenieError(
            f"The judgments of {task.title} were made elsewhere: nobody is asked or paid "
            "on it, so it has no budget, reward, quota, instructions or consent.",
            code="not-asked-here",
        )


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
    title = f"{_stem(task)}, version {number}"
    draft = keep.begin(owner=by, slug=slug, title=title, files=[file])
    keep.settle(draft, uses)
    keep.keep(
        draft,
        version_of=task.slug,
        asked=_asked(task),
        people=_people(
            task.human,
            task.configuration.comparison
            if _table_of(task) == "comparison"
            else task.human,
            by_link=Invitation.objects.filter(pool=task.slug).exists(),
        ),
    )
    return draft


def _stem(task: Task) -> str:
    return task.title.rpartition(", version ")[0] or task.title[:80]


def _table_of(task: Task) -> str:
    """Return the table with the workers' texts: that of pairs, if these are asked."""
    return "comparison" if "comparison" in task.config else "human"


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
    uses = [
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
    return rows, uses


def _asked(task: Task) -> dict[str, Any]:
    config, table = task.configuration, _table_of(task)
    human = config.comparison if table == "comparison" else config.human
    blind = {name for name, shown in human.show_input.items() if not shown}
    way = offered_designs().get(human.design)
    usual = way and (way.table(), way.scales[0]) == (table, human.scale)
    return {
        "design": human.design if usual else "",
        "criteria": [
            [name, question, name in blind] for name, question in human.criteria.items()
        ],
        "kind": config.kind,
        "summary": config.summary,
        "checkboxes": list(human.checkboxes),
        "instructions": human.instructions,
        "consent": human.consent,
        "source_language": config.source_language,
        "target_language": config.target_language,
        "hidden_references": task.hidden_references,
    }


def _people(human: HumanConfig, asked: HumanConfig, *, by_link: bool) -> dict[str, Any]:
    free = human.worker_percent == 100 and not human.reward_cents
    here = keep.LINK if free or by_link else keep.INVITED
    return {
        "who": here if human.platform == "selfhosted" else human.platform,
        "reward_cents": human.reward_cents or None,
        "n_items": human.sample_size,
        "ratings": human.ratings_per_instance,
        "tests_percent": round(100 * human.positive_share),
        "items_per_page": asked.items_per_page,
        "by_document": bool(asked.page_by),
    }
