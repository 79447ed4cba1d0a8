import crowd.money.models
import crowd.requester.models
import crowd.workers.models.worker
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import django.utils.timezone
import genie.lib.database
from decimal import Decimal
from django.conf import settings
from django.db import migrations, models

from genie.lib.first_tables import FirstTables


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        FirstTables(state_operations=[
            migrations.CreateModel(
                name='Pool',
                fields=[
                    ('slug', models.SlugField(max_length=100, primary_key=True, serialize=False)),
                ],
                options={
                    'ordering': ['slug'],
                },
            ),
            migrations.CreateModel(
                name='Assignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('state', models.CharField(choices=[('ACCEPTED', 'being worked on'), ('SUBMITTED', 'pending approval'), ('APPROVED', 'approved'), ('REJECTED', 'rejected'), ('RETURNED', 'returned'), ('EXPIRED', 'timed out')], default='ACCEPTED', max_length=16)),
                    ('reward_cents', models.PositiveIntegerField()),
                    ('accepted_at', models.DateTimeField()),
                    ('deadline_at', models.DateTimeField()),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('decided_at', models.DateTimeField(blank=True, null=True)),
                    ('overturned_at', models.DateTimeField(blank=True, null=True)),
                    ('feedback', models.TextField(blank=True, max_length=1024)),
                    ('remark', models.TextField(blank=True, help_text="The worker's comment on this HIT.", max_length=2000)),
                    ('active_seconds', models.FloatField(blank=True, null=True)),
                    ('language', models.CharField(blank=True, default='', max_length=16)),
                    ('replaced_at', models.DateTimeField(blank=True, null=True)),
                    ('page', models.ForeignKey(blank=True, db_index=False, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='with_it', to='crowd.assignment')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='BroughtTemplate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('slug', models.SlugField(unique=True)),
                    ('files', models.JSONField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['slug'],
                },
            ),
            migrations.CreateModel(
                name='Budget',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.OneToOneField(blank=True, help_text='The benchmark task; leave empty for the whole site.', null=True, on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('limit_cents', models.PositiveIntegerField()),
                ],
                options={
                    'ordering': [models.OrderBy(models.F('pool_id'), nulls_first=True)],
                    'constraints': [models.UniqueConstraint(django.db.models.functions.comparison.Coalesce('pool', models.Value(''), output_field=models.CharField()), name='budget_of_the_site_once')],
                },
            ),
            migrations.CreateModel(
                name='Campaign',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=100, unique=True)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('title', models.CharField(max_length=200)),
                    ('platform', models.CharField(default='selfhosted', max_length=32)),
                    ('state', models.CharField(choices=[('SCHEDULED', 'scheduled'), ('RUNNING', 'running'), ('PAUSED', 'paused'), ('STOPPED', 'stopped'), ('COMPLETE', 'complete')], default='SCHEDULED', max_length=16)),
                    ('exposure', models.CharField(default='task', max_length=16)),
                    ('budget_cents', models.PositiveIntegerField()),
                    ('fee_cents', models.PositiveIntegerField(default=0)),
                    ('money_added_at', models.DateTimeField(blank=True, null=True)),
                    ('answers_per_hit', models.PositiveIntegerField(blank=True, default=1, null=True, verbose_name='answers per HIT')),
                    ('seed', models.BigIntegerField()),
                    ('worker_share', models.FloatField(blank=True, null=True, verbose_name='share of one worker')),
                    ('share_follows_crowd', models.BooleanField(default=False, help_text='Whether each may do more where fewer workers are active.', verbose_name='share follows the crowd')),
                    ('hits_per_worker', models.PositiveIntegerField(blank=True, help_text='How many HITs one worker may do.', null=True, verbose_name='HITs per worker')),
                    ('simulated', models.BooleanField(default=False)),
                    ('starts_at', models.DateTimeField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('completed_at', models.DateTimeField(blank=True, null=True)),
                    ('publish_partial', models.BooleanField(blank=True, help_text='Whether results are published although the campaign was stopped; unknown unless it was stopped.', null=True, verbose_name='publish partial result')),
                    ('notice', models.CharField(blank=True, help_text='What staff should know right away.', max_length=600)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='ConsentVersion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('sha256', models.CharField(max_length=64, unique=True)),
                    ('html', models.TextField()),
                    ('first_given_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='HITType',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('template', models.SlugField(max_length=100)),
                    ('scale', models.SlugField(max_length=100)),
                    ('criteria', genie.lib.database.OrderedJSONField(default=dict)),
                    ('form', models.JSONField(blank=True, default=dict)),
                    ('title', models.CharField(max_length=128)),
                    ('description', models.TextField(max_length=2000)),
                    ('keywords', models.CharField(blank=True, max_length=1000)),
                    ('reward_cents', models.PositiveIntegerField()),
                    ('assignment_seconds', models.PositiveIntegerField(default=1800)),
                    ('fingerprint', models.CharField(max_length=64, unique=True)),
                ],
                options={
                    'verbose_name': 'HIT type',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='PanelSource',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(help_text='Part of the link; never changes.', max_length=40, unique=True)),
                    ('title', models.CharField(max_length=100)),
                    ('worker_parameter', models.CharField(default='participantId', help_text='Name of the link parameter that identifies each person.', max_length=50)),
                    ('session_parameter', models.CharField(blank=True, max_length=50)),
                    ('study_parameter', models.CharField(blank=True, max_length=50)),
                    ('completed', models.CharField(blank=True, help_text='A completion code to show, or an address to return to, with {worker}, {session} and {study} where the panel expects its own ids.', max_length=500)),
                    ('screened_out', models.CharField(blank=True, help_text='The same, for people who find no work.', max_length=500)),
                    ('failed_check', models.CharField(blank=True, help_text='The same, for people who were screened out.', max_length=500)),
                    ('countries', models.CharField(blank=True, help_text='Two-letter codes of the countries where, as the panel guarantees, all of its people live; empty: it guarantees nothing.', max_length=300)),
                    ('items_per_visit', models.PositiveIntegerField(default=0, help_text='Number of HITs before people return to the panel; 0: all available.')),
                    ('link_secret', models.CharField(blank=True, help_text='Shared with the panel; links without its signature are refused.', max_length=200)),
                    ('is_open', models.BooleanField(default=True, help_text='Whether people from this panel are admitted.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                ],
                options={
                    'verbose_name': 'panel',
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='Payout',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('amount_cents', models.PositiveIntegerField()),
                    ('state', models.CharField(choices=[('PLANNED', 'planned'), ('IN_FILE', 'on its way'), ('PAID', 'paid'), ('FAILED', 'failed'), ('PUT_OFF', 'taken back')], default='PLANNED', max_length=8)),
                    ('reference', models.CharField(default=crowd.money.models.new_reference, max_length=30, unique=True)),
                    ('sealed', models.TextField(blank=True)),
                    ('reason', models.CharField(blank=True, max_length=300)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='PayoutTerms',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('every', models.CharField(choices=[('MONTH', 'month'), ('WEEK', 'week'), ('NEVER', 'only when staff plan one')], default='MONTH', help_text='How often.', max_length=8)),
                    ('day', models.PositiveSmallIntegerField(default=1, help_text='Day of the month, 1 to 28; of the week, 1 (Monday) to 7.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(28)])),
                    ('minimum_cents', models.PositiveIntegerField(default=500, help_text='Less than this is carried over to the next pay-out.')),
                    ('planned_on', models.DateField(blank=True, editable=False, null=True)),
                ],
                options={
                    'verbose_name_plural': 'payout terms',
                },
            ),
            migrations.CreateModel(
                name='WorkRecord',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=140, unique=True)),
                    ('median_seconds', models.FloatField(blank=True, null=True)),
                    ('n_approved', models.PositiveIntegerField(default=0)),
                    ('n_rejected', models.PositiveIntegerField(default=0)),
                    ('decision_seconds', models.FloatField(blank=True, null=True)),
                    ('n_appeals', models.PositiveIntegerField(default=0)),
                    ('n_granted', models.PositiveIntegerField(default=0)),
                    ('counted_at', models.DateTimeField(auto_now=True)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Signals',
                fields=[
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='signals', serialize=False, to='crowd.assignment')),
                    ('first_change_seconds', models.PositiveIntegerField(blank=True, null=True)),
                    ('n_changes', models.PositiveSmallIntegerField(default=0)),
                    ('n_focus_losses', models.PositiveSmallIntegerField(default=0)),
                    ('n_copies', models.PositiveSmallIntegerField(default=0)),
                    ('n_pastes', models.PositiveSmallIntegerField(default=0)),
                    ('canary', models.BooleanField(default=False)),
                ],
                options={
                    'verbose_name_plural': 'signals',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Commitment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=100, unique=True)),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('amount_cents', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('settled_at', models.DateTimeField(blank=True, null=True)),
                    ('approved_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='ExchangeRate',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('currency', models.CharField(choices=[('GBP', 'GBP'), ('EUR', 'EUR')], max_length=3)),
                    ('dollars', models.DecimalField(decimal_places=6, help_text='US dollars for one unit of the currency; 1.27 for a pound.', max_digits=9, validators=[django.core.validators.MinValueValidator(Decimal('0.01'))])),
                    ('stored_at', models.DateTimeField(auto_now_add=True)),
                    ('stored_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'verbose_name': 'exchange rate',
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='ExternalCampaign',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('environment', models.CharField(blank=True, max_length=32)),
                    ('platform_id', models.CharField(blank=True, max_length=100)),
                    ('url', models.URLField(blank=True, max_length=500)),
                    ('is_open', models.BooleanField(default=False)),
                    ('place_size', models.PositiveIntegerField(default=1)),
                    ('place_fee_cents', models.PositiveIntegerField(default=0)),
                    ('place_cost', models.PositiveIntegerField(blank=True, null=True)),
                    ('terms', models.JSONField(blank=True, default=dict)),
                    ('attested', models.JSONField(blank=True, default=list)),
                    ('synced_at', models.DateTimeField(blank=True, null=True)),
                    ('busy_until', models.DateTimeField(blank=True, null=True)),
                    ('balance_cents', models.BigIntegerField(blank=True, null=True)),
                    ('trouble', models.CharField(blank=True, help_text='The last error; cleared on success.', max_length=500)),
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='external', to='crowd.campaign')),
                    ('rate', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.exchangerate')),
                ],
                options={
                    'verbose_name': 'external campaign',
                    'verbose_name_plural': 'external campaigns',
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='ExternalSession',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('session_id', models.CharField(max_length=100)),
                    ('status', models.CharField(max_length=16)),
                    ('accepted_at', models.DateTimeField(blank=True, null=True)),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('auto_approval_at', models.DateTimeField(blank=True, null=True)),
                    ('raw', models.TextField(blank=True)),
                    ('problem', models.CharField(blank=True, max_length=300)),
                    ('attested', models.JSONField(blank=True, default=list)),
                    ('is_vouched', models.BooleanField(default=True, null=True, verbose_name='vouched for')),
                    ('collected_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='crowd.campaign')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='HIT',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('n_available', models.PositiveIntegerField(default=1)),
                    ('max_assignments', models.PositiveIntegerField(default=1)),
                    ('platform_hit_id', models.CharField(blank=True, max_length=64)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='crowd.campaign')),
                    ('posted_as', models.ForeignKey(blank=True, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.hittype')),
                ],
                options={
                    'verbose_name': 'HIT',
                    'ordering': ['campaign', 'position'],
                },
            ),
            migrations.AddField(
                model_name='assignment',
                name='hit',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='crowd.hit'),
            ),
            migrations.AddField(
                model_name='campaign',
                name='hit_type',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.hittype'),
            ),
            migrations.CreateModel(
                name='Input',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('scope', models.CharField(max_length=140)),
                    ('content_key', models.CharField(max_length=64)),
                    ('closes', models.ManyToManyField(to='crowd.input')),
                    ('in_pool', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.input')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='hit',
                name='input',
                field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='hits', to='crowd.input'),
            ),
            migrations.CreateModel(
                name='Invitation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('token_sha256', models.CharField(max_length=64, unique=True)),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('code', models.CharField(blank=True, max_length=40)),
                    ('places', models.PositiveIntegerField(default=1)),
                    ('n_taken', models.PositiveIntegerField(default=0, verbose_name='taken')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('expires_at', models.DateTimeField()),
                    ('mail', models.EmailField(blank=True, max_length=254)),
                    ('limited_to', models.JSONField(blank=True, default=list)),
                    ('group', models.SlugField(blank=True, max_length=100)),
                    ('pool', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('used_at', models.DateTimeField(blank=True, null=True, verbose_name='used up at')),
                    ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='crowd.campaign')),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='Item',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64)),
                    ('data', models.JSONField()),
                    ('content_key', models.CharField(max_length=64)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='crowd.campaign')),
                    ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='items', to='crowd.hit')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Answer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('criterion', models.CharField(max_length=50)),
                    ('slot', models.CharField(blank=True, default='', max_length=8)),
                    ('value', models.FloatField()),
                    ('raw', models.CharField(max_length=200)),
                    ('detail', models.JSONField(blank=True, null=True)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='crowd.assignment')),
                    ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='crowd.item')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='LedgerEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('idempotency_key', models.CharField(max_length=64, unique=True)),
                    ('kind', models.CharField(choices=[('REWARD', 'reward'), ('FEE', 'platform fee'), ('BONUS', 'bonus')], max_length=16)),
                    ('state', models.CharField(choices=[('PLANNED', 'planned'), ('SENDING', 'being sent'), ('DONE', 'done'), ('FAILED', 'failed'), ('CANCELLED', 'cancelled')], default='PLANNED', max_length=16)),
                    ('amount_cents', models.PositiveIntegerField()),
                    ('foreign_amount', models.PositiveIntegerField(blank=True, null=True)),
                    ('reason', models.CharField(blank=True, max_length=300)),
                    ('platform_id', models.CharField(blank=True, max_length=100)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('done_at', models.DateTimeField(blank=True, null=True)),
                    ('assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='crowd.assignment')),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='ledger', to='crowd.campaign')),
                    ('rate', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.exchangerate')),
                    ('payout', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='crowd.payout')),
                ],
                options={
                    'verbose_name_plural': 'ledger entries',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='PayoutRun',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('due_on', models.DateField()),
                    ('method', models.CharField(choices=[('BANK', 'Bank transfer'), ('PAYPAL', 'PayPal'), ('WISE', 'Wise'), ('BY_HAND', 'by hand')], max_length=8)),
                    ('state', models.CharField(choices=[('PLANNED', 'planned'), ('IN_FILE', 'in a file'), ('CLOSED', 'closed')], default='PLANNED', max_length=8)),
                    ('layout', models.CharField(blank=True, max_length=8)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('approved_at', models.DateTimeField(blank=True, null=True)),
                    ('approved_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.AddField(
                model_name='payout',
                name='run',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payouts', to='crowd.payoutrun'),
            ),
            migrations.CreateModel(
                name='PlatformNotice',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('platform', models.CharField(max_length=32)),
                    ('event_id', models.CharField(max_length=100)),
                    ('received_at', models.DateTimeField(auto_now_add=True, db_index=True)),
                ],
                options={
                    'ordering': ['pk'],
                    'constraints': [models.UniqueConstraint(fields=('platform', 'event_id'), name='platform_notice_once')],
                },
            ),
            migrations.CreateModel(
                name='QualificationTest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(help_text="The qualification's name, which requirements refer to.", max_length=100)),
                    ('version', models.PositiveIntegerField(default=1, editable=False)),
                    ('state', models.CharField(choices=[('DRAFT', 'draft'), ('PUBLISHED', 'in use'), ('RETIRED', 'retired')], default='DRAFT', editable=False, max_length=16)),
                    ('pool', models.ForeignKey(help_text='The benchmark task that it is for.', on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('title', models.CharField(max_length=128)),
                    ('introduction', models.TextField(blank=True, help_text='What workers read before they start.', max_length=2000)),
                    ('n_asked', models.PositiveIntegerField(default=0, help_text='Number of questions per attempt; 0: all of them.')),
                    ('pass_percent', models.PositiveIntegerField(default=80, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(100)])),
                    ('n_tries', models.PositiveIntegerField(default=2, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(20)])),
                    ('wait_hours', models.PositiveIntegerField(default=24, help_text='Wait after a failed attempt.')),
                    ('valid_days', models.PositiveIntegerField(blank=True, help_text='Leave empty if the qualification does not expire.', null=True)),
                    ('asks_again', models.BooleanField(default=False, help_text='Workers who passed an earlier version must pass this one, too.')),
                    ('translations', models.JSONField(blank=True, default=dict, help_text='For example {"de": {"title": "…", "introduction": "…"}}. Workers take the test in a language if all of it is there.', verbose_name='in other languages')),
                    ('seed', models.BigIntegerField(editable=False)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('published_at', models.DateTimeField(blank=True, editable=False, null=True)),
                    ('hit_type', models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.PROTECT, to='crowd.hittype')),
                ],
                options={
                    'ordering': ['name', '-version'],
                },
            ),
            migrations.CreateModel(
                name='QualificationQuestion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField(default=0)),
                    ('data', models.JSONField(blank=True, editable=False, null=True)),
                    ('text', models.TextField(blank=True, max_length=4000)),
                    ('choices', models.TextField(blank=True, help_text='The answers, one per line.', max_length=2000)),
                    ('explanation', models.TextField(blank=True, help_text='Shown after the test to whoever got this wrong. Explain the rule and do not repeat the answer: the question may be asked again.', max_length=1000)),
                    ('translations', models.JSONField(blank=True, default=dict, help_text='For example {"de": {"text": "…", "choices": "…\\n…"}}: the answers in the same order, as many as above.', verbose_name='in other languages')),
                    ('expected', models.JSONField(default=dict, editable=False)),
                    ('content_key', models.CharField(blank=True, editable=False, max_length=64)),
                    ('test', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='questions', to='crowd.qualificationtest')),
                ],
                options={
                    'ordering': ['test', 'position', 'pk'],
                },
            ),
            migrations.CreateModel(
                name='Requester',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100, unique=True)),
                    ('customer_id', models.CharField(default=crowd.requester.models.new_customer_id, editable=False, max_length=64, unique=True)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('balance_cents', models.BigIntegerField(default=0, editable=False)),
                    ('held_cents', models.BigIntegerField(default=0, editable=False)),
                    ('people', models.ManyToManyField(blank=True, related_name='requesters', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['name'],
                },
            ),
            migrations.CreateModel(
                name='QualificationType',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entity_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('name', models.CharField(max_length=200)),
                    ('description', models.TextField(max_length=2000)),
                    ('keywords', models.TextField(blank=True, max_length=1000)),
                    ('active', models.BooleanField(default=True)),
                    ('test', models.TextField(blank=True)),
                    ('answer_key', models.TextField(blank=True)),
                    ('test_seconds', models.PositiveBigIntegerField(blank=True, null=True)),
                    ('retry_seconds', models.PositiveBigIntegerField(blank=True, null=True)),
                    ('auto_granted', models.BooleanField(default=False)),
                    ('auto_granted_value', models.IntegerField(default=1)),
                    ('created_at', models.DateTimeField()),
                    ('disposed_at', models.DateTimeField(blank=True, null=True)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualification_types', to='crowd.requester')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='AccessKey',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key_id', models.CharField(default=crowd.requester.models.new_access_key_id, editable=False, max_length=32, unique=True)),
                    ('note', models.CharField(blank=True, max_length=200)),
                    ('made_with', models.CharField(editable=False, max_length=16)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('revoked_at', models.DateTimeField(blank=True, null=True)),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='keys', to='crowd.requester')),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterAssignment',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entity_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('state', models.CharField(choices=[('Accepted', 'being worked on'), ('Submitted', 'pending approval'), ('Approved', 'approved'), ('Rejected', 'rejected'), ('Returned', 'returned')], default='Accepted', max_length=16)),
                    ('accepted_at', models.DateTimeField()),
                    ('deadline_at', models.DateTimeField()),
                    ('submitted_at', models.DateTimeField(blank=True, null=True)),
                    ('auto_approval_at', models.DateTimeField(blank=True, null=True)),
                    ('approved_at', models.DateTimeField(blank=True, null=True)),
                    ('rejected_at', models.DateTimeField(blank=True, null=True)),
                    ('answer', models.TextField(blank=True)),
                    ('feedback', models.TextField(blank=True, max_length=1024)),
                    ('paid_at', models.DateTimeField(blank=True, null=True)),
                    ('payment_reference', models.CharField(blank=True, max_length=100)),
                    ('payout', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='requester_assignments', to='crowd.payout')),
                ],
                options={
                    'verbose_name': "assignment of a requester's HIT",
                    'verbose_name_plural': "assignments of requesters' HITs",
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterBatch',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.CharField(max_length=100)),
                    ('columns', models.JSONField(default=list)),
                    ('lifetime_seconds', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField()),
                    ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='crowd.requester')),
                ],
                options={
                    'verbose_name_plural': 'requester batches',
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterBonus',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('amount_cents', models.PositiveIntegerField()),
                    ('reason', models.TextField()),
                    ('granted_at', models.DateTimeField()),
                    ('paid_at', models.DateTimeField(blank=True, null=True)),
                    ('payment_reference', models.CharField(blank=True, max_length=100)),
                    ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bonuses', to='crowd.requesterassignment')),
                    ('payout', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='requester_bonuses', to='crowd.payout')),
                ],
                options={
                    'verbose_name_plural': 'requester bonuses',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterEntry',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=64, unique=True)),
                    ('kind', models.CharField(choices=[('DEPOSIT', 'deposit'), ('REWARD', 'reward'), ('FEE', 'fee'), ('BONUS', 'bonus'), ('BONUS_FEE', 'bonus fee')], max_length=16)),
                    ('amount_cents', models.BigIntegerField()),
                    ('reason', models.CharField(blank=True, max_length=300)),
                    ('created_at', models.DateTimeField()),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='crowd.requester')),
                ],
                options={
                    'verbose_name_plural': 'requester entries',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterEvent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('n_attempts', models.PositiveSmallIntegerField(default=0)),
                    ('n_starts', models.PositiveIntegerField(default=0, editable=False)),
                    ('next_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                    ('failure', models.TextField(blank=True)),
                    ('failure_permanent', models.BooleanField(default=False)),
                    ('event_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('transport', models.CharField(max_length=16)),
                    ('destination', models.TextField()),
                    ('body', models.JSONField()),
                    ('created_at', models.DateTimeField()),
                    ('sent_at', models.DateTimeField(blank=True, null=True)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='events', to='crowd.requester')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterHIT',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entity_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('question', models.TextField()),
                    ('policies', models.JSONField(blank=True, null=True)),
                    ('inputs', models.JSONField(blank=True, null=True)),
                    ('annotation', models.CharField(blank=True, max_length=255)),
                    ('max_assignments', models.PositiveIntegerField()),
                    ('reward_cents', models.PositiveIntegerField()),
                    ('fee_cents', models.PositiveIntegerField()),
                    ('created_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField()),
                    ('touched_at', models.DateTimeField()),
                    ('reviewing', models.BooleanField(default=False)),
                    ('announced', models.BooleanField(default=False)),
                    ('disposed_at', models.DateTimeField(blank=True, null=True)),
                    ('held_cents', models.BigIntegerField(default=0, editable=False)),
                    ('held_as_open', models.BooleanField(default=False, editable=False)),
                    ('batch', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='hits', to='crowd.requesterbatch')),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='crowd.requester')),
                ],
                options={
                    'verbose_name': "requester's HIT",
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='requesterassignment',
                name='hit',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assignments', to='crowd.requesterhit'),
            ),
            migrations.CreateModel(
                name='PolicyDetail',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('level', models.CharField(max_length=16)),
                    ('is_action', models.BooleanField()),
                    ('body', models.JSONField()),
                    ('hit', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='policy_details', to='crowd.requesterhit')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RequesterHITType',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entity_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('group_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('fingerprint', models.CharField(max_length=64)),
                    ('title', models.CharField(max_length=128)),
                    ('description', models.TextField(max_length=2000)),
                    ('keywords', models.TextField(blank=True, max_length=1000)),
                    ('reward_cents', models.PositiveIntegerField()),
                    ('assignment_seconds', models.PositiveIntegerField()),
                    ('auto_approval_seconds', models.PositiveIntegerField()),
                    ('requirements', models.JSONField(default=list)),
                    ('notification', models.JSONField(blank=True, null=True)),
                    ('notification_active', models.BooleanField(default=False)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hit_types', to='crowd.requester')),
                ],
                options={
                    'verbose_name': "requester's HIT type",
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='requesterhit',
                name='hit_type',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hits', to='crowd.requesterhittype'),
            ),
            migrations.AddField(
                model_name='requesterbatch',
                name='hit_type',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='batches', to='crowd.requesterhittype'),
            ),
            migrations.CreateModel(
                name='RequesterLayout',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entity_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('name', models.CharField(max_length=100)),
                    ('page', models.TextField()),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('retired_at', models.DateTimeField(blank=True, null=True)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='layouts', to='crowd.requester')),
                ],
                options={
                    'verbose_name': "requester's layout",
                    'ordering': ['-pk'],
                },
            ),
            migrations.AddField(
                model_name='requesterhit',
                name='layout',
                field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='hits', to='crowd.requesterlayout'),
            ),
            migrations.CreateModel(
                name='RequestToken',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('operation', models.CharField(max_length=64)),
                    ('token', models.CharField(max_length=128)),
                    ('made', models.CharField(blank=True, max_length=64)),
                    ('used_at', models.DateTimeField()),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tokens', to='crowd.requester')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Requirement',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(blank=True, help_text='The benchmark task, for all its campaigns; or choose a campaign.', null=True, on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('kind', models.CharField(choices=[('TEST', 'has passed a qualification test'), ('APPROVED', 'number of approved HITs'), ('APPROVED_PERCENT', 'share of HITs approved, in percent'), ('COUNTRY', 'lives in one of these countries'), ('LANGUAGE', 'speaks one of these languages')], max_length=20)),
                    ('test_name', models.SlugField(blank=True, help_text='Name of the qualification.', max_length=100)),
                    ('at_least', models.PositiveIntegerField(blank=True, help_text='A number of HITs, or a percentage.', null=True)),
                    ('countries', models.CharField(blank=True, help_text='Two-letter codes, separated by spaces.', max_length=300)),
                    ('languages', models.CharField(blank=True, help_text='Two-letter codes such as de fr, separated by spaces; workers say themselves which they speak.', max_length=300)),
                    ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='requirements', to='crowd.campaign')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='RewardChange',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('old_fee_cents', models.PositiveIntegerField()),
                    ('new_fee_cents', models.PositiveIntegerField()),
                    ('n_places', models.PositiveIntegerField()),
                    ('added_cents', models.PositiveIntegerField()),
                    ('reason', models.TextField()),
                    ('at', models.DateTimeField(auto_now_add=True)),
                    ('by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reward_changes', to='crowd.campaign')),
                    ('new', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.hittype')),
                    ('old', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.hittype')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='SessionWork',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='session_work', to='crowd.assignment')),
                    ('session', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='work', to='crowd.externalsession')),
                ],
                options={
                    'verbose_name_plural': 'session work',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='TestAttempt',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('number', models.PositiveIntegerField()),
                    ('started_at', models.DateTimeField()),
                    ('finished_at', models.DateTimeField(blank=True, null=True)),
                    ('n_right', models.PositiveIntegerField(blank=True, null=True)),
                    ('passed', models.BooleanField(blank=True, null=True)),
                    ('next_try_at', models.DateTimeField(blank=True, null=True)),
                    ('language', models.CharField(blank=True, default='', max_length=16)),
                    ('test', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='crowd.qualificationtest')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='AttemptAnswer',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('position', models.PositiveIntegerField()),
                    ('given', models.JSONField(blank=True, null=True)),
                    ('right', models.BooleanField(blank=True, null=True)),
                    ('answered_at', models.DateTimeField(blank=True, null=True)),
                    ('question', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.qualificationquestion')),
                    ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='crowd.testattempt')),
                ],
                options={
                    'ordering': ['attempt', 'position'],
                },
            ),
            migrations.CreateModel(
                name='Worker',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('platform', models.CharField(default='selfhosted', max_length=32)),
                    ('platform_worker_id', models.CharField(max_length=200)),
                    ('pseudonym', models.CharField(default=crowd.workers.models.worker.new_pseudonym, max_length=32, unique=True)),
                    ('simulated', models.BooleanField(default=False)),
                    ('excluded', models.BooleanField(default=False, help_text='Gets no work in any campaign.')),
                    ('limited_to', models.JSONField(blank=True, default=list)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('came_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='workers', to='crowd.invitation')),
                    ('user', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='worker', to=settings.AUTH_USER_MODEL)),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='testattempt',
                name='worker',
                field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='test_attempts', to='crowd.worker'),
            ),
            migrations.CreateModel(
                name='Reservation',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='reservation', to='crowd.campaign')),
                    ('worker', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reservations', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='QualificationGrant',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('name', models.SlugField(max_length=100)),
                    ('version', models.PositiveIntegerField(default=0)),
                    ('granted_at', models.DateTimeField()),
                    ('expires_at', models.DateTimeField(blank=True, null=True)),
                    ('ended_at', models.DateTimeField(blank=True, null=True)),
                    ('revoked_reason', models.TextField(blank=True)),
                    ('granted_by', models.ForeignKey(blank=True, help_text='Empty: granted by the test.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('revoked_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ('attempt', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='grant', to='crowd.testattempt')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualification_grants', to='crowd.worker')),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.CreateModel(
                name='Profile',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('time_zone', models.CharField(blank=True, max_length=64)),
                    ('language', models.CharField(blank=True, max_length=16)),
                    ('goes_on', models.BooleanField(default=True, verbose_name='goes on')),
                    ('wants_news', models.BooleanField(default=False, verbose_name='wants news of work')),
                    ('news_until', models.DateTimeField(blank=True, null=True)),
                    ('mailed_at', models.DateTimeField(blank=True, null=True)),
                    ('languages', models.CharField(blank=True, max_length=300)),
                    ('country', models.CharField(blank=True, max_length=2)),
                    ('country_said_at', models.DateTimeField(blank=True, null=True)),
                    ('worker', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='profile', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='payout',
                name='worker',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='payouts', to='crowd.worker'),
            ),
            migrations.CreateModel(
                name='PaymentDetails',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('method', models.CharField(choices=[('BANK', 'Bank transfer'), ('PAYPAL', 'PayPal'), ('WISE', 'Wise')], max_length=8)),
                    ('sealed', models.TextField()),
                    ('wrong', models.BooleanField(default=False)),
                    ('saved_at', models.DateTimeField(auto_now=True)),
                    ('worker', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='payment_details', to='crowd.worker')),
                ],
                options={
                    'verbose_name_plural': 'payment details',
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Pause',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pauses', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='OutwardCall',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('key', models.CharField(max_length=100, unique=True)),
                    ('kind', models.CharField(choices=[('PUBLISH', 'publish the study'), ('POST', 'post a HIT'), ('EXTEND', 'request more workers'), ('RETYPE', 'change the reward of a HIT'), ('CLOSE', 'close to workers'), ('RESUME', 'reopen to workers'), ('DECIDE', 'approve or reject'), ('BONUS', 'pay a bonus'), ('EXCLUDE', 'exclude a worker'), ('INCLUDE', 'readmit a worker')], max_length=16)),
                    ('state', models.CharField(choices=[('PLANNED', 'planned'), ('SENDING', 'being sent'), ('DONE', 'done'), ('FAILED', 'failed')], default='PLANNED', max_length=16)),
                    ('n', models.PositiveIntegerField(default=0)),
                    ('amount_cents', models.PositiveIntegerField(default=0)),
                    ('wish', models.CharField(blank=True, max_length=16)),
                    ('message', models.TextField(blank=True, max_length=1024)),
                    ('platform_id', models.CharField(blank=True, max_length=100)),
                    ('code', models.CharField(blank=True, max_length=32)),
                    ('trouble', models.CharField(blank=True, max_length=300)),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('first_sent_at', models.DateTimeField(blank=True, null=True)),
                    ('last_sent_at', models.DateTimeField(blank=True, null=True)),
                    ('done_at', models.DateTimeField(blank=True, null=True)),
                    ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='outward_calls', to='crowd.campaign')),
                    ('entry', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.ledgerentry')),
                    ('hit', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.hit')),
                    ('session', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='outward_calls', to='crowd.externalsession')),
                    ('worker', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Message',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('kind', models.CharField(choices=[('REJECTED', 'work was rejected'), ('BANNED', 'excluded from a task'), ('UNBANNED', 'readmitted'), ('BONUS', 'bonus'), ('QUALIFIED', 'qualification granted'), ('REVOKED', 'qualification revoked'), ('APPEAL', 'answer to an appeal'), ('REQUESTER', 'message from a requester'), ('PAYMENT', 'payment'), ('STAFF', 'message from staff')], max_length=16)),
                    ('subject', models.CharField(max_length=200)),
                    ('text', models.TextField()),
                    ('pool', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('read_at', models.DateTimeField(blank=True, null=True)),
                    ('assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.assignment')),
                    ('requester', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.requester')),
                    ('requester_assignment', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.requesterassignment')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='messages', to='crowd.worker')),
                ],
                options={
                    'ordering': ['-pk'],
                },
            ),
            migrations.AddField(
                model_name='invitation',
                name='guests',
                field=models.ManyToManyField(blank=True, related_name='invited_to', to='crowd.worker'),
            ),
            migrations.AddField(
                model_name='externalsession',
                name='worker',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='sessions', to='crowd.worker'),
            ),
            migrations.CreateModel(
                name='Exclusion',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('message', models.TextField(help_text='Shown to the worker.')),
                    ('created_at', models.DateTimeField(auto_now_add=True)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='DrawnOrder',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('number', models.PositiveIntegerField()),
                    ('seed', models.BigIntegerField()),
                    ('campaigns', models.JSONField()),
                    ('n_taken', models.PositiveIntegerField(default=0)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drawn_orders', to='crowd.worker')),
                ],
                options={
                    'ordering': ['worker', 'pool_id', 'number'],
                },
            ),
            migrations.CreateModel(
                name='Consent',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('pool', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='crowd.pool')),
                    ('text_sha256', models.CharField(max_length=64)),
                    ('given_at', models.DateTimeField(auto_now_add=True)),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='consents', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='assignment',
                name='worker',
                field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='crowd.worker'),
            ),
            migrations.CreateModel(
                name='WorkerAlias',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('customer_id', models.CharField(default=crowd.requester.models.new_customer_id, editable=False, max_length=64, unique=True)),
                    ('block_reason', models.TextField(blank=True, null=True)),
                    ('requester', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aliases', to='crowd.requester')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='crowd.worker')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.AddField(
                model_name='requesterassignment',
                name='worker',
                field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='crowd.workeralias'),
            ),
            migrations.CreateModel(
                name='QualificationRequest',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('entity_id', models.CharField(default=crowd.requester.models.new_entity_id, max_length=64, unique=True)),
                    ('answer', models.TextField(blank=True)),
                    ('submitted_at', models.DateTimeField()),
                    ('deadline_at', models.DateTimeField(blank=True, null=True)),
                    ('state', models.CharField(choices=[('STARTED', 'test being taken'), ('PENDING', 'waits'), ('GRANTED', 'granted'), ('REJECTED', 'rejected')], default='PENDING', max_length=16)),
                    ('reason', models.TextField(blank=True)),
                    ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='requests', to='crowd.qualificationtype')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualification_requests', to='crowd.workeralias')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='Qualification',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('value', models.IntegerField(default=1)),
                    ('granted', models.BooleanField(default=True)),
                    ('granted_at', models.DateTimeField()),
                    ('reason', models.TextField(blank=True)),
                    ('qualification_type', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to='crowd.qualificationtype')),
                    ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to='crowd.workeralias')),
                ],
                options={
                    'ordering': ['pk'],
                },
            ),
            migrations.CreateModel(
                name='WorkerRecord',
                fields=[
                    ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                    ('country', models.CharField(blank=True, help_text='Country of residence: ISO 3166, two capital letters; empty if unknown.', max_length=2, validators=[django.core.validators.RegexValidator('^[A-Z]{2}\\Z', 'Two capital letters, such as US.')])),
                    ('subdivision', models.CharField(blank=True, help_text='State, for people in the US only.', max_length=2, validators=[django.core.validators.RegexValidator('^[A-Z]{2}\\Z', 'Two capital letters, such as US.')])),
                    ('adult', models.BooleanField(default=False, help_text='Is an adult and accepts adult content.')),
                    ('master', models.BooleanField(default=False, help_text='Counts as a Master for HITs that require Masters.')),
                    ('worker', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='record', to='crowd.worker')),
                ],
                options={
                    'verbose_name': "worker's record",
                    'ordering': ['worker'],
                },
            ),
            migrations.AddConstraint(
                model_name='input',
                constraint=models.UniqueConstraint(fields=('scope', 'content_key'), name='input_once_in_scope'),
            ),
            migrations.AddIndex(
                model_name='hit',
                index=models.Index(condition=models.Q(('n_available__gt', 0)), fields=['campaign', 'position'], name='hit_available'),
            ),
            migrations.AddIndex(
                model_name='hit',
                index=models.Index(condition=models.Q(('n_available__gt', 0)), fields=['input'], name='hit_available_by_input'),
            ),
            migrations.AddConstraint(
                model_name='hit',
                constraint=models.UniqueConstraint(fields=('campaign', 'position'), name='hit_position_once'),
            ),
            migrations.AddConstraint(
                model_name='item',
                constraint=models.UniqueConstraint(fields=('campaign', 'key'), name='item_key_once'),
            ),
            migrations.AddConstraint(
                model_name='answer',
                constraint=models.UniqueConstraint(fields=('assignment', 'item', 'criterion', 'slot'), name='answer_once'),
            ),
            migrations.AddIndex(
                model_name='ledgerentry',
                index=models.Index(condition=models.Q(('platform_id', ''), _negated=True), fields=['id'], name='ledger_with_platform_id'),
            ),
            migrations.AddConstraint(
                model_name='qualificationtest',
                constraint=models.UniqueConstraint(fields=('name', 'version'), name='test_version_once'),
            ),
            migrations.AddConstraint(
                model_name='qualificationtest',
                constraint=models.UniqueConstraint(condition=models.Q(('state', 'PUBLISHED')), fields=('name',), name='one_version_in_use'),
            ),
            migrations.AddIndex(
                model_name='qualificationquestion',
                index=models.Index(fields=['content_key'], name='crowd_quali_content_2db4b6_idx'),
            ),
            migrations.AddIndex(
                model_name='requesterevent',
                index=models.Index(fields=['sent_at', 'next_at'], name='crowd_reque_sent_at_d286ce_idx'),
            ),
            migrations.AddConstraint(
                model_name='qualificationtype',
                constraint=models.UniqueConstraint(condition=models.Q(('disposed_at', None)), fields=('requester', 'name'), name='qualification_name_once'),
            ),
            migrations.AddConstraint(
                model_name='requesterhittype',
                constraint=models.UniqueConstraint(fields=('requester', 'fingerprint'), name='requester_hit_type_once'),
            ),
            migrations.AddConstraint(
                model_name='requesterbatch',
                constraint=models.UniqueConstraint(fields=('requester', 'name'), name='requester_batch_once'),
            ),
            migrations.AddIndex(
                model_name='requesterhit',
                index=models.Index(condition=models.Q(('disposed_at', None)), fields=['requester', 'id'], name='requester_hit_kept'),
            ),
            migrations.AddIndex(
                model_name='requesterhit',
                index=models.Index(condition=models.Q(('announced', True), ('disposed_at', None), ('reviewing', False)), fields=['requester', 'id'], name='requester_hit_reviewable'),
            ),
            migrations.AddIndex(
                model_name='requesterhit',
                index=models.Index(condition=models.Q(('announced', True), ('disposed_at', None), ('reviewing', True)), fields=['requester', 'id'], name='requester_hit_reviewing'),
            ),
            migrations.AddIndex(
                model_name='requesterhit',
                index=models.Index(condition=models.Q(('announced', False), ('disposed_at', None)), fields=['requester', 'expires_at'], name='requester_hit_to_announce'),
            ),
            migrations.AddIndex(
                model_name='requesterhit',
                index=models.Index(condition=models.Q(('announced', False), ('disposed_at', None)), fields=['hit_type', 'id'], name='requester_hit_of_group'),
            ),
            migrations.AddIndex(
                model_name='requesterhit',
                index=models.Index(condition=models.Q(('held_as_open', True)), fields=['requester', 'expires_at'], name='requester_hit_held_as_open'),
            ),
            migrations.AddConstraint(
                model_name='requesttoken',
                constraint=models.UniqueConstraint(fields=('requester', 'operation', 'token'), name='request_token_once'),
            ),
            migrations.AddConstraint(
                model_name='requirement',
                constraint=models.CheckConstraint(condition=models.Q(models.Q(('campaign__isnull', False), ('pool', None)), models.Q(('campaign', None), ('pool__isnull', False)), _connector='OR'), name='of_a_pool_or_of_a_campaign', violation_error_message='Give either a pool or a campaign.'),
            ),
            migrations.AddConstraint(
                model_name='requirement',
                constraint=models.UniqueConstraint(condition=models.Q(('campaign', None)), fields=('pool', 'kind', 'test_name'), name='pool_requires_once'),
            ),
            migrations.AddConstraint(
                model_name='requirement',
                constraint=models.UniqueConstraint(condition=models.Q(('campaign__isnull', False)), fields=('campaign', 'kind', 'test_name'), name='campaign_requires_once'),
            ),
            migrations.AddConstraint(
                model_name='attemptanswer',
                constraint=models.UniqueConstraint(fields=('attempt', 'question'), name='asked_once_in_a_try'),
            ),
            migrations.AddConstraint(
                model_name='worker',
                constraint=models.UniqueConstraint(fields=('platform', 'platform_worker_id'), name='worker_platform_id'),
            ),
            migrations.AddConstraint(
                model_name='testattempt',
                constraint=models.UniqueConstraint(fields=('test', 'worker', 'number'), name='try_number_once'),
            ),
            migrations.AddConstraint(
                model_name='testattempt',
                constraint=models.UniqueConstraint(condition=models.Q(('finished_at', None)), fields=('test', 'worker'), name='one_open_try'),
            ),
            migrations.AddConstraint(
                model_name='qualificationgrant',
                constraint=models.UniqueConstraint(condition=models.Q(('ended_at', None)), fields=('worker', 'name'), name='one_grant_of_a_name'),
            ),
            migrations.AddIndex(
                model_name='payout',
                index=models.Index(fields=['worker', 'state'], name='crowd_payou_worker__59b79f_idx'),
            ),
            migrations.AddConstraint(
                model_name='pause',
                constraint=models.UniqueConstraint(fields=('worker', 'pool'), name='pause_once'),
            ),
            migrations.AddIndex(
                model_name='outwardcall',
                index=models.Index(fields=['campaign', 'kind', 'state'], name='crowd_outwa_campaig_2ce208_idx'),
            ),
            migrations.AddIndex(
                model_name='message',
                index=models.Index(fields=['worker', 'read_at'], name='crowd_messa_worker__e003e8_idx'),
            ),
            migrations.AddConstraint(
                model_name='externalsession',
                constraint=models.UniqueConstraint(fields=('campaign', 'session_id', 'worker'), name='session_once'),
            ),
            migrations.AddConstraint(
                model_name='exclusion',
                constraint=models.UniqueConstraint(fields=('worker', 'pool'), name='exclusion_once'),
            ),
            migrations.AddConstraint(
                model_name='drawnorder',
                constraint=models.UniqueConstraint(fields=('worker', 'pool', 'number'), name='drawn_order_once'),
            ),
            migrations.AddConstraint(
                model_name='consent',
                constraint=models.UniqueConstraint(fields=('worker', 'pool', 'text_sha256'), name='consent_once'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(fields=['worker', 'state'], name='crowd_assig_worker__f47799_idx'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(fields=['worker', 'id'], name='assignment_newest_of_worker'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(condition=models.Q(('state', 'REJECTED')), fields=['hit', 'decided_at'], name='assignment_rejected'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(condition=models.Q(('overturned_at__isnull', False)), fields=['hit', 'overturned_at'], name='assignment_overturned'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(condition=models.Q(('remark', ''), _negated=True), fields=['id'], name='assignment_with_remark'),
            ),
            migrations.AddIndex(
                model_name='assignment',
                index=models.Index(condition=models.Q(('page__isnull', False)), fields=['page'], name='assignment_on_page'),
            ),
            migrations.AddConstraint(
                model_name='assignment',
                constraint=models.UniqueConstraint(condition=models.Q(('page', None), ('state', 'ACCEPTED')), fields=('worker',), name='one_open_page_per_worker'),
            ),
            migrations.AddConstraint(
                model_name='assignment',
                constraint=models.UniqueConstraint(fields=('hit', 'worker'), name='hit_once_per_worker'),
            ),
            migrations.AddConstraint(
                model_name='workeralias',
                constraint=models.UniqueConstraint(fields=('requester', 'worker'), name='worker_alias_once'),
            ),
            migrations.AddIndex(
                model_name='requesterassignment',
                index=models.Index(fields=['state', 'deadline_at'], name='requester_work_late'),
            ),
            migrations.AddIndex(
                model_name='requesterassignment',
                index=models.Index(fields=['state', 'auto_approval_at'], name='requester_work_due'),
            ),
            migrations.AddConstraint(
                model_name='requesterassignment',
                constraint=models.UniqueConstraint(condition=models.Q(('state', 'Returned'), _negated=True), fields=('hit', 'worker'), name='requester_hit_once_per_worker'),
            ),
            migrations.AddConstraint(
                model_name='qualificationrequest',
                constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['STARTED', 'PENDING'])), fields=('qualification_type', 'worker'), name='one_pending_qualification_request'),
            ),
            migrations.AddConstraint(
                model_name='qualification',
                constraint=models.UniqueConstraint(fields=('qualification_type', 'worker'), name='qualification_once'),
            ),
        ]),
    ]
