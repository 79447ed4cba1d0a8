"""All tables as of the last of these migrations, for databases that have none of them yet.

A database that has applied some of them goes on with the others, one by one.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('genie', '0001_access_tokens'), ('genie', '0002_take_over_old_tokens'), ('genie', '0003_roles_on_tasks_and_private_reads'), ('genie', '0004_reads_keep_no_names')]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
    ]

    operations = [
        migrations.CreateModel(
            name='AccessToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_tokens', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(max_length=100)),
                ('token_sha256', models.CharField(max_length=64, unique=True)),
                ('ending', models.CharField(max_length=4)),
                ('scopes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='TaskRole',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='task_roles', to=settings.AUTH_USER_MODEL)),
                ('role', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group')),
                ('pool', models.CharField(db_index=True, max_length=100, verbose_name='task')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='since')),
            ],
            options={
                'verbose_name': 'role on a task',
                'verbose_name_plural': 'roles on tasks',
                'ordering': ['pool', 'role', 'user'],
                'constraints': [models.UniqueConstraint(fields=('user', 'role', 'pool'), name='task_role_once')],
            },
        ),
        migrations.CreateModel(
            name='PrivateRead',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('way', models.CharField(choices=[('page', 'page'), ('admin', 'admin'), ('api', 'API'), ('file', 'download')], max_length=10, verbose_name='how')),
                ('what', models.CharField(db_index=True, max_length=120)),
                ('title', models.CharField(blank=True, max_length=200)),
                ('address', models.CharField(blank=True, max_length=300)),
                ('pool', models.CharField(blank=True, max_length=100, verbose_name='task')),
                ('at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='when')),
            ],
            options={
                'verbose_name': 'read of private outputs',
                'verbose_name_plural': 'reads of private outputs',
                'ordering': ['-pk'],
            },
        ),
    ]
