from __future__ import annotations

from typing import Any

from django.db import migrations


def score_again(apps: Any, schema_editor: Any) -> None:
    """Let joint evaluations be computed again: workers count by weights, and by tastes."""
    evaluations = apps.get_model("leaderboard", "HumanEvaluation").objects
    evaluations.filter(joint__isnull=False, state="SCORED").update(scored_at=None)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0034_drawn_tests"),
    ]

    operations = [
        migrations.RunPython(score_again, migrations.RunPython.noop),
    ]
