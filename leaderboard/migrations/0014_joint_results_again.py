from __future__ import annotations

from typing import Any

from django.db import migrations


def score_again(apps: Any, schema_editor: Any) -> None:
    """Let joint evaluations be scored again: the order of TrueSkill's games is new."""
    evaluations = apps.get_model("leaderboard", "HumanEvaluation").objects
    evaluations.filter(joint__state="SCORED").update(scored_at=None)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0013_counted_votes"),
    ]

    operations = [
        migrations.RunPython(score_again, migrations.RunPython.noop),
    ]
