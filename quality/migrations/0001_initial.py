import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from genie.lib.first_tables import FirstTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('crowd', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        FirstTables(state_operations=[
            migrations.CreateModel(
                name='DetectorFit',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('polarity', models.CharField(blank=True, choices=[('POSITIVE', 'positive: a text that is known to be good'), ('NEGATIVE', 'negative: a text that is known to be bad')], max_length=8)),
                    ('detector', models.CharField(max_length=50)),
                    ('parameters', models.JSONField(default=dict)),
                    ('threshold_rate', models.FloatField(default=0.9)),
                    ('counts_sha256', models.CharField(max_length=64)),
                    ('n_workers', models.PositiveIntegerField()),
                    ('posteriors', models.JSONField(default=list)),
                    ('seed', models.BigIntegerField()),
                    ('code_version', models.CharField(max_length=50)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['-pk'],
                    'constraints': [models.UniqueConstraint(fields=('pool', 'polarity', 'detector', 'threshold_rate', 'counts_sha256'), name='fit_once_per_data')],
                },
            ),
            migrations.CreateModel(
                name='Placement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('polarity', models.CharField(choices=[('POSITIVE', 'positive: a text that is known to be good'), ('NEGATIVE', 'negative: a text that is known to be bad')], max_length=8)),
                    ('expected', models.JSONField(blank=True, default=dict)),
                    ('kind', models.CharField(blank=True, default='', max_length=40)),
                    ('made_from', models.JSONField(blank=True, default=dict)),
                    ('text_sha256', models.CharField(blank=True, db_index=True, default='', max_length=64)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.campaign')),
                    ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.item')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RetiredQuestion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('reason', models.TextField()),
                    ('retired_at', models.DateTimeField(auto_now_add=True)),
                    ('restored_at', models.DateTimeField(blank=True, null=True)),
                    ('restored_reason', models.TextField(blank=True)),
                    ('fit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='quality.detectorfit')),
                    ('placement', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='retirement', to='quality.placement')),
                    ('restored_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='Verdict',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('n_questions', models.PositiveIntegerField()),
                    ('n_correct', models.PositiveIntegerField()),
                    ('p_noisy', models.FloatField()),
                    ('threshold', models.FloatField()),
                    ('noisy', models.BooleanField()),
                    ('parts', models.JSONField(blank=True, default=dict)),
                    ('fit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='quality.detectorfit')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='HeldExclusion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('state', models.CharField(choices=[('WAITING', 'waiting for a decision'), ('CONFIRMED', 'confirmed: the worker is excluded'), ('REFUSED', 'refused: the worker stays')], default='WAITING', max_length=16)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('reason', models.TextField(blank=True)),
                    ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='held_exclusions', to='crowd.worker')),
                    ('verdict', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.verdict')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Ban',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('reason', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('lifted_at', models.DateTimeField(blank=True, null=True)),
                    ('lifted_reason', models.TextField(blank=True)),
                    ('created_by', models.ForeignKey(blank=True, help_text="Empty: the detector's decision.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('lifted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bans', to='crowd.worker')),
                    ('verdict', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.verdict')),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='Appeal',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('words', models.TextField(max_length=2000)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('state', models.CharField(choices=[('WAITING', 'waiting for an answer'), ('GRANTED', 'granted'), ('UPHELD', 'decision upheld')], default='WAITING', max_length=16)),
                    ('answer', models.TextField(blank=True)),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('assignment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='appeal', to='crowd.assignment')),
                    ('requester_assignment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='appeal', to='crowd.requesterassignment')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='appeals', to='crowd.worker')),
                    ('ban', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='appeal', to='quality.ban')),
                ],
                options={
                    'ordering': ['pk'],
                    'indexes': [models.Index(fields=['state', 'created_at'], name='quality_app_state_2b3680_idx')],
                    'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('assignment__isnull', False), ('ban', None), ('requester_assignment', None)), models.Q(('assignment', None), ('ban', None), ('requester_assignment__isnull', False)), models.Q(('assignment', None), ('requester_assignment', None)), _connector='OR'), name='against_a_rejection_or_a_ban')],
                },
            ),
            migrations.CreateModel(
                name='Grade',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('criterion', models.CharField(blank=True, default='', max_length=50)),
                    ('polarity', models.CharField(choices=[('POSITIVE', 'positive: a text that is known to be good'), ('NEGATIVE', 'negative: a text that is known to be bad')], max_length=8)),
                    ('correct', models.BooleanField()),
                    ('graded_at', models.DateTimeField(auto_now_add=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.assignment')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='crowd.worker')),
                    ('placement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='quality.placement')),
                ],
                options={
                    'ordering': ['pk'],
                    'indexes': [models.Index(fields=['pool', 'polarity', 'worker'], name='quality_gra_pool_id_960260_idx')],
                    'constraints': [models.UniqueConstraint(fields=('placement', 'assignment', 'criterion'), name='grade_once')],
                },
            ),
            migrations.CreateModel(
                name='Standing',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('n_questions', models.PositiveIntegerField()),
                    ('p_careless', models.FloatField()),
                    ('weight', models.FloatField(default=1.0)),
                    ('earlier', models.JSONField(blank=True, default=dict)),
                    ('weighed_at', models.DateTimeField(auto_now_add=True)),
                    ('fit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='quality.detectorfit')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                    'constraints': [models.UniqueConstraint(fields=('pool', 'worker'), name='standing_once')],
                },
            ),
            migrations.AddConstraint(
                model_name='verdict',
                constraint=models.UniqueConstraint(fields=('fit', 'worker'), name='verdict_once'),
            ),
            migrations.AddIndex(
                model_name='heldexclusion',
                index=models.Index(fields=['pool', 'state'], name='quality_hel_pool_id_bdfb9e_idx'),
            ),
            migrations.AddConstraint(
                model_name='heldexclusion',
                constraint=models.UniqueConstraint(condition=models.Q(('state', 'WAITING')), fields=('worker', 'pool'), name='held_once_at_a_time'),
            ),
            migrations.AddConstraint(
                model_name='ban',
                constraint=models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('worker', 'pool'), name='one_ban_in_force'),
            ),
        ]),
    ]
