"""What a topic posts to us makes us look, once; we agree to our own topic only."""

import json
from urllib.parse import urlsplit

import pytest
from django.test import Client
from moto.core import DEFAULT_ACCOUNT_ID
from moto.sns.models import sns_backends

from crowd.elsewhere import hooks
from crowd.elsewhere.services import subscriptions, sync
from crowd.models import PlatformNotice, RequesterEvent
from crowd.requester.services import deliver
from genie.lib import env, jobs, outbound
from genie.lib.errors import GenieError
from tests.crowd.platforms.elsewhere import Elsewhere
from tests.crowd.platforms.signer import Signer
from tests.moto_server import client, moto_server

SECRET = "0123456789-abcdefghi_J"
TOPIC = "arn:aws:sns:us-east-1:123456789012:hits"
ASKED = (
    "https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription"
    f"&TopicArn={TOPIC}&Token=2336"
)


@pytest.fixture(scope="module")
def signer(tmp_path_factory):
    with Signer(tmp_path_factory.mktemp("signer")) as signer:
        yield signer


@pytest.fixture
def site(settings, signer, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(signer.authority))
    hooks._certificate.cache_clear()

    def set_up(**changes):
        settings.GENIE = {
            **settings.GENIE,
            "MTURK_NOTICE_SECRET": SECRET,
            "SNS_ENDPOINT_URL": "",
            "SNS_CERTIFICATE_HOSTS": [signer.host],
            "PLATFORMS": {"mturk": {"topic": TOPIC}},
            **changes,
        }

    set_up()
    return set_up


def send(body, secret=SECRET, **headers):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    address = f"/hooks/mturk/{secret}/"
    # as topics say it
    return Client().post(address, text, content_type="text/plain", **headers)


def signed(body, **how):
    return Signer.running.sign(body, **how)


def question(address=ASKED, topic=TOPIC):
    return signed(
        {
            "Type": "SubscriptionConfirmation",
            "MessageId": "q-1",
            "Token": "2336",
            "TopicArn": topic,
            "Message": "You have chosen to subscribe.",
            "SubscribeURL": address,
        }
    )


def notice(message="{}", **changes):
    return {
        "Type": "Notification",
        "MessageId": "n-1",
        "TopicArn": TOPIC,
        "Message": message,
        "Timestamp": "2026-11-22T01:00:00.000Z",
        **changes,
    }


def test_notices_of_a_topic_lead_to_one_look_each(turk, site, monkeypatch):
    # nobody answers at genie.example.org, so the server would refuse to post there
    monkeypatch.setattr(outbound, "check_reachable", lambda *_, **__: None)
    topic = f"https://genie.example.org/hooks/mturk/{SECRET}/"
    turk.options |= {"topic": topic}
    site(PLATFORMS={"mturk": turk.options})
    elsewhere = Elsewhere(turk)
    elsewhere.look()
    elsewhere.answer_all()
    events = [
        event
        for event in RequesterEvent.own.order_by("pk")
        if event.body["Events"][0]["EventType"] == "AssignmentSubmitted"
    ]
    assert len(events) == 2
    assert {(one.transport, one.destination) for one in events} == {("SNS", topic)}
    RequesterEvent.own.all().update(sent_at="2026-01-01T00:00Z")
    jobs.drain()
    wanted = (sync.JOB, (("campaign", elsewhere.campaign.pk),))
    posted = [deliver._as_topic(one, json.dumps(one.body)) for one in events]
    assert send(posted[1].encode()).status_code == 204
    assert jobs.queued_jobs() == {wanted}
    jobs.drain()
    assert elsewhere.assignments().count() == 2
    assert send(posted[1].encode()).status_code == 204  # it came before
    assert jobs.queued_jobs() == set()
    assert send(events[0].body).status_code == 204  # a topic can leave out the envelope
    assert jobs.queued_jobs() == {wanted}
    assert PlatformNotice.objects.filter(platform="mturk").count() == 2


def test_nobody_reaches_it_without_the_secret(site):
    body = {"EventDocId": "1", "Events": []}
    for wrong in ("x", SECRET[:-1], f"{SECRET}x", "ä"):
        assert send(body, wrong).status_code == 404
    site(MTURK_NOTICE_SECRET="")
    assert send(body).status_code == 404
    assert Client().post("/hooks/mturk//", {}).status_code == 404
    assert not PlatformNotice.own.exists()


