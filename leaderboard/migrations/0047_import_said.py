import genie.lib.ordered_json
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0046_imports")]

    operations = [
        migrations.AddField(
            model_name="import",
            name="said",
            field=genie.lib.ordered_json.OrderedJSONField(default=dict),
        ),
    ]
