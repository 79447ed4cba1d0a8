import pytest
from django.contrib.auth import get_user_model

from tests.crowd.platforms import prolific_standin as standin
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


@pytest.fixture(scope="module")
def _server():
    with standin.Server() as server:
        yield server


@pytest.fixture
def there(_server, settings):
    """Prolific's own books, with the site set up for them."""
    _server.prolific = standin.Prolific()
    account = {
        "environment": "endpoint",
        "url": _server.url,
        "token": standin.TOKEN,
        "workspace_id": standin.WORKSPACE,
        "code_secret": "a secret of this site",
        "tries": 2,
    }
    settings.GENIE = {
        **settings.GENIE,
        "PLATFORMS": {"prolific": account},
        "PROLIFIC_ITEMS_PER_PLACE": 3,
        "PROLIFIC_WEBHOOK_SECRET": standin.HOOK_SECRET,
        "SITE_URL": "https://genie.example.org",
    }
    return _server.prolific
