from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0005_evaluations_know_their_task")]

    operations = [
        migrations.AlterField(
            model_name="humanevaluation",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="leaderboard.task",
            ),
        ),
    ]
