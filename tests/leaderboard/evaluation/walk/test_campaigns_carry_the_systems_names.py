"""Staff can tell campaigns apart by name; workers never learn whose outputs they read."""

from dataclasses import asdict

import pytest
from django.test import Client
from django.urls import reverse

from crowd.elsewhere.services import hit_offer, study
from crowd.models import Campaign, ExternalCampaign
from genie.lib import jobs
from leaderboard.evaluation import decide
from leaderboard.evaluation.services import comparison, joint
from leaderboard.evaluation.services.comparison import Question
from leaderboard.models import Comparison, JointEvaluation
from tests.crowd.making import make_worker
from tests.factories import make_user, signed_in
from tests.kept import kept
from tests.leaderboard.evaluation.steps import launch, settle
from tests.leaderboard.evaluation.walk.test_ends_of_campaigns import ask_apart

SYSTEM = "happypoet-3"


@pytest.fixture
def asked(hand_in, good, boss, task):
    def sent_out():
        return launch(hand_in(good, name=SYSTEM), boss)

    return kept("asked", sent_out, task.config)


def titles():
    return list(Campaign.own.order_by("pk").values_list("title", flat=True))


@pytest.mark.every_engine
def test_a_campaign_is_called_after_its_system(asked, task):
    assert titles() == [f"{task.title}: {SYSTEM}"]


def test_campaigns_of_separate_criteria_say_which(task, request):
    ask_apart(task, 2)
    request.getfixturevalue("asked")
    start = f"{task.title}: {SYSTEM}"
    assert titles() == [f"{start} (right)", f"{start} (clear)"]


@pytest.fixture
def several(hand_in, good, boss, task):
    task.config = {**task.config, "quota": {"submissions": 9, "days": 7}}
    task.save()

    def sent_out():
        systems = [hand_in(good, name=name) for name in ("Kite", "Wren", "Heron")]
        jobs.drain()
        for submission in systems:
            submission.refresh_from_db()
        pair = comparison.request(*systems[:2], Question("overall"), by=boss)
        decide.approve(pair, by=boss)
        together = joint.request(systems, by=boss, n_instances=5)
        decide.approve(together, by=boss)
        settle()
        return systems

    return kept("several", sent_out)


def test_campaigns_about_several_systems_name_them(several, task):
    assert set(titles()) == {
        f"{task.title}: Kite vs. Wren (overall)",
        f"{task.title}: Kite, Wren and 1 more",
    }


def test_staff_read_the_name_in_lists_confirmations_and_links(asked, boss, task):
    office = signed_in(boss)
    campaigns = reverse("admin:crowd_campaign_changelist")
    name = f"{task.title}: {SYSTEM}"
    assert name in office.get(campaigns).text
    chosen = {"_selected_action": [Campaign.own.get().pk]}
    for action in ("pause_selected", "stop_selected"):
        page = office.post(campaigns, {"action": action, **chosen})
        assert name in page.text
    of_submission = reverse("admin:leaderboard_submission_change", args=[asked.pk])
    of_campaign = reverse(
        "admin:crowd_campaign_change", args=chosen["_selected_action"]
    )
    assert of_campaign in office.get(of_submission).text
    assert of_submission in office.get(of_campaign).text


@pytest.mark.every_engine
@pytest.mark.parametrize("model", [Comparison, JointEvaluation])
def test_what_compares_systems_and_its_campaign_link_each_other(several, boss, model):
    office = signed_in(boss)
    row = model.own.get()
    campaign = row.campaign
    to_campaign = reverse("admin:crowd_campaign_change", args=[campaign.pk])
    to_row = reverse(f"admin:leaderboard_{row._meta.model_name}_change", args=[row.pk])
    public = (
        f"/{'comparisons' if model is Comparison else 'joint-evaluations'}/{row.pk}/"
    )
    money = reverse("admin:crowd_commitment_changelist")
    every = reverse("admin:leaderboard_humanevaluation_changelist")
    for page in (to_row, public, money, every):
        text = office.get(page).text
        assert to_campaign in text
        assert campaign.title in text
    assert to_row in office.get(to_campaign).text
    assert to_row in office.get(every).text
    assert to_campaign not in Client().get(public).text
    kite = row.systems.first().submission
    of_kite = reverse("admin:leaderboard_submission_change", args=[kite.pk])
    assert to_row in office.get(of_kite).text


def test_workers_never_read_it(asked, task):
    wim = make_worker(task.slug, user=make_user("wim"))
    site = signed_in(wim.user)
    read = [
        site.get(reverse("work:home")),
        site.post(reverse("work:next"), follow=True),
    ]
    read.append(site.get(reverse("work:earnings")))
    work = read[1].context["assignment"]
    read.append(site.get(reverse("work:hit", args=[work.pk])))
    for page in read:
        assert page.status_code == 200
        assert SYSTEM not in page.text


def test_other_platforms_are_not_told_it(asked):
    campaign = Campaign.own.get()
    spec = hit_offer.spec_of(campaign, "key", "never")
    place = ExternalCampaign(campaign=campaign, environment="sandbox", place_size=1)
    for told in (spec, study.spec_of(campaign, place, spec, 10)):
        assert SYSTEM not in str(asdict(told))
