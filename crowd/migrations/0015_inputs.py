import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("crowd", "0014_campaigns_can_be_stopped_without_publishing"),
    ]

    operations = [
        migrations.CreateModel(
            name="Input",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("scope", models.CharField(max_length=140)),
                ("content_key", models.CharField(max_length=64)),
                ("in_pool", models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="crowd.input")),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [models.UniqueConstraint(fields=("scope", "content_key"), name="input_once_in_scope")],
            },
        ),
        migrations.AddField(
            model_name="hit",
            name="input",
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="hits", to="crowd.input"),
        ),
    ]
