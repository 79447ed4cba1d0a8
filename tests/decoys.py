"""A second one of everything, below all numbers of a test's own rows.

A query that forgets its condition finds these first. Their keys are negative, so that the
rows of a test have the same numbers, and so the same seeds, as without them.
"""

import datetime
import uuid
from functools import cache
from itertools import count, product

from django.apps import apps
from django.contrib.auth import get_user_model
from django.db import connection, models, transaction
from django.utils import timezone

from crowd.models import (
    HIT,
    Assignment,
    Campaign,
    Consent,
    Exclusion,
    ExternalSession,
    HITType,
    Item,
    LedgerEntry,
    Message,
    OutwardCall,
    PlatformNotice,
    Pool,
    RequesterBatch,
    Worker,
    WorkerAlias,
)
from leaderboard.models import HumanEvaluation, Submission, Task, Team
from quality.models import Appeal, Ban, Standing, TestQuestion, Verdict
from tests.factories import (
    answer,
    make_evaluation,
    make_metrics,
    make_predictions,
    make_score,
    make_submission,
    make_task,
    make_team,
    make_user,
    make_worker,
    pay,
)

APPS = {"auth", "genie", "crowd", "quality", "leaderboard"}
FULL = {"genie", "crowd", "quality"}  # with a row of each model in each of its states
# Files whose tests have none, as they compare whole pages or count what a site has.
WITHOUT = {
    "genie/upkeep/test_doctor.py",
    "genie/upkeep/test_watching.py",
    "leaderboard/evaluation/hidden/test_before_approval.py",
    "leaderboard/evaluation/hidden/test_measured_before.py",
    "leaderboard/evaluation/walk/test_loop.py",
    "leaderboard/evaluation/walk/test_more_answers.py",
    "leaderboard/evaluation/walk/test_one_careless_worker_of_twelve.py",
    "leaderboard/monitoring/test_alarms.py",
    "leaderboard/site/test_front_page.py",
    "nets/test_exports.py",
    "nets/test_staff_actions.py",
    "walk/test_every_board.py",
    "walk/test_growth.py",
}
# Models without such rows, as the whole site has one of them or jobs work on all.
SELDOM = {
    "genie.LogEntry", "genie.LogHead", "genie.TaskRole", "genie.RunningQueue",
    "genie.WaitingJob",
    "crowd.PaymentDetails", "crowd.ExchangeRate", "crowd.WorkRecord", "crowd.Worker",
    "crowd.HIT", "crowd.Item", "crowd.Rating", "crowd.HITType", "crowd.PayoutTerms",
}  # fmt: skip
# Other workers' rows in the pool of most tests.
POOL = "weather-reports"
IN_THE_SAME_POOL = {Ban, Consent, Exclusion, Message, Standing}
User = get_user_model()
NOW = timezone.now()
LATER, LONG_AGO = (NOW + datetime.timedelta(days=n) for n in (99, -99))
# Fields of such rows, once for each row: no job has anything to do with one.
ALSO = {
    "crowd.RequesterEvent": [{"sent_at": NOW}],
    "crowd.Campaign": [
        {"state": state, "starts_at": LATER if state == "SCHEDULED" else LONG_AGO}
        for state in Campaign.State.values
    ],
    "crowd.Assignment": [{"deadline_at": LATER}],
    "crowd.RequesterAssignment": [{"deadline_at": LATER, "paid_at": NOW}],
    "crowd.Commitment": [{"amount_cents": 0}, {"amount_cents": 0, "settled_at": NOW}],
    "crowd.OutwardCall": [
        {"kind": kind, "hit": HIT, "session": ExternalSession, "worker": Worker}
        for kind in OutwardCall.Kind.values
    ],
    "crowd.LedgerEntry": [{"kind": kind} for kind in LedgerEntry.Kind.values],
    "crowd.RequesterBonus": [{"paid_at": NOW}],
    "crowd.Payout": [{"amount_cents": 0}],
    "quality.Ban": [
        {"state": "IN_FORCE", "created_by": User},
        {"state": "LIFTED", "created_by": User, "lifted_at": NOW},
        {"state": "REFUSED", "verdict": Verdict, "proposed_at": NOW},
        {"state": "PROPOSED", "verdict": Verdict, "proposed_at": NOW},
    ],
}
_number = count(1)


