import re
from html import unescape

import pytest
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from crowd.models import AccessKey, Requester, RequesterEntry
from crowd.requester.services import access_keys
from tests.factories import act


def shown(page, name):
    (value,) = re.findall(rf'id="{name}" value="([^"]*)"', page.text)
    return unescape(value)


@pytest.fixture
def rita(office):
    page = office.post(reverse("admin:crowd_requester_add"), {"name": "Rita"})
    assert page.status_code == 302
    return Requester.objects.get(name="Rita")


@pytest.mark.every_engine
def test_staff_make_a_key_and_see_its_secret_once(office, rita):
    asked = act(office, "crowd_requester", "make_key", rita)
    assert "shown only once" in asked.text
    assert not AccessKey.own.exists()
    page = act(office, "crowd_requester", "make_key", rita, confirmed="yes", note="lab")
    key = AccessKey.own.get()
    secret = shown(page, "secret")
    assert shown(page, "key-id") == key.key_id
    assert access_keys.live_secrets(key.key_id) == [secret]
    assert access_keys.live_secrets("unknown") == []
    later = office.get(reverse("admin:crowd_accesskey_change", args=[key.pk]))
    assert key.key_id in later.text
    assert secret not in later.text
    notes = " ".join(entry.change_message for entry in LogEntry.objects.all())
    assert key.key_id in notes
    assert secret not in notes


def deposit(office, rita, dollars, reference):
    more = {"confirmed": "yes", "dollars": dollars, "reference": reference}
    act(office, "crowd_requester", "deposit", rita, **more)


def test_staff_put_money_on_an_account_once_per_reference(office, rita):
    for _ in range(2):
        deposit(office, rita, "12.34", "invoice 7")
    assert RequesterEntry.own.get().amount_cents == 1234
    page = office.get(reverse("admin:crowd_requester_change", args=[rita.pk]))
    assert "$12.34" in page.text


@pytest.mark.parametrize("amount", ["0", "-1", "1.234", "much", "99999999"])
def test_amounts_that_are_none_are_asked_again(office, rita, amount):
    deposit(office, rita, amount, "x")
    assert not RequesterEntry.own.exists()


@pytest.mark.every_engine
def test_two_requesters_at_once_get_no_key(office, rita):
    ravi = Requester.objects.create(name="Ravi")
    page = act(office, "crowd_requester", "make_key", rita, ravi, confirmed="yes")
    assert "Choose one requester" in page.text
    assert not AccessKey.own.exists()
