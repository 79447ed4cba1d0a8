from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0026_invitations_with_places'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='invitation',
            name='worker',
        ),
        migrations.AlterField(
            model_name='message',
            name='kind',
            field=models.CharField(choices=[('REJECTED', 'work was rejected'), ('BANNED', 'excluded from a task'), ('UNBANNED', 'readmitted'), ('BONUS', 'bonus'), ('QUALIFIED', 'qualification granted'), ('REVOKED', 'qualification revoked'), ('APPEAL', 'answer to an appeal'), ('REQUESTER', 'message from a requester'), ('STAFF', 'message from staff')], max_length=16),
        ),
    ]
