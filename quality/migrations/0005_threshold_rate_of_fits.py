from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('quality', '0004_appeals_against_requesters'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='detectorfit',
            name='fit_once_per_data',
        ),
        migrations.AddField(
            model_name='detectorfit',
            name='threshold_rate',
            field=models.FloatField(default=0.9),
        ),
        migrations.AddConstraint(
            model_name='detectorfit',
            constraint=models.UniqueConstraint(fields=('pool', 'polarity', 'detector', 'threshold_rate', 'counts_sha256'), name='fit_once_per_data'),
        ),
    ]
