import django.db.models.deletion
import django.db.models.functions.comparison
import genie.lib.ordered_json
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0058_designs_of_judges'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='JudgeSheet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(db_index=True, max_length=140)),
                ('title', models.CharField(max_length=200)),
                ('content', genie.lib.ordered_json.OrderedJSONField(default=dict)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.AddField(
            model_name='judgecall',
            name='item',
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='rival',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='judgecall',
            name='system',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AlterField(
            model_name='judgebudget',
            name='task',
            field=models.ForeignKey(blank=True, help_text='Empty: for the simulated pilots of all drafts in the studio.', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='judge_budgets', to='leaderboard.task'),
        ),
        migrations.AlterField(
            model_name='judgecall',
            name='instance',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.instance'),
        ),
        migrations.AlterField(
            model_name='judgecall',
            name='submission',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='leaderboard.submission'),
        ),
        migrations.AlterField(
            model_name='judgerun',
            name='task',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='judge_runs', to='leaderboard.task'),
        ),
        migrations.AddConstraint(
            model_name='judgebudget',
            constraint=models.UniqueConstraint(django.db.models.functions.comparison.Coalesce('judge', 0), condition=models.Q(('task', None)), name='judge_draft_budget_once'),
        ),
        migrations.AddConstraint(
            model_name='judgecall',
            constraint=models.UniqueConstraint(condition=models.Q(('instance', None)), fields=('run', 'item', 'system', 'rival', 'beside', 'part', 'sample', 'probe'), name='judge_sheet_call_once'),
        ),
        migrations.AddField(
            model_name='judgerun',
            name='sheet',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='leaderboard.judgesheet'),
        ),
        migrations.AddConstraint(
            model_name='judgerun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('sheet__isnull', False), ('task', None)), models.Q(('sheet', None), ('task__isnull', False)), _connector='OR'), name='judge_run_about_one'),
        ),
    ]
