from __future__ import annotations

from collections import Counter

from django.db import migrations, models


def fill(apps, schema_editor):
    """Say of campaigns that are there how many answers each HIT was to get."""
    Campaign = apps.get_model("crowd", "Campaign")
    HIT = apps.get_model("crowd", "HIT")
    # comparisons ask for more by themselves
    Campaign.objects.filter(key__startswith="comparison:").update(answers_per_hit=None)
    for pk in Campaign.objects.exclude(answers_per_hit=None).values_list(
        "pk", flat=True
    ):
        # Some HITs have more places, where answers were replaced, or fewer.
        places = Counter(
            HIT.objects.filter(campaign=pk, max_assignments__gt=0)
            .order_by("position")
            .values_list("max_assignments", flat=True)
        )
        if places and (n := places.most_common(1)[0][0]) != 1:
            Campaign.objects.filter(pk=pk).update(answers_per_hit=n)


class Migration(migrations.Migration):
    dependencies = [
        ("crowd", "0034_inputs_that_close_each_other"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="answers_per_hit",
            field=models.PositiveIntegerField(
                blank=True, default=1, null=True, verbose_name="answers per HIT"
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
