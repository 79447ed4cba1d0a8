"""What may go of people's data goes after its time; what results rest on stays."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone

from crowd.models import Invitation, Message
from crowd.workers.services import invitations, notes
from genie.accounts.models import PrivateRead
from genie.lib.admin import note
from genie.lib.retention import KEPT, forget_old, periods
from tests.factories import make_user, make_worker


@pytest.fixture
def old_things(settings):
    sam, worker = make_user("sam", is_staff=True), make_worker()
    for age in (100, 1):
        at = timezone.now() - timedelta(days=age)
        message = Message.objects.create(worker=worker, kind="STAFF", subject=str(age))
        Message.objects.filter(pk=message.pk).update(created_at=at)
        notes.write(worker, sam, f"called {age}")
        note(sam, worker, f"Excluded {age}.")
        logged = LogEntry.objects.filter(change_message__regex=rf"{age}\.?$")
        logged.update(action_time=at)
        read = PrivateRead.objects.create(by=sam, what=f"x {age}")
        PrivateRead.objects.filter(pk=read.pk).update(at=at)
        for taken in (0, 1):
            invitations.invite(sam, note=f"for Eve {age}")
            row = Invitation.own.order_by("-pk").first()
            Invitation.objects.filter(pk=row.pk).update(expires_at=at, n_taken=taken)
    settings.GENIE = {**settings.GENIE, "KEEP_DAYS": {kept.name: 50 for kept in KEPT}}


def test_what_is_old_goes_and_the_rest_stays(old_things):
    gone = {"signals": 0, "messages": 1, "notes": 1, "invitations": 2, "reads": 1}
    assert forget_old() == gone
    assert Message.own.get().subject == "1"
    left = set(LogEntry.objects.values_list("change_message", flat=True))
    assert left == {"Note: called 1", "Excluded 1.", "Excluded 100."}
    assert PrivateRead.own.get().what == "x 1"
    # a used one says who came; not any more for whom it was meant
    kept = Invitation.objects.filter(expires_at__lt=timezone.now() - timedelta(days=9))
    assert [(row.n_taken, row.note) for row in kept] == [(1, "")]
    assert sum(forget_old().values()) == 0


def test_nothing_goes_where_the_period_is_none(old_things, settings):
    settings.GENIE = {**settings.GENIE, "KEEP_DAYS": {kept.name: 0 for kept in KEPT}}
    assert forget_old() == {}
    assert {days for _, days in periods()} == {0}
