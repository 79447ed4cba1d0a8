import pytest
from django.urls import reverse

from crowd.models import Requester, RequesterEntry
from tests.factories import act


@pytest.fixture
def rita(office):
    page = office.post(reverse("admin:crowd_requester_add"), {"name": "Rita"})
    assert page.status_code == 302
    return Requester.objects.get(name="Rita")


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


def test_two_requesters_at_once_get_no_money(office, rita):
    ravi = Requester.objects.create(name="Ravi")
    more = {"confirmed": "yes", "dollars": "1", "reference": "x"}
    page = act(office, "crowd_requester", "deposit", rita, ravi, **more)
    assert "Choose one requester" in page.text
    assert not RequesterEntry.own.exists()
