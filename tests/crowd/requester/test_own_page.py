"""A requester's own page: keys, money, batches and layouts."""

import csv
import io
import re
from datetime import timedelta
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from crowd.models import (
    AccessKey,
    Message,
    Requester,
    RequesterHIT,
    RequesterHITType,
    RequesterLayout,
)
from crowd.requester import selectors
from crowd.requester.services import access_keys, turns
from genie.lib.serving.caches import computed
from leaderboard.teams.services import leave
from tests.crowd.requester.making import a_batch, html, worker
from tests.crowd.requester.on_site import OnSite
from tests.factories import make_user, signed_in

PAGE = """<p>${text}</p><input type=radio name=mood value=good>
<input type=radio name=mood value=bad><select name=tone><option value=warm></select>
<input type=number name=score min=1 max=5><textarea name=why></textarea>"""


@pytest.fixture
def rita(transactional_db):
    return make_user("rita")


@pytest.fixture
def lab(rita):
    made = Requester.objects.create(name="A <lab>")
    made.people.add(rita)
    access_keys.deposit(made, 10_000, key="start")
    return made


@pytest.fixture
def own(rita):
    return signed_in(rita)


def at(name, requester, *args):
    return reverse(f"requester:{name}", args=[requester.customer_id, *args])


def text(answer):
    return unescape(re.sub(r"<[^>]*>", " ", answer.text))


def test_a_key_is_made_shown_once_and_revoked(own, lab, rita):
    assert own.get(reverse("requester:home")).url == at("desk", lab)
    page = own.get(at("desk", lab))
    assert "A &lt;lab&gt;" in page.text
    assert "$100.00" in text(page)
    assert own.post(at("desk", lab), {"note": ""}).status_code == 400
    shown = own.post(at("desk", lab), {"note": "<lab> computer"}, follow=True)
    key = AccessKey.own.get()
    [secret] = access_keys.live_secrets(key.key_id)
    assert key.created_by == rita
    assert secret in text(shown)
    later = own.get(at("desk", lab))
    assert secret not in text(later)
    assert key.key_id in text(later)
    assert "&lt;lab&gt; computer" in later.text
    assert "can no longer sign" in text(
        own.post(at("revoke-key", lab, key.pk), follow=True)
    )
    assert access_keys.live_secrets(key.key_id) == []
    assert key.key_id not in text(own.get(at("desk", lab)))


def test_a_page_is_open_to_its_own_people_only(own, lab):
    other = Requester.objects.create(name="Another")
    theirs = RequesterLayout.objects.create(requester=other, name="x", page="x")
    for name in ("desk", "batches", "layouts"):
        assert own.get(at(name, other)).status_code == 404
    assert own.post(at("retire-layout", lab, theirs.pk)).status_code == 404
    nobody = signed_in(make_user("nora", is_staff=True))
    assert nobody.get(at("desk", lab)).status_code == 404
    assert "Ask the staff" in text(nobody.get(reverse("requester:home")))
    boss = signed_in(make_user("ada", is_staff=True, is_superuser=True))
    change = boss.get(reverse("admin:crowd_requester_change", args=[lab.pk]))
    [there] = re.findall(r'href="([^"]*)" class="viewsitelink"', change.text)
    assert boss.get(there, follow=True).context["requester"] == lab


def test_an_account_leads_to_its_requesters_and_leaves_them(own, lab, rita):
    home = reverse("requester:home")
    assert home in own.get(reverse("accounts:home")).text
    data = own.get(reverse("leaderboard:my-data")).json()
    assert data["requesters"] == [{"name": "A <lab>", "customer_id": lab.customer_id}]
    leave.delete(rita.pk)
    assert not lab.people.exists()
    carl = signed_in(make_user("carl"))
    assert home not in carl.get(reverse("accounts:home")).text


