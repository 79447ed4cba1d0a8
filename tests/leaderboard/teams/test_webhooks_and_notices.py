"""What happens to a submission is told: by e-mail to people, signed to programs."""

import base64
import hashlib
import hmac
import json
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from unittest.mock import Mock

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.module_loading import import_string

from genie.lib import jobs, outbound
from genie.lib.errors import GenieError
from leaderboard.models import (
    Notice,
    Submission,
    SubmissionEvent,
    Webhook,
    WebhookDelivery,
)
from leaderboard.submissions.services import lifecycle
from leaderboard.teams.services import announce, notices, teams, webhooks
from tests import decoys
from tests.factories import make_submission, make_task, make_team, make_user, set_state

pytestmark = pytest.mark.django_db
State = WebhookDelivery.State


class Hook(BaseHTTPRequestHandler):
    """The other side: keeps what came, answers what it is told to."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, dict(self.headers), body))
        status = self.server.answers.pop(0) if self.server.answers else 200
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(b"thanks\nfor that")

    def log_message(self, *args):
        return


@pytest.fixture(scope="module")
def _server():
    server = HTTPServer(("127.0.0.1", 0), Hook)
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(_server, settings):
    settings.GENIE = {**settings.GENIE, "WEBHOOKS_PRIVATE": True}
    _server.seen, _server.answers = [], []
    return _server


@pytest.fixture
def nina():
    return make_user("nina", email="nina@heron.example")


@pytest.fixture
def heron(nina):
    decoys.spare()  # their steps are announced, too
    return teams.create(nina, "Team Heron")


@pytest.fixture
def kite(nina, heron):
    found = make_submission(make_task(), team=heron, owner=nina, state="RECEIVED")
    SubmissionEvent.own.update(announced_at=timezone.now())
    return found


@pytest.fixture
def hook(server, heron, nina):
    url = f"http://127.0.0.1:{server.server_port}/hook?team=heron"
    return webhooks.add(heron, url, by=nina)


def go(submission, new, sentence="It went on."):
    set_state(Submission.objects.filter(pk=submission.pk), new)
    lifecycle.tell(submission.pk, new, sentence)
    submission.refresh_from_db()


def tell_all():
    """Announce, and do what that queues; the walk's own steps are left alone."""
    n = announce.announce()
    for job, keys in sorted(jobs.queued_jobs()):
        if job in {"leaderboard.jobs.deliver", "leaderboard.jobs.send_notice"}:
            import_string(job)(**dict(keys))
    return n


def test_a_delivery_is_signed_so_that_the_other_side_can_check_it(server, hook, kite):
    go(kite, "VALID")
    tell_all()
    ((path, headers, body),) = server.seen
    assert path == "/hook?team=heron"
    told = json.loads(body)
    assert told["type"] == "submission.valid"
    assert told["id"] == headers["webhook-id"]
    assert told["data"]["submission"]["id"] == kite.pk
    signed = f"{told['id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(hook.secret.removeprefix("whsec_"), validate=True)
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    assert headers["webhook-signature"] == f"v1,{expected.decode()}"
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.last_status) == (State.DELIVERED, 200)
    assert delivery.n_attempts == 1


@pytest.mark.every_engine
def test_each_line_of_a_story_is_told_once(server, hook, kite):
    go(kite, "VALID")
    assert [tell_all(), tell_all()] == [1 + 6, 0]  # the decoys have six
    webhooks.deliver(WebhookDelivery.objects.get().pk)
    assert len(server.seen) == 1
    # a second line about the same state is an update
    lifecycle.tell(kite.pk, "VALID", "Something was added.")
    tell_all()
    kinds = [json.loads(body)["type"] for _, _, body in server.seen]
    assert kinds == ["submission.valid", "submission.updated"]
    # a webhook that is switched off gets nothing
    go(kite, "MEASURED")
    announce.announce()
    Webhook.objects.update(active=False)
    tell_all()
    assert len(server.seen) == 2
    assert WebhookDelivery.objects.latest("pk").state == State.FAILED


def test_a_try_whose_process_died_is_made_again_later(server, hook, kite, monkeypatch):
    go(kite, "VALID")
    announce.announce()
    [pk] = webhooks.RUNNER.due()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(webhooks, "HTTPStatus", Mock(side_effect=KeyboardInterrupt))
        webhooks.deliver(pk)
    webhooks.deliver(pk)  # the dead one may still be at it
    assert (webhooks.RUNNER.due(), len(server.seen)) == ([], 1)
    WebhookDelivery.objects.update(next_at=timezone.now())
    webhooks.deliver(pk)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.n_attempts) == (State.DELIVERED, 2)
    ids = [one["webhook-id"] for _, one, _ in server.seen]
    assert ids == [str(delivery.uuid)] * 2


