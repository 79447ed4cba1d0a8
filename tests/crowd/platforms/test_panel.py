"""Any panel keeps the contract; what differs between panels is configuration."""

from dataclasses import replace

import pytest

from crowd.platforms.base import Identity, get
from crowd.platforms.panel import SIGNATURE, Panel, PanelTerms, signature
from leaderboard.contracts.platforms import PlatformContract
from tests.crowd.making import refused
from tests.crowd.platforms.our_pages import OurWorld, WithServices

CONNECT = PanelTerms(
    name="connect",
    worker_parameter="participantId",
    session_parameter="assignmentId",
    study_parameter="projectId",
    ways_out={"completed": "DONE42", "screened-out": "NOT42"},
    secret="a secret of this site",
)
SONA = PanelTerms(
    name="sona",
    worker_parameter="survey_code",
    ways_out={
        "completed": "https://lab.sona.example/done?code={worker}&s={session}",
        "screened-out": "https://lab.sona.example/none",
    },
    secret="a secret of this site",
)
LINK = {"participantId": "P-7", "assignmentId": "A-8", "projectId": "J-9"}


class PanelPages(WithServices, Panel):
    pass


class PanelWorld(OurWorld):
    def worker_id(self, who):
        return self.platform.identity({**LINK, "participantId": who}).worker_id


class TestPanel(PlatformContract):
    @pytest.fixture
    def world(self):
        return PanelWorld(PanelPages(CONNECT))


def test_the_same_person_is_the_same_pseudonym_and_nothing_of_the_id_is_in_it():
    first = Panel(CONNECT).identity(LINK)
    again = Panel(CONNECT).identity({**LINK, "assignmentId": "A-9"})
    assert first.worker_id == again.worker_id
    assert first.session_id != again.session_id
    assert "P-7" not in f"{first.worker_id} {first.session_id}"
    one = Panel(SONA).identity({"survey_code": "1234"})
    two = Panel(SONA).identity({"survey_code": "1235"})
    assert one.session_id == Panel(SONA).identity({"survey_code": "1234"}).session_id
    assert one.session_id != two.session_id


@pytest.mark.parametrize("changed", [{"name": "other"}, {"secret": "of another site"}])
def test_people_of_two_panels_or_two_sites_are_never_the_same(changed):
    other = Panel(replace(CONNECT, **changed)).identity(LINK)
    assert other.worker_id != Panel(CONNECT).identity(LINK).worker_id


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"participantId": ""},
        {"participantId": "a b"},
        {"participantId": "x" * 101},
        {"participantId": "<b>"},
        {"participantId": "{{participantId}}"},
        {"participantId": "P-7", "assignmentId": "a\nb"},
    ],
)
def test_ids_that_are_none_are_refused(wrong):
    refused("who-are-you", Panel(CONNECT).identity, wrong)


def test_a_way_out_is_a_code_or_an_address_with_the_panels_own_ids_or_thanks():
    who = Panel(CONNECT).identity(LINK)
    out = Panel(CONNECT).completion(who, "completed")
    assert (out.kind, out.code) == ("code", "DONE42")
    assert Panel(CONNECT).completion(who, "screened-out").code == "NOT42"
    assert Panel(CONNECT).completion(who, "failed-check").code == "DONE42"
    who = Panel(SONA).identity({"survey_code": "12+34@x"})
    out = Panel(SONA).completion(who, "completed")
    assert out.kind == "redirect"
    assert out.url == "https://lab.sona.example/done?code=12%2B34%40x&s="
    panel = Panel(replace(CONNECT, ways_out={"completed": "DONE42"}))
    for outcome in ("screened-out", "returned"):
        assert panel.completion(Identity("x"), outcome).kind == "none"
    assert panel.completion(Identity("x"), "failed-check").code == "DONE42"
    assert Panel(replace(CONNECT, ways_out={})).completion(
        Identity("x"), "completed"
    ).kind == ("none")


def test_a_signed_link_cannot_be_changed():
    panel = Panel(replace(CONNECT, link_secret="shared with the panel"))
    good = {**LINK, SIGNATURE: signature("shared with the panel", LINK)}
    assert panel.identity(good).worker_id == Panel(CONNECT).identity(LINK).worker_id
    for bad in (
        LINK,
        {**good, "participantId": "P-8"},
        {**good, "extra": "1"},
        {**good, SIGNATURE: ""},
        {**good, SIGNATURE: signature("guessed", LINK)},
    ):
        refused("link-not-signed", panel.identity, bad)


@pytest.mark.parametrize(
    "wrong",
    [
        {"worker_parameter": ""},
        {"worker_parameter": "a b"},
        {"worker_parameter": SIGNATURE},
        {"session_parameter": "participantId"},
        {"secret": ""},
        {"ways_out": {"completed": "javascript://alert(1)"}},
        {"ways_out": {"completed": "//evil.example"}},
        {"ways_out": {"completed": "https://{worker}.example/"}},
    ],
)
def test_a_configuration_that_leads_astray_is_refused(wrong):
    good = {"name": "x", "worker_parameter": "participantId", "secret": "s"}
    assert get("panel", good).slug == "panel"
    refused("platform-not-configured", get, "panel", {**good, **wrong})
