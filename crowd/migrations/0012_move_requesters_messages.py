from django.db import migrations


def move(apps, schema_editor):
    """Copy what requesters wrote into the workers' one inbox, with its date."""
    message = apps.get_model("crowd", "Message")
    rows = apps.get_model("crowd", "RequesterMessage").objects.select_related("worker")
    for row in rows.order_by("pk").iterator(chunk_size=500):
        copy = message.objects.create(
            worker_id=row.worker.worker_id,
            kind="REQUESTER",
            subject=row.subject,
            text=row.text,
            requester_id=row.worker.requester_id,
            # it was shown on another page, which did not note who has seen it
            read_at=row.created_at,
        )
        message.objects.filter(pk=copy.pk).update(created_at=row.created_at)


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0011_one_inbox_for_workers'),
    ]

    operations = [
        migrations.RunPython(move, migrations.RunPython.noop),
        migrations.DeleteModel(
            name='RequesterMessage',
        ),
    ]
