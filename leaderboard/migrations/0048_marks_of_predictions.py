from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0047_import_said")]

    operations = [
        migrations.AddField(
            model_name="prediction",
            name="spans",
            field=models.JSONField(blank=True, null=True),
        ),
    ]
