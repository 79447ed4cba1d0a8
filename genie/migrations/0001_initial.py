import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

from genie.lib.first_tables import FirstTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        FirstTables(state_operations=[
            migrations.CreateModel(
                name='LogHead',
                fields=[
                    ('size', models.PositiveBigIntegerField(primary_key=True, serialize=False)),
                    ('root', models.CharField(max_length=64)),
                    ('at', models.DateTimeField()),
                ],
                options={
                    'verbose_name': 'head of the public log',
                    'verbose_name_plural': 'heads of the public log',
                    'ordering': ['-size'],
                },
            ),
            migrations.CreateModel(
                name='RunningQueue',
                fields=[
                    ('number', models.PositiveIntegerField(primary_key=True, serialize=False)),
                    ('host', models.CharField(max_length=255)),
                    ('name', models.CharField(max_length=40)),
                    ('pid', models.PositiveIntegerField()),
                    ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                    ('beat_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ],
                options={
                    'ordering': ['host', 'name'],
                },
            ),
            migrations.CreateModel(
                name='AccessToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('token_sha256', models.CharField(max_length=64, unique=True)),
                    ('ending', models.CharField(max_length=4)),
                    ('scopes', models.JSONField(default=list)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('last_used_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='access_tokens', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='LogEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveBigIntegerField(blank=True, null=True, unique=True)),
                    ('at', models.DateTimeField()),
                    ('kind', models.CharField(choices=[('score', 'score'), ('result', 'result of a comparison or joint evaluation'), ('decision', 'decision of staff or a team'), ('ban', 'exclusion of a worker'), ('budget', 'budget'), ('release', 'release')], max_length=10)),
                    ('commitment', models.CharField(max_length=64)),
                    ('salt', models.CharField(blank=True, max_length=64)),
                    ('data', models.TextField(blank=True)),
                    ('about', models.PositiveBigIntegerField(blank=True, null=True)),
                    ('hashes', models.BinaryField(default=b'')),
                ],
                options={
                    'verbose_name': 'entry of the public log',
                    'verbose_name_plural': 'entries of the public log',
                    'ordering': ['pk'],
                    'indexes': [models.Index(fields=['kind', 'about'], name='log_about'), models.Index(condition=models.Q(('number', None)), fields=['id'], name='log_not_numbered')],
                },
            ),
            migrations.CreateModel(
                name='PrivateRead',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('way', models.CharField(choices=[('page', 'page'), ('admin', 'admin'), ('api', 'API'), ('file', 'download')], max_length=10, verbose_name='how')),
                    ('what', models.CharField(db_index=True, max_length=120)),
                    ('title', models.CharField(blank=True, max_length=200)),
                    ('address', models.CharField(blank=True, max_length=300)),
                    ('pool', models.CharField(blank=True, max_length=100, verbose_name='task')),
                    ('at', models.DateTimeField(auto_now_add=True, db_index=True, verbose_name='when')),
                    ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'read of private outputs',
                    'verbose_name_plural': 'reads of private outputs',
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='TaskRole',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.CharField(db_index=True, max_length=100, verbose_name='task')),
                    ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='since')),
                    ('role', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='auth.group')),
                    ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='task_roles', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'role on a task',
                    'verbose_name_plural': 'roles on tasks',
                    'ordering': ['pool', 'role', 'user'],
                    'constraints': [models.UniqueConstraint(fields=('user', 'role', 'pool'), name='task_role_once')],
                },
            ),
        ]),
    ]
