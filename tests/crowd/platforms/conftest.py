import pytest
from django.contrib.auth import get_user_model

from tests.crowd.platforms.elsewhere import Elsewhere
from tests.crowd.platforms.turk_world import TurkWorld


@pytest.fixture
def turk(live_server, transactional_db):
    """Our server of the protocol with one requester who has 100 dollars."""
    staff = get_user_model().objects.create_superuser("petra", password="-")
    return TurkWorld(f"{live_server.url}/turk/", staff)


@pytest.fixture
def elsewhere(turk):
    return Elsewhere(turk, budget_cents=10_000)