def test_a_failure_is_tried_again_with_growing_pauses(server, hook, kite):
    server.answers = [500] * 20
    go(kite, "VALID")
    announce.announce()
    pauses = []
    delivery = WebhookDelivery.objects.get()
    while delivery.state == State.WAITING:
        before = timezone.now()
        webhooks.deliver(delivery.pk)
        delivery.refresh_from_db()
        pauses.append(delivery.next_at - before)
        webhooks.deliver(delivery.pk)  # too early: nothing happens
        WebhookDelivery.objects.update(next_at=timezone.now())
    assert len(server.seen) == 7 == delivery.n_attempts
    assert pauses[:-1] == sorted(pauses[:-1])
    assert timedelta(hours=24) <= pauses[-2] < timedelta(hours=25)
    assert (delivery.state, delivery.last_status) == (State.FAILED, 500)
    assert delivery.failure == "thanks\\nfor that"
    bodies = {body for _, _, body in server.seen}
    assert len(bodies) == 1  # the same event, to be counted once


def test_a_server_that_is_not_there_is_no_crash(heron, nina, kite, settings):
    settings.GENIE = {**settings.GENIE, "WEBHOOKS_PRIVATE": True}
    webhooks.add(heron, "http://127.0.0.1:1/", by=nina)
    go(kite, "VALID")
    tell_all()
    delivery = WebhookDelivery.objects.get()
    assert delivery.state == State.WAITING
    assert "ConnectionRefusedError" in delivery.failure


def test_redirects_are_not_followed_and_gone_is_gone(server, hook, kite):
    server.answers = [302, 410]
    go(kite, "VALID")
    tell_all()
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.last_status) == (State.WAITING, 302)
    WebhookDelivery.objects.update(next_at=timezone.now())
    webhooks.deliver(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.state == State.FAILED


def test_nothing_is_sent_into_our_own_network(server, hook, kite, settings):
    settings.GENIE = {**settings.GENIE, "WEBHOOKS_PRIVATE": False}
    go(kite, "VALID")
    tell_all()
    delivery = WebhookDelivery.objects.get()
    assert server.seen == []
    assert delivery.state == State.FAILED
    assert "private network" in delivery.failure


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
     "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1%eth0",
     "fc00::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"],
)  # fmt: skip
def test_private_addresses_are_known_in_all_their_forms(address):
    assert not outbound.is_public(address)


def test_a_name_with_one_private_address_is_refused(monkeypatch):
    def lookup(host, port, **_kwargs):
        return [(2, 1, 6, "", (ip, port)) for ip in ("93.184.216.34", "10.0.0.1")]

    monkeypatch.setattr(outbound.socket, "getaddrinfo", lookup)
    with pytest.raises(outbound.Refused, match="private network"):
        outbound.post(
            "https://rebind.example/", b"", {}, https_only=True, allow_private=False
        )


@pytest.mark.parametrize(
    "url",
    ["", "heron.example", "ftp://heron.example", "https://", "https://a:b@heron.example",
     "https://heron.example:0/", "https://heron.example:99999/", "https://[::1/",
     "https://heron.example/a b", "https://heron.example/\u00e9", "javascript:alert(1)",
     "https://heron.example/" + "x" * 500, "https://heron.example/\r\nHost: x"],
)  # fmt: skip
def test_what_is_no_address_is_refused(heron, nina, url):
    with pytest.raises(GenieError) as caught:
        webhooks.add(heron, url, by=nina)
    assert caught.value.code == "bad-address"
    assert not Webhook.objects.exists()


def test_production_sends_encrypted_only(heron, nina, settings):
    settings.PRODUCTION = True
    with pytest.raises(GenieError, match="https://"):
        webhooks.add(heron, "http://heron.example/", by=nina)
    webhooks.add(heron, "https://heron.example/", by=nina)


@pytest.mark.every_engine
def test_an_address_is_told_once_however_often_it_is_asked_for(hook, nina):
    with pytest.raises(GenieError) as caught:
        webhooks.add(hook.team, hook.url, by=nina)
    assert caught.value.code == "webhook-exists"
    rook = make_team("Rook", nina)
    assert webhooks.add(rook, hook.url, by=nina).secret != hook.secret


