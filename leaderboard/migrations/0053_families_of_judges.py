from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0052_when_licences_were_decided")]

    operations = [
        migrations.AddField(
            model_name="judge",
            name="family",
            field=models.CharField(blank=True, max_length=200, default=""),
            preserve_default=False,
        )
    ]
