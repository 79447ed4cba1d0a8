from __future__ import annotations

from typing import Any

from django.db import migrations

CLAIMED = "which instances and workers happened to be drawn, one rating each"
COVERED = (
    "which instances were drawn, for this crowd of workers; "
    "another crowd may differ by more"
)


def correct(apps: Any, schema_editor: Any) -> None:
    """Let scores from before say the same of their intervals as new ones."""
    scores = apps.get_model("leaderboard", "Score").objects
    scores.filter(covers=CLAIMED).update(covers=COVERED)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0015_scores_again"),
    ]

    operations = [
        migrations.RunPython(correct, migrations.RunPython.noop),
    ]
