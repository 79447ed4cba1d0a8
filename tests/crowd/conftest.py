import pytest
from django.test import Client

from tests.crowd.making import make_worker
from tests.factories import make_user


@pytest.fixture
def wim():
    return make_worker(user=make_user("wim"))


@pytest.fixture
def site(wim):
    client = Client()
    client.force_login(wim.user)
    return client


@pytest.fixture
def sam():
    return make_user("sam", is_staff=True)
