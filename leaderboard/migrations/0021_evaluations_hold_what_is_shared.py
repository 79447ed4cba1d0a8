from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SHARED = (
    "task",
    "seed",
    "simulated",
    "state",
    "requested_by",
    "decided_by",
    "decision_reason",
    "approved_cents",
    "n_attempts",
    "failure",
    "failure_permanent",
    "created_at",
    "finished_at",
)


def owns(related_name: str) -> models.OneToOneField:
    return models.OneToOneField(
        on_delete=django.db.models.deletion.PROTECT,
        related_name=related_name,
        to="leaderboard.humanevaluation",
    )


class Migration(migrations.Migration):
    """Take away what stands in the evaluation now."""

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("leaderboard", "0020_carry_evaluations_over"),
    ]

    operations = [
        migrations.AlterField(
            model_name="humanevaluation",
            name="requested_by",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.RemoveField("humanevaluation", "old_submission"),
        migrations.RemoveField("humanevaluation", "campaign"),
        migrations.DeleteModel("SeparateCampaign"),
        *[
            migrations.RemoveField("submission", name)
            for name in ("decided_by", "decision_reason", "approved_cents", "start_now")
        ],
        *[migrations.RemoveField("comparison", name) for name in SHARED],
        *[
            migrations.RemoveField("jointevaluation", name)
            for name in (*SHARED, "design")
        ],
        migrations.AlterField("comparison", "evaluation", owns("comparison")),
        migrations.AlterField("jointevaluation", "evaluation", owns("joint")),
        migrations.RemoveField("evaluatedsystem", "joint"),
        migrations.AlterField(
            model_name="evaluatedsystem",
            name="evaluation",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="systems",
                to="leaderboard.humanevaluation",
            ),
        ),
        migrations.AlterModelOptions(
            "evaluatedsystem", {"ordering": ["evaluation", "position"]}
        ),
        migrations.AddConstraint(
            "evaluatedsystem",
            models.UniqueConstraint(
                fields=("evaluation", "submission"), name="evaluated_system_once"
            ),
        ),
        migrations.AddConstraint(
            "evaluatedsystem",
            models.UniqueConstraint(
                fields=("evaluation", "position"), name="evaluated_position_once"
            ),
        ),
    ]
