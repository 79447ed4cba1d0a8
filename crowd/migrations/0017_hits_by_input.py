import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("crowd", "0016_inputs_of_hits"),
    ]

    operations = [
        migrations.AlterField(
            model_name="hit",
            name="input",
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name="hits", to="crowd.input"),
        ),
        migrations.AddIndex(
            model_name="hit",
            index=models.Index(condition=models.Q(("n_available__gt", 0)), fields=["input"], name="hit_available_by_input"),
        ),
        # nothing is looked up by it any more
        migrations.AlterField(
            model_name="item",
            name="content_key",
            field=models.CharField(max_length=64),
        ),
    ]
