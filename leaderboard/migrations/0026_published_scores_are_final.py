"""Scores from before there were provisional ones have been published as they are: final."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import F


def make_final(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    evaluations = apps.get_model("leaderboard", "HumanEvaluation")
    published = evaluations.objects.using(editor.connection.alias).filter(
        state="SCORED", submission__state="PUBLISHED", scored_at__isnull=False
    )
    published.update(final_at=F("scored_at"), asked_again_at=F("scored_at"))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0025_provisional_scores")]

    operations = [migrations.RunPython(make_final, migrations.RunPython.noop)]