def fill(model, known, **fields):
    """Make a row whose required fields have something, from rows that are known."""
    values = dict(fields)
    for field in model._meta.concrete_fields:
        given = {field.name, field.attname} & {*values} or field.has_default() or field.null  # fmt: skip
        if (
            given
            or isinstance(field, models.AutoField)
            or field in model._meta.parents.values()
        ):
            continue
        if isinstance(field, models.ForeignKey):
            of = field.related_model
            values[field.name] = known.get(of) or fill(of, known)
        elif field.choices:
            values[field.name] = field.choices[0][0]
        elif not field.blank:
            values[field.name] = value_for(field, next(_number))
    row = model._default_manager.create(**values)
    known.setdefault(model, row)
    return row


def value_for(field, n):
    match field:
        case models.UUIDField():
            return uuid.UUID(int=n)
        case models.DateTimeField():
            return timezone.now()
        case models.DateField():
            return datetime.date(2026, 11, 1)
        case models.IntegerField() | models.FloatField() | models.DecimalField():
            return n
        case models.JSONField():
            return {}
        case models.BinaryField():
            return b"-"
        case models.BooleanField():
            return False
    return f"{field.name}-{n}"[: field.max_length]


class Own:
    """The rows of a test without the decoys: `Task.own` beside `Task.objects`."""

    def __get__(self, _row, model):
        return model._default_manager.filter(pk__gt=0)


models.Model.own = Own()


def plant():
    """Put the decoys into the database."""
    # Rows may come before those that they lead to.
    with transaction.atomic(), connection.cursor() as cursor:
        for sql, params in _statements():
            cursor.execute(sql, params)
        if connection.vendor == "sqlite":
            cursor.execute("insert into guarded values (1)")


def guard():
    """Refuse to change or delete a decoy, and to lead a test's row to one.

    An update that forgets its condition changes the decoys first.
    """
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        cursor.execute("create table guarded (yes integer)")
        for model in _models():
            for name, when in _refusals(model):
                table = model._meta.db_table
                cursor.execute(
                    f"create trigger guard_{table}_{name.split()[-1]} {name} on {table}"
                    f" when ({when}) and exists (select 1 from guarded) begin"
                    f" select raise(abort, 'this touches a decoy: {table}'); end"
                )


def _refusals(model):
    fields = model._meta.local_concrete_fields
    keys = [
        f.column
        for f in fields
        if f.primary_key and isinstance(f, models.IntegerField | models.OneToOneField)
    ]
    ours = [f for f in fields if f.is_relation and not f.primary_key]
    leads = [f.column for f in ours if f.related_model._meta.app_label in APPS]
    own = " and ".join(f'new."{key}" > 0' for key in keys) or "true"
    astray = " or ".join(f'new."{column}" < 0' for column in leads)
    if astray:
        yield "after insert", f"{own} and ({astray})"
    if keys:
        columns = [f.column for f in fields]
        old, new = (
            ", ".join(f'{row}."{c}"' for c in columns) for row in ("old", "new")
        )
        changed = f'old."{keys[0]}" < 0 and ({old}) is not ({new})'
        yield "after update", changed + (f" or {own} and ({astray})" if astray else "")
        yield "before delete", f'old."{keys[0]}" < 0'


