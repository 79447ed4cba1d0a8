from django.db import migrations
from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce


def keep_inputs(apps, schema_editor):
    """Write down what each HIT shows: that of its first item."""
    Campaign, HIT = apps.get_model("crowd", "Campaign"), apps.get_model("crowd", "HIT")
    Input, Item = apps.get_model("crowd", "Input"), apps.get_model("crowd", "Item")

    def kept(scope, keys, in_pool):
        Input.objects.bulk_create(
            [Input(scope=scope, content_key=key, in_pool=in_pool.get(key)) for key in keys],
            batch_size=2_000,
            ignore_conflicts=True,
        )
        return {one.content_key: one for one in Input.objects.filter(scope=scope)}

    def key_of(hit):
        items = Item.objects.filter(hit=hit).order_by("pk")
        return Coalesce(Subquery(items.values("content_key")[:1]), Value(""))

    for campaign in Campaign.objects.order_by("pk"):
        hits = HIT.objects.filter(campaign=campaign)
        # a HIT without an item shows nothing; the key of its input is empty
        keys = sorted(set(hits.annotate(key=key_of(OuterRef("pk"))).order_by().values_list("key", flat=True)))
        scope, inputs = campaign.pool, kept(campaign.pool, keys, {})
        if campaign.exposure == "campaign":
            scope = f"{campaign.pool}#{campaign.pk}"
            kept(scope, keys, inputs)
        shown = Input.objects.filter(scope=scope, content_key=key_of(OuterRef(OuterRef("pk"))))
        hits.update(input=Subquery(shown.values("pk")[:1]))


class Migration(migrations.Migration):

    dependencies = [
        ("crowd", "0015_inputs"),
    ]

    operations = [
        migrations.RunPython(keep_inputs, migrations.RunPython.noop),
    ]
