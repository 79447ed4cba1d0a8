from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0048_marks_of_predictions")]

    operations = [
        migrations.AddField(
            model_name="comparisonset",
            name="informative_first",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="comparisonset",
            name="max_in_all",
            field=models.PositiveIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="comparison",
            name="n_allotted",
            field=models.PositiveIntegerField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="comparison",
            name="propensity",
            field=models.FloatField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="comparedpair",
            name="propensity",
            field=models.FloatField(blank=True, null=True),
        ),
    ]
