"""People of any panel come by a link, work, and go back by a code or an address."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from crowd.campaigns.services import run
from crowd.models import Assignment, ExternalSession, PanelSource, Rating, Worker
from crowd.platforms.panel import SIGNATURE, signature
from tests.crowd.making import POOL, make_campaign
from tests.factories import signed_in

PERSON = {"participantId": "P-7", "assignmentId": "A-8"}


def make_panel(**fields):
    return PanelSource.objects.create(
        **{
            "name": "connect",
            "title": "CloudResearch Connect",
            "session_parameter": "assignmentId",
            "completed": "DONE42",
            "screened_out": "https://connect.example/none?p={worker}",
            "items_per_visit": 2,
            **fields,
        }
    )


@pytest.fixture
def campaign(db):
    return make_campaign(3, platform="panel")


def come(campaign, parameters=PERSON, panel="connect", browser=None):
    browser = browser or Client()
    address = reverse("work:panel", args=[panel, campaign.pk])
    return browser, browser.get(address, parameters)


def work(browser, at_most=99):
    browser.post(reverse("work:consent", args=[POOL]))
    page = browser.post(reverse("work:next"), {"pool": POOL})["Location"]
    for _ in range(at_most):
        if "/hit/" not in page:
            break
        page = browser.post(page, {"answer-0-0": "0.75"})["Location"]
    return page


def test_a_visit_ends_with_the_panels_code_keeps_no_ids_and_makes_no_account(campaign):
    make_panel()
    browser, response = come(campaign)
    assert response["Location"] == reverse("work:consent", args=[POOL])
    assert work(browser) == reverse("work:finished")
    page = browser.get(reverse("work:finished")).text
    assert "DONE42" in page
    assert "2 HITs" in page
    assert Rating.own.count() == 2
    assert browser.post(reverse("work:next"))["Location"] == reverse("work:finished")
    (worker,) = Worker.own
    session = ExternalSession.own.get()
    assert worker.platform == "panel"
    kept = f"{vars(worker)} {vars(session)}"
    assert "P-7" not in kept
    assert "A-8" not in kept
    assert not get_user_model().own.exists()
    assert browser.get("/admin/").status_code == 302
    assert browser.get("/submissions/").status_code == 302
    _, response = come(campaign, {**PERSON, "assignmentId": "A-9"})
    assert response["Location"] == reverse("work:instructions", args=[POOL])
    assert Worker.own.count() == 1
    assert ExternalSession.own.count() == 2


def test_who_finds_no_work_goes_back_with_the_panels_own_id(campaign):
    make_panel(items_per_visit=0)
    browser, _ = come(campaign)
    work(browser)
    assert Rating.own.count() == 3
    other, response = come(campaign, {"participantId": "P+8@x", "assignmentId": "A-1"})
    assert response["Location"] == reverse("work:finished")
    page = other.get(reverse("work:finished")).text
    assert "https://connect.example/none?p=P%2B8%40x" in page
    run.stop(campaign.pk, None, "Enough.")
    _, response = come(campaign)
    assert response["Location"] == reverse("work:finished")


def test_links_that_lead_nowhere_let_nobody_in(campaign):
    make_panel()
    make_panel(name="closed", is_open=False)
    for panel, parameters, status in [
        ("connect", {}, 400),
        ("connect", {"participantId": "a b"}, 400),
        ("nowhere", PERSON, 404),
        ("closed", PERSON, 404),
    ]:
        _, response = come(campaign, parameters, panel)
        assert response.status_code == status
    _, response = come(make_campaign(1))  # of another platform
    assert response.status_code == 404
    assert not Worker.own.exists()


def test_only_links_that_the_panel_signed_are_taken(campaign, settings):
    make_panel(link_secret="shared")
    assert come(campaign)[1].status_code == 400
    signed = {**PERSON, SIGNATURE: signature("shared", PERSON)}
    assert come(campaign, signed)[1].status_code == 302
    assert come(campaign, {**signed, "participantId": "P-8"})[1].status_code == 400
    settings.SECRET_KEY = "another, which cannot open the panel's secret"
    assert come(campaign)[1].status_code == 400


def test_somebody_elses_visit_cannot_be_seen(campaign):
    make_panel()
    browser, _ = come(campaign)
    work(browser, at_most=0)
    assignment = Assignment.own.get()
    other, _ = come(campaign, {"participantId": "P-9", "assignmentId": "A-2"})
    address = reverse("work:hit", args=[assignment.pk])
    assert other.get(address).status_code == 404
    assert Client().get(address).status_code == 302
    assert browser.get(address).status_code == 200


def test_staff_who_try_a_link_are_themselves_again_afterwards(campaign):
    make_panel()
    boss = get_user_model().objects.create_superuser("boss")
    browser = signed_in(boss)
    come(campaign, browser=browser)
    assert browser.get(reverse("work:home")).status_code == 200
    work(browser)
    assert browser.get(reverse("work:home")).status_code == 403  # staff is no worker


def test_a_panel_is_set_up_in_the_admin_and_gives_its_links(campaign):
    browser = signed_in(get_user_model().objects.create_superuser("boss"))
    fields = {
        "name": "sona",
        "title": "Our subject pool",
        "worker_parameter": "survey_code",
        "completed": "https://lab.example/done?c={worker}",
        "items_per_visit": "5",
        "is_open": "on",
    }
    for wrong in ({"worker_parameter": "a b"}, {"completed": "//evil.example"}):
        page = browser.post("/admin/crowd/panelsource/add/", {**fields, **wrong})
        assert page.status_code == 200
        assert not PanelSource.own.exists()
    browser.post("/admin/crowd/panelsource/add/", fields)
    panel = PanelSource.own.get()
    page = browser.get(f"/admin/crowd/panelsource/{panel.pk}/change/").text
    assert f"/work/panel/sona/{campaign.pk}/?survey_code=…" in page
    assert browser.get("/admin/crowd/panelsource/").status_code == 200
