from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0051_licences_of_judges")]

    operations = [
        migrations.AddField(
            model_name="judgerun",
            name="decided_on",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
    ]
