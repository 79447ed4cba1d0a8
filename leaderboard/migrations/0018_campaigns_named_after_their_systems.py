from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db import migrations

from leaderboard.evaluation.services.campaign_titles import (campaign_title, comparison_title)


def name_campaigns(apps: Any, schema_editor: Any) -> None:
    """Name each campaign after the systems whose outputs it asks about."""
    campaigns = apps.get_model("crowd", "Campaign").objects
    evaluations = apps.get_model("leaderboard", "HumanEvaluation").objects
    rows = evaluations.select_related("task", "submission", "campaign__hit_type")
    for evaluation in rows.iterator(chunk_size=500):
        for campaign, title in _titles(apps, evaluation):
            campaigns.filter(pk=campaign.pk).update(title=title)


def _titles(apps: Any, evaluation: Any) -> Iterator[tuple[Any, str]]:
    others = evaluation.separate_campaigns.select_related("campaign__hit_type")
    served = [evaluation.campaign, *(other.campaign for other in others)]
    task = evaluation.task.title
    comparison = (
        apps.get_model("leaderboard", "Comparison")
        .objects.filter(evaluation=evaluation)
        .select_related("a", "b")
        .first()
    )
    for campaign in served:
        criterion = next(iter(campaign.hit_type.criteria), "")
        if comparison is not None:
            names = comparison.a.system_name, comparison.b.system_name
            yield campaign, comparison_title(task, *names, criterion)
            continue
        detail = criterion if len(served) > 1 else ""
        yield campaign, campaign_title(task, _names(apps, evaluation), detail=detail)


def _names(apps: Any, evaluation: Any) -> list[str]:
    if evaluation.submission is not None:
        return [evaluation.submission.system_name]
    systems = apps.get_model("leaderboard", "EvaluatedSystem").objects
    found = systems.filter(joint__evaluation=evaluation).order_by("position")
    return list(found.values_list("submission__system_name", flat=True))


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0017_submissions_can_be_stopped"),
    ]

    operations = [
        migrations.RunPython(name_campaigns, migrations.RunPython.noop, elidable=True),
    ]
