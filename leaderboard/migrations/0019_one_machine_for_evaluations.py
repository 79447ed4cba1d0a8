from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

STATES = [
    ("REQUESTED", "awaiting approval"),
    ("DECLINED", "declined"),
    ("APPROVED", "approved"),
    ("ANNOTATING", "collecting ratings"),
    ("ANNOTATED", "ratings complete"),
    ("SCORED", "scored"),
    ("DECIDED", "decided"),
    ("UNDECIDED", "inconclusive"),
    ("STOPPED", "stopped"),
    ("WITHDRAWN", "withdrawn"),
]
SUBMISSION_STATES = [
    ("RECEIVED", "received"),
    ("INVALID", "invalid"),
    ("VALID", "valid"),
    ("MEASURED", "awaiting approval"),
    ("DECLINED", "declined"),
    ("APPROVED", "approved"),
    ("ANNOTATING", "collecting ratings"),
    ("STOPPED", "stopped"),
    ("ANNOTATED", "ratings complete"),
    ("SCORED", "scored"),
    ("PUBLISHED", "published"),
    ("WITHDRAWN", "withdrawn"),
]


def person(**options: object) -> models.ForeignKey:
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
        **options,
    )


class Migration(migrations.Migration):
    """Make room: what three models held apart comes to stand in one."""

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("crowd", "0001_initial"),
        ("leaderboard", "0018_campaigns_named_after_their_systems"),
    ]

    operations = [
        migrations.AlterField(
            model_name="submission",
            name="state",
            field=models.CharField(
                choices=SUBMISSION_STATES,
                db_index=True,
                default="RECEIVED",
                max_length=16,
            ),
        ),
        migrations.AlterField(
            model_name="submissionevent",
            name="state",
            field=models.CharField(choices=SUBMISSION_STATES, max_length=16),
        ),
        migrations.RenameField("humanevaluation", "submission", "old_submission"),
        migrations.AlterField(
            model_name="humanevaluation",
            name="old_submission",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="leaderboard.submission",
            ),
        ),
        migrations.AlterField(
            model_name="humanevaluation",
            name="campaign",
            field=models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="crowd.campaign",
            ),
        ),
        migrations.AlterField(
            model_name="humanevaluation",
            name="task",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="human_evaluations",
                to="leaderboard.task",
            ),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="strategy",
            field=models.CharField(
                choices=[
                    ("single", "one system"),
                    ("comparison", "comparison"),
                    ("joint", "joint evaluation"),
                ],
                default="single",
                max_length=16,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="state",
            field=models.CharField(
                choices=STATES, db_index=True, default="REQUESTED", max_length=16
            ),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="simulated",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="humanevaluation", name="requested_by", field=person(null=True)
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="decided_by",
            field=person(
                blank=True,
                help_text="Who approved, declined or stopped it.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="decision_reason",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="approved_cents",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="start_now",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="n_attempts",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="failed_step",
            field=models.CharField(blank=True, default="", max_length=50),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="failure",
            field=models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="failure_permanent",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="humanevaluation",
            name="finished_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="submission",
            name="human_evaluation",
            field=models.OneToOneField(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="submission",
                to="leaderboard.humanevaluation",
            ),
        ),
        migrations.RemoveConstraint("evaluatedsystem", "evaluated_system_once"),
        migrations.RemoveConstraint("evaluatedsystem", "evaluated_position_once"),
        migrations.AlterModelOptions("evaluatedsystem", {}),
        migrations.AlterField(
            model_name="evaluatedsystem",
            name="joint",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="systems",
                to="leaderboard.jointevaluation",
            ),
        ),
        migrations.AlterField(
            model_name="evaluatedsystem",
            name="submission",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="evaluated",
                to="leaderboard.submission",
            ),
        ),
        migrations.AddField(
            model_name="evaluatedsystem",
            name="evaluation",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="systems",
                to="leaderboard.humanevaluation",
            ),
        ),
        migrations.CreateModel(
            name="EvaluationCampaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("criterion", models.CharField(blank=True, max_length=50)),
                ("position", models.PositiveSmallIntegerField()),
                (
                    "campaign",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="crowd.campaign",
                    ),
                ),
                (
                    "evaluation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="campaigns",
                        to="leaderboard.humanevaluation",
                    ),
                ),
            ],
            options={
                "ordering": ["evaluation", "position"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("evaluation", "criterion"),
                        name="evaluation_criterion_once",
                    ),
                    models.UniqueConstraint(
                        fields=("evaluation", "position"),
                        name="evaluation_campaign_once",
                    ),
                ],
            },
        ),
    ]
