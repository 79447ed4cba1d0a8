from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0017_hits_by_input'),
    ]

    operations = [
        migrations.AlterField(
            model_name='campaign',
            name='notice',
            field=models.CharField(blank=True, help_text='What staff should know at once.', max_length=600),
        ),
    ]
