from __future__ import annotations

from django.db import migrations
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    evaluation = apps.get_model("leaderboard", "HumanEvaluation")
    submission = apps.get_model("leaderboard", "Submission")
    of = submission.objects.filter(pk=OuterRef("submission_id"))
    evaluation.objects.filter(task=None).update(task=Subquery(of.values("task_id")[:1]))


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0004_comparisons_and_joint_evaluations")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
