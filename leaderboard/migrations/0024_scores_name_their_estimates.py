from django.db import migrations

NUMBERS = ("mean", "low", "high", "low_50", "high_50", "covers")


def name_estimates(apps, schema_editor):
    """Scores of before are this crowd's plain means."""
    Score = apps.get_model("leaderboard", "Score")
    rows = []
    for score in Score.objects.order_by("pk").iterator(chunk_size=2000):
        score.estimates = {"plain": {name: getattr(score, name) for name in NUMBERS}}
        rows.append(score)
        if len(rows) == 500:
            Score.objects.bulk_update(rows, ["estimates"])
            rows = []
    if rows:
        Score.objects.bulk_update(rows, ["estimates"])


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0023_boards_estimated_together"),
    ]

    operations = [
        migrations.RunPython(name_estimates, migrations.RunPython.noop),
    ]