def test_staff_choose_who_opens_the_page(lab, rita):
    boss = signed_in(make_user("ada", is_staff=True, is_superuser=True))
    make_user("carl")
    data = {"action": "set_people", "_selected_action": [lab.pk], "confirmed": "yes"}
    where = reverse("admin:crowd_requester_changelist")
    wrong = boss.post(where, {**data, "accounts": "carl\nnobody"}, follow=True)
    assert "There is no account nobody" in text(wrong)
    boss.post(where, {**data, "accounts": "carl\n"})
    assert [user.username for user in lab.people.all()] == ["carl"]


def test_a_table_is_posted_its_results_read_and_decided(own, lab):
    files = {
        "page_file": SimpleUploadedFile("page.html", PAGE.encode()),
        "table_file": SimpleUploadedFile("t.csv", b"text,note\none,1\ntwo,2\n"),
    }
    asked = own.post(at("batches", lab), {**a_batch(), **files})
    assert "2 HITs with 2 assignments will cost at most $0.96" in text(asked)
    assert not RequesterHIT.own.exists()
    confirmed = a_batch(page=PAGE, table="text,note\none,1\ntwo,2\n", confirmed="yes")
    page = own.post(at("batches", lab), confirmed, follow=True)
    assert "Posted 2 HITs" in text(page)
    [batch] = lab.batches.all()
    wanda = OnSite()
    done = wanda.do(lab.hits.first().entity_id, mood="good")
    table = own.get(at("results", lab, batch.pk)).text
    [row] = csv.DictReader(io.StringIO(table))
    assert (row["AssignmentId"], row["Answer.mood"]) == (done, "good")
    decided = SimpleUploadedFile("r.csv", f"AssignmentId,Approve,Reject\n{done},,Empty\n".encode())  # fmt: skip
    told = own.post(at("batch", lab, batch.pk), {"table_file": decided}, follow=True)
    assert "Approved 0, rejected 1" in text(told)
    assert Message.objects.get(worker=wanda.worker).kind == "REJECTED"
    own.post(at("stop-batch", lab, batch.pk))
    assert not lab.hits.filter(announced=False).exists()
    listed = own.get(at("batches", lab), {"page": "9"})
    assert "Moods" in text(listed)
    again = own.post(at("batches", lab), confirmed)
    assert "already a batch called Moods" in text(again)


def test_what_was_spent_is_added_up_from_what_is_new(own, lab):
    for cents, name in ((40, "a"), (100, "b")):
        who = worker(name)
        turns.submit(turns.accept(post_for(lab, cents), who), who, [("mood", "good")])
        lab.refresh_from_db()
        shown = selectors.spent(lab)
        assert shown.deposited - shown.rewards - shown.fees == lab.balance_cents
    assert (shown.rewards, shown.fees) == (140, 28)
    assert not any(selectors.work_of(lab, timezone.now()).values())
    assert "$1.40" in text(own.get(at("desk", lab)))
    # kept for rows of another database: it does not add up
    computed.set(f"requester-spent-{lab.pk}", (10**9, {"DEPOSIT": 5}))
    assert selectors.spent(lab).rewards == 140


def post_for(requester, cents):
    kind = RequesterHITType.objects.create(
        requester=requester, fingerprint=str(cents), title="x", reward_cents=cents,
        assignment_seconds=600, auto_approval_seconds=0,
    )  # fmt: skip
    now = timezone.now()
    return RequesterHIT.objects.create(
        requester=requester, hit_type=kind, question=html(), max_assignments=1,
        reward_cents=cents, fee_cents=cents // 5, created_at=now, touched_at=now,
        expires_at=now + timedelta(hours=1),
    )  # fmt: skip


def test_a_layout_is_added_and_removed(own, lab):
    page = "<p>${ text }</p>\r\n<script>x()</script>"
    own.post(at("layouts", lab), {"name": "<b>", "page": page})
    [layout] = lab.layouts.all()
    shown = own.get(at("layouts", lab)).text
    assert layout.entity_id in shown
    assert "<code>text</code>" in shown
    assert "&lt;script&gt;x()" in shown
    own.post(at("retire-layout", lab, layout.pk))
    assert layout.entity_id not in own.get(at("layouts", lab)).text
    assert own.post(at("layouts", lab), {"name": "x", "page": "x" * 66_000}).status_code == 400  # fmt: skip