def spare():
    """Let the decoys be changed, until the end of this test."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("delete from guarded")


def uproot():
    """Take the decoys away, until the end of this test."""
    spare()
    with transaction.atomic(), connection.cursor() as cursor:
        for model in _models():
            table, key = model._meta.db_table, model._meta.pk
            if isinstance(key, models.IntegerField | models.OneToOneField):
                cursor.execute(f'delete from "{table}" where "{key.column}" < 0')
        used = (
            "select slug from leaderboard_task union select pool_id from crowd_campaign"
        )
        cursor.execute(f"delete from crowd_pool where slug not in ({used})")


@cache
def _statements():
    found = []

    def note(execute, sql, params, many, context):
        if sql.startswith(("INSERT", "UPDATE")):
            found.append((sql, params))
        return execute(sql, params, many, context)

    with transaction.atomic():
        rows = _rows()
        transaction.set_rollback(True)
    with transaction.atomic():
        with connection.constraint_checks_disabled(), connection.execute_wrapper(note):
            for model, its in rows.items():
                if its:
                    model._base_manager.bulk_create(its)
            # The crowd of this month is a test's own: its size limits each worker.
            Worker.objects.update(created_at=LONG_AGO)
            Assignment.objects.update(accepted_at=LONG_AGO)
            PlatformNotice.objects.update(received_at=LATER)  # it is not forgotten
        transaction.set_rollback(True)
    return found


def _rows():
    """Return the decoys by model, with negative keys and other names."""
    before = {model: set(model._base_manager.values_list("pk")) for model in _models()}
    _make()
    return {
        model: [
            _apart(model, row)
            for row in models.QuerySet(model).values()
            if (row[model._meta.pk.attname],) not in before[model]
        ]
        for model in _models()
    }


def _models():
    every = [m for m in apps.get_models(True) if m._meta.app_label in APPS]
    return [m for m in every if m._meta.managed and not m._meta.proxy]


def _apart(model, row):
    for field in model._meta.concrete_fields:
        value = row[field.attname]
        of = getattr(field, "related_model", None)
        ours = of is None or of._meta.app_label in APPS
        if isinstance(value, int) and (field.primary_key or of) and ours:
            row[field.attname] = -value
        elif field.unique and isinstance(value, str) and not (of or field.primary_key):
            row[field.attname] = f"decoy-{value[-24:]}"[: field.max_length]
    return model(**row)


def _make():
    user = make_user("decoy")
    team = make_team("Team Decoy", user)
    task = make_task(slug="decoy", title="Decoys")
    for name in ("Duck", "Drake"):
        submission = make_submission(task, team=team, owner=user, system=name)
        make_predictions(submission)
        make_metrics(submission, sacrebleu=1.0)
        evaluation = make_evaluation(submission, n=2, state=Campaign.State.STOPPED)
        items = [one.item for one in evaluation.subjects.all()]
        for item in items:
            work = answer(
                item, make_worker(name=f"decoy-{item.pk}"), 0.1, state="APPROVED"
            )
            pay(work)
        make_score(submission, 1, n=2)
    known = {
        get_user_model(): user, Team: team, Task: task, Submission: submission,
        HumanEvaluation: evaluation, Campaign: work.hit.campaign, Item: items[-1],
        HITType: work.hit.campaign.hit_type, HIT: work.hit, Assignment: work,
        Worker: work.worker,
    }  # fmt: skip
    Pool.objects.create(slug=POOL)
    ban = fill(Ban, known, pool_id="decoy")
    fill(Appeal, known, ban=ban, pool_id="decoy")
    fill(TestQuestion, known, item=items[0], retired_at=NOW)
    fill(RequesterBatch, known)
    for model in _models():
        of = model._meta
        if of.app_label in FULL and of.label not in SELDOM and not of.auto_created:
            for state in _states_of(model):
                _renew_people(model, known)
                fill(model, known, **_with_rows(state, known))


def _states_of(model):
    fields = {field.name: field for field in model._meta.concrete_fields}
    states = getattr(fields.get("state"), "choices", None) or [(None, "")]
    pools = ["decoy", *([POOL] if model in IN_THE_SAME_POOL else [])]
    of_states = [{"state": state} if state else {} for state, _ in states]
    also = ALSO.get(model._meta.label, [{}])
    if "state" in also[0]:
        of_states = [{}]
    for pool, state, more in product(pools, of_states, also):
        if (pool, more.get("state")) != (POOL, "PROPOSED"):  # they keep its scores back
            yield {**({fields["pool"].attname: pool} if "pool" in fields else {}), **state, **more}  # fmt: skip


def _with_rows(fields, known):
    """Return fields with a row in place of each model."""
    return {
        name: (known.get(value) or fill(value, known))
        if isinstance(value, type)
        else value
        for name, value in fields.items()
    }


def _renew_people(model, known):
    """Let each row lead to a new worker: many may lead to one worker only once."""
    related = {f.related_model for f in model._meta.concrete_fields if f.is_relation}
    if {Worker, WorkerAlias} & related:
        known[Worker] = make_worker(name=f"decoy-{next(_number)}")
    if WorkerAlias in related:
        known[WorkerAlias] = fill(WorkerAlias, known)