def test_what_says_nothing_is_refused(site):
    for body in [b"", b"[]", b"{}", b"\xff", b"[" * 50_000, b'{"Type": 3}']:
        assert send(body).status_code == 400


def test_junk_in_an_envelope_makes_nobody_look(site):
    for message in ("", "no JSON", '{"Events": [{"HITId": "3NOBODYS"}]}'):
        body = notice(message, MessageId="a\0b" * 50)
        assert send(signed(body)).status_code == 204
    assert jobs.queued_jobs() == set()
    (kept,) = PlatformNotice.own.all()
    assert len(kept.event_id) == 100
    over = notice(Type="UnsubscribeConfirmation", SubscribeURL="https://a", Token="1")
    assert send(signed(over)).status_code == 204


@pytest.mark.parametrize("address", [f"/hooks/mturk/{SECRET}/", "/hooks/prolific/"])
@pytest.mark.parametrize("said", ["999999", "x", "-1", "²"])
def test_a_notice_is_not_long(site, address, said):
    response = Client().post(
        address, b"{}", content_type="text/plain", headers={"Content-Length": said}
    )
    assert response.status_code == 413


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize("subject", [None, "About HITs\nof today"])
def test_what_the_service_signed_is_followed(site, version, subject):
    body = notice() if subject is None else notice(Subject=subject)
    assert send(signed(body, version=version)).status_code == 204


def test_what_was_changed_on_its_way_is_refused(site):
    for name in ["Message", "MessageId", "Timestamp", "Subject"]:
        body = signed(notice()) | {name: "changed"}
        assert send(body).status_code == 403
        assert not PlatformNotice.own.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"Signature": ""}, "is not signed"),
        ({"Signature": "????"}, "cannot be read"),
        ({"Signature": "QUJD"}, "does not match the certificate"),
        ({"SignatureVersion": "3"}, "neither 1 nor 2"),
        ({"SignatureVersion": "1"}, "does not match the certificate"),
        ({"SigningCertURL": ""}, "https://"),
        ({"SigningCertURL": "http://localhost/a.pem"}, "https://"),
        ({"SigningCertURL": "https://sns.us-east-1.amazonaws.com.ev.il/SimpleNotificationService-0123456789abcdef.pem"}, "not at an address of SNS"),
        ({"SigningCertURL": "https://sns.us-east-1.amazonaws.com/x.pem"}, "not at an address of SNS"),
        ({"SigningCertURL": "https://sns.us-east-1.amazonaws.com:8443/SimpleNotificationService-0123456789abcdef.pem"}, "not at an address of SNS"),
        ({"SigningCertURL": "https://s3.us-east-1.amazonaws.com/SimpleNotificationService-0123456789abcdef.pem"}, "not at an address of SNS"),
    ],
)  # fmt: skip
def test_what_is_not_signed_so_is_named_on_one_line(site, changes, why, caplog):
    response = send(signed(notice("a\nb")) | changes)
    assert response.status_code == 403
    assert why in response.json()["error"]
    (line,) = [one for one in caplog.messages if one.startswith("A notice was")]
    assert why in line
    assert "\n" not in line
    assert not PlatformNotice.own.exists()


def test_what_is_unsigned_or_of_another_topic_or_certificate_is_refused(site, signer):
    assert send({"EventDocId": "1", "Events": []}).status_code == 403
    assert send(signed(notice(TopicArn=f"{TOPIC}-evil"))).status_code == 403
    assert send(signed(notice(), certificate="old")).status_code == 403
    assert send(signed(notice(), certificate="other")).status_code == 403
    site(SNS_CERTIFICATE_HOSTS=[])
    assert send(signed(notice())).status_code == 403


def test_a_certificate_is_fetched_once(site, signer):
    before = len(signer.seen)
    for number in range(3):
        body = signed(notice(MessageId=f"n-{number}"))
        assert send(body).status_code == 204
    assert len(signer.seen) == before + 1
    assert send(signed(notice(), certificate="missing")).status_code == 503
    assert send(signed(notice())).status_code == 204


