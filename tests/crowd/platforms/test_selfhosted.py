"""Our own site keeps the contract: the services do what other platforms are told to do."""

import pytest

from crowd.platforms.base import get
from crowd.platforms.selfhosted import SelfHosted
from crowd.pricing import quote
from genie.lib.errors import GenieError
from leaderboard.contracts.platforms import PlatformContract
from tests.crowd.platforms.our_pages import OurWorld, WithServices


class OurSite(WithServices, SelfHosted):
    pass


class TestSelfHosted(PlatformContract):
    @pytest.fixture
    def world(self):
        return OurWorld(OurSite())


def test_our_site_knows_its_workers_and_quotes_as_the_pricing_room():
    with pytest.raises(GenieError, match="selfhosted"):
        get("nowhere")
    assert get("selfhosted").identity({"worker_id": "user-7"}).worker_id == "user-7"
    asked = {"reward_cents": 10, "n_items": 5, "n_test_questions": 1}
    assert get("selfhosted").quote(**asked) == quote(platform="selfhosted", **asked)
