"""Our own site keeps the contract: the services do what other platforms are told to do."""

from dataclasses import fields

import pytest

from crowd.platforms.base import Capabilities, all_platforms, get
from crowd.platforms.selfhosted import SelfHosted
from crowd.pricing import quote
from genie.lib.errors import GenieError
from leaderboard.contracts.platforms import PlatformContract
from tests.crowd.platforms.our_pages import OurWorld, WithServices


class OurSite(WithServices, SelfHosted):
    pass


@pytest.mark.django_db
class TestSelfHosted(PlatformContract):
    @pytest.fixture
    def world(self):
        return OurWorld(OurSite())


def test_an_unknown_platform_is_refused_with_the_known_ones():
    with pytest.raises(GenieError, match="selfhosted"):
        get("nowhere")


def test_who_signed_in_is_who_arrives():
    assert get("selfhosted").identity({"worker_id": "user-7"}).worker_id == "user-7"


def test_the_quote_is_the_pricing_rooms():
    asked = {"reward_cents": 10, "n_items": 5, "n_test_questions": 1}
    assert get("selfhosted").quote(**asked) == quote(platform="selfhosted", **asked)


@pytest.mark.parametrize("slug", sorted(all_platforms()))
def test_a_platform_says_what_it_can(slug):
    kind = all_platforms()[slug]
    assert kind.title
    assert isinstance(kind.capabilities, Capabilities)
    for one in fields(Capabilities):
        assert getattr(kind.capabilities, one.name) is not None
