import pytest

from tests.crowd.making import make_worker
from tests.factories import make_user, signed_in


@pytest.fixture
def wim():
    return make_worker(user=make_user("wim"))


@pytest.fixture
def site(wim):
    return signed_in(wim.user)


@pytest.fixture
def sam():
    return make_user("sam", is_staff=True)


@pytest.fixture
def ada():
    return make_user("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def office(ada):
    return signed_in(ada)
