from __future__ import annotations

import pytest
from django.test import Client

from tests.browser import chromium, open_page  # noqa: F401
from tests.crowd.making import make_worker
from tests.factories import make_user


@pytest.fixture(autouse=True)
def _static_root(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path  # nothing is collected; it only has to exist


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
