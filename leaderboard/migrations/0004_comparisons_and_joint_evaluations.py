from __future__ import annotations

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('crowd', '0003_answers_per_output'),
        ('leaderboard', '0003_ordered_json'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ComparedPair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('wave', models.PositiveSmallIntegerField()),
                ('slot_of_a', models.CharField(max_length=8)),
            ],
            options={
                'ordering': ['comparison', 'position'],
            },
        ),
        migrations.CreateModel(
            name='Comparison',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('criterion', models.CharField(max_length=50)),
                ('delta', models.FloatField()),
                ('rule', models.CharField(max_length=50)),
                ('strategy', models.CharField(choices=[('one-worker', 'one random worker per pair'), ('fixed-worker', 'the same worker for all pairs'), ('majority', 'majority of several workers per pair'), ('max-three', 'two workers per pair, a third where they disagree')], default='one-worker', max_length=16)),
                ('n_workers', models.PositiveSmallIntegerField(default=1)),
                ('wave_size', models.PositiveSmallIntegerField()),
                ('max_pairs', models.PositiveIntegerField()),
                ('seed', models.BigIntegerField()),
                ('simulated', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('REQUESTED', 'waits for staff'), ('DECLINED', 'declined'), ('APPROVED', 'approved'), ('RUNNING', 'asking people'), ('DECIDED', 'decided'), ('UNDECIDED', 'not distinguishable within its budget'), ('STOPPED', 'stopped by staff')], db_index=True, default='REQUESTED', max_length=16)),
                ('n_waves', models.PositiveSmallIntegerField(default=0)),
                ('better', models.CharField(blank=True, choices=[('A', 'the first'), ('B', 'the second')], max_length=1)),
                ('n_labels', models.PositiveIntegerField(default=0)),
                ('estimate', models.FloatField(blank=True, null=True)),
                ('low', models.FloatField(blank=True, null=True)),
                ('high', models.FloatField(blank=True, null=True)),
                ('decision_reason', models.TextField(blank=True)),
                ('approved_cents', models.PositiveIntegerField(blank=True, null=True)),
                ('failure', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ComparisonSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('criterion', models.CharField(max_length=50)),
                ('delta', models.FloatField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='EvaluatedSystem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveSmallIntegerField()),
            ],
            options={
                'ordering': ['joint', 'position'],
            },
        ),
        migrations.CreateModel(
            name='JointEvaluation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('design', models.CharField(default='rankme', max_length=50)),
                ('criteria', models.JSONField(default=list)),
                ('n_instances', models.PositiveIntegerField()),
                ('n_workers', models.PositiveSmallIntegerField(default=1)),
                ('seed', models.BigIntegerField()),
                ('simulated', models.BooleanField(default=False)),
                ('state', models.CharField(choices=[('REQUESTED', 'waits for staff'), ('DECLINED', 'declined'), ('APPROVED', 'approved'), ('RUNNING', 'being judged'), ('SCORED', 'scored'), ('STOPPED', 'stopped')], db_index=True, default='REQUESTED', max_length=16)),
                ('results', models.JSONField(blank=True, default=dict)),
                ('decision_reason', models.TextField(blank=True)),
                ('approved_cents', models.PositiveIntegerField(blank=True, null=True)),
                ('failure', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='JudgedOutput',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.CharField(max_length=8)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='SeparateCampaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('criterion', models.CharField(max_length=50)),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='score',
            name='one_current_score',
        ),
        migrations.AddField(
            model_name='humanevaluation',
            name='task',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.task'),
        ),
        migrations.AlterField(
            model_name='humanevaluation',
            name='submission',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='human_evaluation', to='leaderboard.submission'),
        ),
        migrations.AddConstraint(
            model_name='score',
            constraint=models.UniqueConstraint(condition=models.Q(('superseded_at', None)), fields=('evaluation', 'submission', 'criterion'), name='one_current_score'),
        ),
        migrations.AddField(
            model_name='comparedpair',
            name='judged_item',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='pair', to='leaderboard.judgeditem'),
        ),
        migrations.AddField(
            model_name='comparison',
            name='a',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.submission'),
        ),
        migrations.AddField(
            model_name='comparison',
            name='b',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.submission'),
        ),
        migrations.AddField(
            model_name='comparison',
            name='decided_by',
            field=models.ForeignKey(blank=True, help_text='Who approved or declined what it costs.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='comparison',
            name='evaluation',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='comparison', to='leaderboard.humanevaluation'),
        ),
        migrations.AddField(
            model_name='comparison',
            name='requested_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='comparison',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comparisons', to='leaderboard.task'),
        ),
        migrations.AddField(
            model_name='comparedpair',
            name='comparison',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pairs', to='leaderboard.comparison'),
        ),
        migrations.AddField(
            model_name='comparisonset',
            name='requested_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='comparisonset',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.task'),
        ),
        migrations.AddField(
            model_name='comparison',
            name='within',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='comparisons', to='leaderboard.comparisonset'),
        ),
        migrations.AddField(
            model_name='evaluatedsystem',
            name='submission',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.submission'),
        ),
        migrations.AddField(
            model_name='jointevaluation',
            name='decided_by',
            field=models.ForeignKey(blank=True, help_text='Who approved or declined what it costs.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='jointevaluation',
            name='evaluation',
            field=models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='joint', to='leaderboard.humanevaluation'),
        ),
        migrations.AddField(
            model_name='jointevaluation',
            name='requested_by',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='jointevaluation',
            name='task',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='joint_evaluations', to='leaderboard.task'),
        ),
        migrations.AddField(
            model_name='evaluatedsystem',
            name='joint',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='systems', to='leaderboard.jointevaluation'),
        ),
        migrations.AddField(
            model_name='judgedoutput',
            name='judged_item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='outputs', to='leaderboard.judgeditem'),
        ),
        migrations.AddField(
            model_name='judgedoutput',
            name='submission',
            field=models.ForeignKey(blank=True, help_text='Empty: a reference.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='leaderboard.submission'),
        ),
        migrations.AddField(
            model_name='separatecampaign',
            name='campaign',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.campaign'),
        ),
        migrations.AddField(
            model_name='separatecampaign',
            name='evaluation',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='separate_campaigns', to='leaderboard.humanevaluation'),
        ),
        migrations.AddConstraint(
            model_name='comparedpair',
            constraint=models.UniqueConstraint(fields=('comparison', 'position'), name='compared_position_once'),
        ),
        migrations.AddConstraint(
            model_name='evaluatedsystem',
            constraint=models.UniqueConstraint(fields=('joint', 'submission'), name='evaluated_system_once'),
        ),
        migrations.AddConstraint(
            model_name='evaluatedsystem',
            constraint=models.UniqueConstraint(fields=('joint', 'position'), name='evaluated_position_once'),
        ),
        migrations.AddConstraint(
            model_name='judgedoutput',
            constraint=models.UniqueConstraint(fields=('judged_item', 'slot'), name='one_output_a_slot'),
        ),
        migrations.AddConstraint(
            model_name='separatecampaign',
            constraint=models.UniqueConstraint(fields=('evaluation', 'criterion'), name='separate_campaign_once'),
        ),
    ]
