from django.db import migrations
from django.db.models import Case, Count, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce, Now


def _n(work, **states):
    rows = work.filter(hit=OuterRef("pk"), **states).order_by().values("hit")
    return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0)


def add_up(apps, schema_editor):
    """Keep on each requester's row what was added up at each call before."""
    hits = apps.get_model("crowd", "RequesterHIT").objects.filter(disposed_at=None)
    work = apps.get_model("crowd", "RequesterAssignment").objects
    live = Q(expires_at__gt=Now())
    decided = _n(work, state__in=["Approved", "Rejected"])
    submitted = _n(work, state="Submitted")
    started = _n(work, state="Accepted", deadline_at__gt=Now())
    price = F("reward_cents") + F("fee_cents")
    hits.update(
        held_as_open=Case(When(live, then=Value(True)), default=Value(False)),
        held_cents=price
        * Case(
            When(live, then=F("max_assignments") - decided),
            default=submitted + started,
        ),
    )
    # said when its last place was taken; what was changed since may have unsaid it
    hits.filter(announced=False, max_assignments__lte=submitted + decided).update(
        announced=True
    )
    for requester in apps.get_model("crowd", "Requester").objects.all():
        paid = requester.entries.aggregate(n=Sum("amount_cents"))["n"] or 0
        held = requester.hits.aggregate(n=Sum("held_cents"))["n"] or 0
        requester.balance_cents, requester.held_cents = paid, held
        requester.save(update_fields=["balance_cents", "held_cents"])


class Migration(migrations.Migration):
    dependencies = [("crowd", "0031_running_accounts_of_requesters")]

    operations = [migrations.RunPython(add_up, migrations.RunPython.noop)]