def test_webhooks_are_bounded_and_of_their_own_team_only(
    hook, heron, nina, monkeypatch
):
    rook = make_team("Rook", make_user("rita"))
    other = make_submission(make_task("other"), team=rook, owner=nina, state="RECEIVED")
    assert tell_all() >= 1
    assert not WebhookDelivery.objects.exists()
    assert Submission.objects.get(pk=other.pk).team == rook
    monkeypatch.setattr(webhooks, "MAX_WEBHOOKS", 1)
    with pytest.raises(GenieError) as caught:
        webhooks.add(heron, "https://heron.example/", by=nina)
    assert caught.value.code == "too-many-webhooks"


def test_people_get_one_e_mail_about_a_result_once_it_is_published(
    kite, heron, mailoutbox
):
    tom = make_user("tom", email="tom@heron.example")
    teams.accept(teams.invite(heron, by=kite.owner), tom)
    for new in ("VALID", "MEASURED", "APPROVED", "ANNOTATING", "ANNOTATED", "SCORED"):
        go(kite, new, f"Now {new.lower()}.")
    go(kite, "PUBLISHED", "The result is on the board.")
    tell_all()
    tell_all()
    assert len(mailoutbox) == 4
    addresses = {mail.to[0] for mail in mailoutbox}
    assert addresses == {"nina@heron.example", "tom@heron.example"}
    said = {mail.subject.removeprefix("[Genie] Kite is ") for mail in mailoutbox}
    assert said == {"approved for human evaluation", "published"}
    last = mailoutbox[-1].body
    assert f"http://localhost:8000/submissions/{kite.pk}/" in last
    assert "The result is on the board." in last
    assert all(len(mail.to) == 1 for mail in mailoutbox)


def test_old_stories_and_unwanted_notices_send_no_e_mail(kite, nina, mailoutbox):
    go(kite, "INVALID")
    long_ago = timezone.now() - timedelta(days=3)
    SubmissionEvent.own.filter(state="INVALID").update(at=long_ago)
    tell_all()
    assert mailoutbox == []
    notices.choose(nina, ["published"])
    assert notices.muted_by(nina) == ["submitted", "invalid", "approved"]
    owl = make_submission(
        make_task("owls"), team=kite.team, owner=nina, state="RECEIVED"
    )
    go(owl, "INVALID")
    tell_all()
    assert mailoutbox == []


def test_a_name_cannot_break_out_of_the_subject(kite, mailoutbox):
    Submission.own.update(system_name="Kite\nBcc: everybody@heron.example & <b>")
    go(kite, "INVALID", "It is <b> & not a file.")
    tell_all()
    (mail,) = mailoutbox
    assert "\n" not in mail.subject
    assert mail.recipients() == ["nina@heron.example"]
    assert "It is <b> & not a file." in mail.body
    html = mail.alternatives[0][0]
    assert "It is &lt;b&gt; &amp; not a file." in html
    assert html.count("<a href") == 3  # a button, the settings, the site, and no more
    assert f'/submissions/{kite.pk}/" style="display: inline-block' in html
    assert ">Open the submission</a>" in html


def test_an_e_mail_that_did_not_leave_is_sent_later(kite, monkeypatch, mailoutbox):
    go(kite, "INVALID")
    announce.announce()
    notice = Notice.objects.get()

    def broken(self, **_kwargs):
        raise ConnectionRefusedError

    with monkeypatch.context() as patch:
        patch.setattr("django.core.mail.EmailMessage.send", broken)
        with pytest.raises(ConnectionRefusedError):
            notices.send(notice.pk)
    notices.send(notice.pk)
    notices.send(notice.pk)
    assert len(mailoutbox) == 1


def test_staff_send_again_what_was_given_up(server, hook, kite):
    go(kite, "VALID")
    announce.announce()
    WebhookDelivery.objects.update(state=State.FAILED, failure_permanent=True)
    client = Client()
    client.force_login(make_user("ada", is_staff=True, is_superuser=True))
    listing = "/admin/leaderboard/webhookdelivery/"
    assert "submission.valid" in client.get(listing).text
    assert hook.secret not in client.get(listing).text
    pk = WebhookDelivery.objects.get().pk
    form = {"action": "send_again", "_selected_action": [pk]}
    assert "sent again." not in client.post(listing, form, follow=True).text
    form |= {"confirmed": "yes", "reason": "Their server is up again."}
    assert "1 will be sent again" in client.post(listing, form, follow=True).text
    assert "0 will be sent again" in client.post(listing, form, follow=True).text
    webhooks.deliver(pk)
    assert len(server.seen) == 1
    assert client.get(f"{listing}add/").status_code == 403
