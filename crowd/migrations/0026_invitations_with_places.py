import django.db.models.deletion
from django.db import migrations, models
from django.db.models import F


def carry_over(apps, schema_editor):
    Invitation = apps.get_model("crowd", "Invitation")
    Worker = apps.get_model("crowd", "Worker")
    for pk, worker in Invitation.objects.exclude(worker=None).values_list("pk", "worker"):
        Worker.objects.filter(pk=worker).update(came_by=pk)
    Invitation.objects.exclude(used_at=None).update(n_taken=F("places"))


def carry_back(apps, schema_editor):
    Invitation = apps.get_model("crowd", "Invitation")
    Worker = apps.get_model("crowd", "Worker")
    for pk, invitation in Worker.objects.exclude(came_by=None).values_list("pk", "came_by"):
        Invitation.objects.filter(pk=invitation).update(worker=pk)


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0025_pauses'),
    ]

    operations = [
        migrations.AddField(
            model_name='invitation',
            name='code',
            field=models.CharField(blank=True, max_length=40),
        ),
        migrations.AddField(
            model_name='invitation',
            name='places',
            field=models.PositiveIntegerField(default=1),
        ),
        migrations.AddField(
            model_name='invitation',
            name='n_taken',
            field=models.PositiveIntegerField(default=0, verbose_name='taken'),
        ),
        migrations.AddField(
            model_name='worker',
            name='came_by',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='workers', to='crowd.invitation'),
        ),
        migrations.AlterField(
            model_name='invitation',
            name='used_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='used up at'),
        ),
        migrations.RunPython(carry_over, carry_back),
    ]
