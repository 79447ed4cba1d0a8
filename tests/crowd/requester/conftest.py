from datetime import timedelta

import boto3
import pytest
from botocore.config import Config
from django.contrib.auth import get_user_model
from django.utils import timezone

from crowd.models import Requester
from crowd.requester.protocol import clock
from crowd.requester.services import access_keys
from tests.crowd.requester.judge import Judge
from tests.crowd.requester.on_site import OnSite
from tests.moto_server import KEYS, moto_server
from tests.nets.conftest import net  # noqa: F401


@pytest.fixture
def staff(transactional_db):
    return get_user_model().objects.create_superuser("petra", password="-")


class Desk:
    """A requester with an account, a key, and an unmodified client."""

    def __init__(self, name, url, staff, dollars=100):
        self.requester = Requester.objects.create(name=name)
        self.key, self.secret = access_keys.create_key(self.requester, staff)
        if dollars:
            access_keys.deposit(self.requester, dollars * 100, key="start", by=staff)
        self.judge = Judge()
        self.url = url
        self.clients = []
        self.client = self.connect(self.key.key_id, self.secret)

    def connect(self, key_id, secret):
        client = boto3.client(
            "mturk",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=key_id,
            aws_secret_access_key=secret,
            config=Config(retries={"total_max_attempts": 1}),
        )
        self.judge.watch(client)
        self.clients.append(client)
        return client

    def close(self):
        for client in self.clients:
            client.close()


@pytest.fixture
def open_desk(live_server, staff):
    desks = []

    def make(name="Rita", dollars=100):
        desks.append(Desk(name, f"{live_server.url}/turk/", staff, dollars))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()
        assert desk.judge.complaints == []


@pytest.fixture
def desk(open_desk):
    return open_desk()


class Hands:
    def __init__(self, start):
        self.time = start

    def forward(self, **by):
        self.time += timedelta(**by)


@pytest.fixture
def hands(monkeypatch):
    """The clock's hands: they stand still until a test moves them."""
    hands = Hands(timezone.now().replace(microsecond=0))
    monkeypatch.setattr(clock, "now", lambda: hands.time)
    return hands


@pytest.fixture(scope="module")
def amazon():
    with moto_server() as address:
        yield address


@pytest.fixture
def credentials(monkeypatch, amazon):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", amazon)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SNS", amazon)


@pytest.fixture
def wanda(transactional_db):
    return OnSite()
