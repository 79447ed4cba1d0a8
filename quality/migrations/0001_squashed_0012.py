"""All tables as of the last of these migrations, for databases that have none of them yet.

A database that has applied some of them goes on with the others, one by one.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [('quality', '0001_initial'), ('quality', '0002_expected_answers'), ('quality', '0003_appeals'), ('quality', '0004_appeals_against_requesters'), ('quality', '0005_threshold_rate_of_fits'), ('quality', '0006_held_exclusions'), ('quality', '0007_posteriors_of_fits'), ('quality', '0008_plain_labels'), ('quality', '0009_tests_by_criterion_and_source'), ('quality', '0010_standings_and_retired_questions'), ('quality', '0011_plain_polarities'), ('quality', '0012_earlier_ratings_weigh_otherwise')]

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('crowd', '0036_invitations_to_a_task'),
    ]

    operations = [
        migrations.CreateModel(
            name='Placement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.campaign')),
                ('item', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.item')),
                ('polarity', models.CharField(choices=[('POSITIVE', 'positive: a text that is known to be good'), ('NEGATIVE', 'negative: a text that is known to be bad')], max_length=8)),
                ('expected', models.JSONField(blank=True, default=dict)),
                ('kind', models.CharField(blank=True, default='', max_length=40)),
                ('made_from', models.JSONField(blank=True, default=dict)),
                ('text_sha256', models.CharField(blank=True, db_index=True, default='', max_length=64)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='Grade',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('placement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='quality.placement')),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.assignment')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='grades', to='crowd.worker')),
                ('pool', models.CharField(max_length=100)),
                ('criterion', models.CharField(blank=True, default='', max_length=50)),
                ('polarity', models.CharField(choices=[('POSITIVE', 'positive: a text that is known to be good'), ('NEGATIVE', 'negative: a text that is known to be bad')], max_length=8)),
                ('correct', models.BooleanField()),
                ('graded_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['pool', 'polarity', 'worker'], name='quality_gra_pool_f4afae_idx')],
                'constraints': [models.UniqueConstraint(fields=('placement', 'assignment', 'criterion'), name='grade_once')],
            },
        ),
        migrations.CreateModel(
            name='DetectorFit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('pool', models.CharField(max_length=100)),
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
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('fit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='quality.detectorfit')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='verdicts', to='crowd.worker')),
                ('n_questions', models.PositiveIntegerField()),
                ('n_correct', models.PositiveIntegerField()),
                ('p_noisy', models.FloatField()),
                ('threshold', models.FloatField()),
                ('noisy', models.BooleanField()),
                ('parts', models.JSONField(blank=True, default=dict)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('fit', 'worker'), name='verdict_once')],
            },
        ),
        migrations.CreateModel(
            name='Ban',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='bans', to='crowd.worker')),
                ('pool', models.CharField(max_length=100)),
                ('verdict', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.verdict')),
                ('reason', models.TextField()),
                ('created_by', models.ForeignKey(blank=True, help_text="Empty: the detector's decision.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('lifted_at', models.DateTimeField(blank=True, null=True)),
                ('lifted_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('lifted_reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at', None)), fields=('worker', 'pool'), name='one_ban_in_force')],
            },
        ),
        migrations.CreateModel(
            name='Standing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='standings', to='crowd.worker')),
                ('pool', models.CharField(max_length=100)),
                ('fit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='quality.detectorfit')),
                ('n_questions', models.PositiveIntegerField()),
                ('p_careless', models.FloatField()),
                ('weight', models.FloatField(default=1.0)),
                ('earlier', models.JSONField(blank=True, default=dict)),
                ('weighed_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('pool', 'worker'), name='standing_once')],
            },
        ),
        migrations.CreateModel(
            name='RetiredQuestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('placement', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='retirement', to='quality.placement')),
                ('fit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='quality.detectorfit')),
                ('reason', models.TextField()),
                ('retired_at', models.DateTimeField(auto_now_add=True)),
                ('restored_at', models.DateTimeField(blank=True, null=True)),
                ('restored_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('restored_reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Appeal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='appeals', to='crowd.worker')),
                ('pool', models.CharField(blank=True, max_length=100)),
                ('assignment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='appeal', to='crowd.assignment')),
                ('requester_assignment', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='appeal', to='crowd.requesterassignment')),
                ('ban', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='appeal', to='quality.ban')),
                ('words', models.TextField(max_length=2000)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('state', models.CharField(choices=[('WAITING', 'waiting for an answer'), ('GRANTED', 'granted'), ('UPHELD', 'decision upheld')], default='WAITING', max_length=16)),
                ('answer', models.TextField(blank=True)),
                ('answered_at', models.DateTimeField(blank=True, null=True)),
                ('answered_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['state', 'created_at'], name='quality_app_state_2b3680_idx')],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('assignment__isnull', False), ('ban', None), ('requester_assignment', None)), models.Q(('assignment', None), ('ban', None), ('requester_assignment__isnull', False)), models.Q(('assignment', None), ('ban__isnull', False), ('requester_assignment', None)), _connector='OR'), name='against_a_rejection_or_a_ban')],
            },
        ),
        migrations.CreateModel(
            name='HeldExclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='held_exclusions', to='crowd.worker')),
                ('pool', models.CharField(max_length=100)),
                ('verdict', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='quality.verdict')),
                ('state', models.CharField(choices=[('WAITING', 'waiting for a decision'), ('CONFIRMED', 'confirmed: the worker is excluded'), ('REFUSED', 'refused: the worker stays')], default='WAITING', max_length=16)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('decided_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('reason', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(fields=['pool', 'state'], name='quality_hel_pool_78990d_idx')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'WAITING')), fields=('worker', 'pool'), name='held_once_at_a_time')],
            },
        ),
    ]
