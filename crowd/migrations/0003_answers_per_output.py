from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("crowd", "0002_ordered_json")]

    operations = [
        migrations.AddField(
            model_name="hittype",
            name="form",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="answer",
            name="slot",
            field=models.CharField(blank=True, default="", max_length=8),
        ),
        migrations.AddField(
            model_name="answer",
            name="detail",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.RemoveConstraint(model_name="answer", name="answer_once"),
        migrations.AddConstraint(
            model_name="answer",
            constraint=models.UniqueConstraint(
                fields=("assignment", "item", "criterion", "slot"), name="answer_once"
            ),
        ),
    ]
