from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('quality', '0001_initial'),
        ('crowd', '0003_answers_per_output'),
    ]

    operations = [
        migrations.AddField(
            model_name='placement',
            name='expected',
            field=models.JSONField(blank=True, default=dict),
        ),
    ]
