"""Members get roles: the table of a team's members becomes a model of its own."""

from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def first_members_own(apps, schema_editor):
    Membership = apps.get_model("leaderboard", "Membership")
    seen = set()
    for pk, team_id in Membership.objects.order_by("pk").values_list("pk", "team_id"):
        if team_id not in seen:
            seen.add(team_id)
            Membership.objects.filter(pk=pk).update(role="OWNER")


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("leaderboard", "0008_failures_of_several"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Membership",
                    fields=[
                        ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                        ("team", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="leaderboard.team")),
                        ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="team_memberships", to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        "db_table": "leaderboard_team_members",
                        "ordering": ["pk"],
                        "unique_together": {("team", "user")},
                    },
                ),
                migrations.AlterField(
                    model_name="team",
                    name="members",
                    field=models.ManyToManyField(blank=True, related_name="teams", through="leaderboard.Membership", to=settings.AUTH_USER_MODEL),
                ),
            ]
        ),
        migrations.AddField(
            model_name="membership",
            name="role",
            field=models.CharField(choices=[("OWNER", "owner"), ("MEMBER", "member")], default="MEMBER", max_length=6),
        ),
        migrations.AddField(
            model_name="membership",
            name="joined_at",
            field=models.DateTimeField(auto_now_add=True, null=True),
        ),
        migrations.RunPython(first_members_own, migrations.RunPython.noop),
    ]
