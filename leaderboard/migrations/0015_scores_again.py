from __future__ import annotations

from typing import Any

from django.db import migrations
from django.db.models import F


def score_again(apps: Any, schema_editor: Any) -> None:
    """Let scores beside bans be computed again: who is excluded is counted anew."""
    evaluations = apps.get_model("leaderboard", "HumanEvaluation").objects
    scored = evaluations.filter(submission__isnull=False, scored_at__isnull=False)
    scored.update(scored_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0014_joint_results_again"),
    ]

    operations = [
        migrations.RunPython(score_again, migrations.RunPython.noop),
    ]
