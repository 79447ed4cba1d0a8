"""What becomes of a submission whose campaign staff stop before it is finished."""

from datetime import UTC, timedelta

import pytest
from django.utils import timezone

from crowd.campaigns.services import run
from crowd.campaigns.services.work import next_assignment
from crowd.hits.services import build
from crowd.models import Assignment, Campaign, Commitment
from genie.lib.errors import GenieError
from leaderboard.boards.selectors.rows import standings
from leaderboard.evaluation import decide
from leaderboard.models import Score
from tests.crowd.making import make_worker, text_of
from tests.factories import asked_about
from tests.leaderboard.evaluation.steps import now, settle, spent


def stop(boss, **decided) -> None:
    run.stop(Campaign.own.get().pk, boss, "The texts are wrong.", **decided)
    settle()


@pytest.mark.parametrize("decided", [{"publish": False}, {}])
def test_what_was_stopped_is_published_only_if_told(begun, boss, task, client, decided):
    stop(boss, **decided)
    found = now(begun)
    assert (found.state, found.work.failure, found.published_at) == (
        "STOPPED",
        "",
        None,
    )
    assert "publish no result" in found.events.last().sentence
    assert not Score.own.exists()
    assert len(standings(task)) == 0
    assert Commitment.own.get().amount_cents == spent()
    settle()
    assert now(begun).state == "STOPPED"
    client.force_login(begun.owner)
    page = client.get(f"/submissions/{begun.pk}/").text
    assert "Stopped" in page


def test_staff_publish_later_what_they_did_not_at_once(begun, boss, task, client):
    stop(boss, publish=False)
    client.force_login(boss)
    page = f"/admin/leaderboard/submission/{begun.pk}/"
    assert "Publish partial result" in client.get(f"{page}change/").text
    client.post(f"{page}publish-partial/", {"confirmed": "yes", "reason": "It helps."})
    settle()
    found = now(begun)
    assert found.state == "PUBLISHED"
    said = list(found.events.values_list("sentence", flat=True))
    assert "Staff decided to publish the partial result: It helps." in said
    with pytest.raises(GenieError, match="only a submission that was stopped"):
        decide.publish_partial(asked_about(begun), by=boss, reason="Again.")


@pytest.fixture
def two_at_work(begun, task):
    pages = [next_assignment(make_worker(task.slug, simulated=True)) for _ in range(2)]
    until = pages[1].deadline_at.replace(second=0) + timedelta(days=1)
    Assignment.objects.filter(pk=pages[1].pk).update(deadline_at=until)
    return pages, f"2 open pages until {until.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def test_pages_say_that_it_is_stopped_and_waits(begun, boss, task, client, two_at_work):
    pages, words = two_at_work
    decide.stop(asked_about(begun), by=boss, reason="Enough.", publish=True)
    client.force_login(boss)
    campaign = Campaign.own.get()
    addresses = [
        f"/submissions/{begun.pk}/",
        f"/tasks/{task.slug}/",
        f"/admin/leaderboard/submission/{begun.pk}/change/",
        f"/admin/leaderboard/task/{task.pk}/campaigns/",
        "/admin/crowd/campaign/",
    ]
    for address in addresses:
        page = text_of(client.get(address))
        assert f"topped; waiting for {words}" in page, address
    assert "Waits for" not in text_of(client.get(addresses[0]))
    build.take_back_slot(pages[1].pk, pages[1].hit_id, Assignment.State.RETURNED)
    due = timezone.now().replace(hour=23, minute=59)
    Assignment.objects.filter(pk=pages[0].pk).update(deadline_at=due)
    for address in addresses:
        assert "1 open page until 23:59 UTC" in text_of(client.get(address)), address
    assert campaign.completed_at is None


@pytest.mark.parametrize("on_the_campaign", [False, True])
def test_a_stop_is_taken_back_while_pages_are_open(
    begun, boss, client, two_at_work, on_the_campaign
):
    pages, _ = two_at_work
    decide.stop(asked_about(begun), by=boss, reason="Enough.", publish=True)
    before = Commitment.own.get().amount_cents
    client.force_login(boss)
    data = {"confirmed": "yes", "reason": "It was the wrong one."}
    campaign = Campaign.own.get()
    if on_the_campaign:
        chosen = {"action": "resume_selected", "_selected_action": [campaign.pk]}
        client.post("/admin/crowd/campaign/", {**data, **chosen})
    else:
        page = f"/admin/leaderboard/submission/{begun.pk}/"
        assert "Undo the stop" in client.get(f"{page}change/").text
        client.post(f"{page}go-on/", data)
        said = begun.events.values_list("sentence", flat=True)
        assert "The stop was undone: It was the wrong one." in list(said)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.notice) == (Campaign.State.RUNNING, "")
    assert campaign.publish_partial is None
    assert Commitment.own.get().amount_cents == before
    for page in pages:
        build.take_back_slot(page.pk, page.hit_id, Assignment.State.RETURNED)
    settle()
    assert now(begun).state == "ANNOTATING"


@pytest.mark.parametrize("publish", [True, False])
def test_a_stop_is_not_taken_back_after_its_account_is_settled(begun, boss, publish):
    decide.stop(asked_about(begun), by=boss, reason="Enough.", publish=publish)
    settle()
    campaign = Campaign.own.get()
    assert not run.resume(campaign.pk, boss, "Again.")
    with pytest.raises(GenieError, match="open pages are not in yet"):
        decide.go_on(asked_about(begun), by=boss, reason="Again.")
    assert Campaign.own.get().state == Campaign.State.STOPPED