def test_a_server_that_others_wrote_signs_as_we_read_it(site, live_server, monkeypatch):
    """moto's topic posts to our address; its certificate comes from its memory."""
    fetched = []
    with moto_server() as address:

        def fetch(url, private):
            parts = urlsplit(url)
            assert (parts.netloc, private) == ("sns.us-east-1.amazonaws.com", False)
            fetched.append(url)
            kept = sns_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]._message_public_keys
            return kept[parts.path.removeprefix("/")]

        topics = client("sns", address)
        arn = topics.create_topic(Name="hits")["TopicArn"]
        site(PLATFORMS={"mturk": {"topic": arn}})
        monkeypatch.setattr(hooks, "_certificate", fetch)
        topics.subscribe(
            TopicArn=arn,
            Protocol="http",
            Endpoint=f"{live_server.url}/hooks/mturk/{SECRET}/",
        )
        topics.publish(TopicArn=arn, Message='{"Events": [{"HITId": "3ÄÖ"}]}')
    assert fetched
    assert PlatformNotice.own.count() == 1


@pytest.fixture
def opened(monkeypatch):
    seen = []
    real = outbound.get

    def get(address, *, https_only, allow_private, **more):
        if address.endswith(".pem"):
            return real(
                address, https_only=https_only, allow_private=allow_private, **more
            )
        seen.append((address, https_only, allow_private))
        return outbound.Answer(403 if "expired" in address else 200, "")

    monkeypatch.setattr(outbound, "get", get)
    return seen


def test_our_own_topic_is_told_that_we_want_its_notices(site, opened):
    assert send(question()).status_code == 204
    assert send(question()).status_code == 204
    assert opened == []  # not while somebody waits for an answer
    jobs.drain()
    assert opened == [(ASKED, True, False)]
    with pytest.raises(GenieError, match="403"):
        subscriptions.confirm(f"{ASKED}expired")


def test_other_addresses_are_not_opened(site, opened):
    for address in [
        "",
        ASKED.replace("https", "http"),
        ASKED.replace(
            "sns.us-east-1.amazonaws.com", "sns.us-east-1.amazonaws.com.ev.il"
        ),
        ASKED.replace("sns.us-east-1", "sns.us-east-1.s3"),
        ASKED.replace("sns.us-east-1", "bucket.s3"),
        ASKED.replace("sns.us-east-1.amazonaws.com", "10.0.0.1"),
        ASKED.replace("https://", "https://evil.example@"),
        ASKED.replace(".com/", ".com:8443/"),
        ASKED.replace("ConfirmSubscription", "DeleteTopic"),
        f"{ASKED}&Action=DeleteTopic",
    ]:
        assert send(question(address)).status_code == 400
        with pytest.raises(GenieError):
            subscriptions.confirm(address)
        assert jobs.queued_jobs() == set()
        assert opened == []


def test_the_topic_of_somebody_else_gets_no_answer(site, opened):
    assert send(question(topic=f"{TOPIC}-evil")).status_code == 403
    site(PLATFORMS={})
    assert send(question(topic="")).status_code == 403
    assert jobs.queued_jobs() == set()


def test_the_server_that_the_operator_named_may_be_inside(site, opened):
    inside = ASKED.replace("sns.us-east-1.amazonaws.com", "sns.lab.example:4566")
    assert send(question(inside)).status_code == 400
    site(SNS_ENDPOINT_URL="https://sns.lab.example:4566")
    assert send(question(inside)).status_code == 204
    jobs.drain()
    assert opened == [(inside, True, True)]
    site(SNS_ENDPOINT_URL="http://sns.lab.example:4566")
    assert send(question(inside)).status_code == 400


def test_an_address_is_opened_by_get_and_only_outside(live_server):
    address = f"{live_server.url}/work/?b=c"
    answer = outbound.get(address, https_only=False, allow_private=True)
    assert answer.status == 302
    for https_only in (False, True):
        with pytest.raises(outbound.Refused):
            outbound.get(address, https_only=https_only, allow_private=https_only)


@pytest.mark.parametrize("value", ["short", "with/slash-0123456789-x", "ä" * 20])
def test_a_secret_that_could_be_guessed_or_not_written_is_refused(monkeypatch, value):
    monkeypatch.setenv("GENIE_TEST_SECRET", value)
    with pytest.raises(env.ConfigurationError, match="20 to 200"):
        env.in_address("GENIE_TEST_SECRET", shortest=20)
    monkeypatch.setenv("GENIE_TEST_SECRET", SECRET)
    assert env.in_address("GENIE_TEST_SECRET", shortest=20) == SECRET
