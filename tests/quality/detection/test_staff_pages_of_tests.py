"""Staff pages about test questions and workers: retired questions, all evidence."""

import pytest
from django.utils import timezone

from crowd.models import Item, Rating
from quality.models import RetiredQuestion
from tests.crowd.making import POOL, do_one, make_campaign, make_worker
from tests.factories import make_user, signed_in
from tests.quality.making import grade, place

RETIRED = "/admin/quality/retiredquestion/"


@pytest.fixture
def retired():
    campaign = make_campaign(2)
    item, counting = campaign.items.all()
    place(campaign, counting)
    return RetiredQuestion.objects.create(
        campaign=campaign,
        item=item,
        polarity="POSITIVE",
        retired_at=timezone.now(),
        retired_because="Careful workers fail it: 1 of 9 right.",
    )


def restoring(question, **fields):
    return {"action": "restore_selected", "_selected_action": [question.pk], **fields}


def test_retired_questions_say_what_they_show_and_why(
    retired, admin_client, admin_user
):
    html = admin_client.get(RETIRED).text
    assert retired.retired_because in html
    assert f"test question {retired.pk - 1}" not in html
    assert "positive" in html
    assert retired.item.data["prediction"] in html
    asked = admin_client.post(RETIRED, restoring(retired)).text
    assert "will not be retired a second time" in asked.replace("\n", " ")
    sent = restoring(retired, confirmed="1", reason="The key is right.")
    assert "Restored: 1." in admin_client.post(RETIRED, sent, follow=True).text
    retired.refresh_from_db()
    assert retired.restored_by == admin_user
    assert retired.restored_reason == "The key is right."


def test_all_evidence_about_a_worker_stands_on_one_page(admin_client):
    campaign = make_campaign(3)
    worker = make_worker()
    for _ in range(3):
        do_one(worker)
    first = Item.own.earliest("pk")
    work = Rating.objects.filter(item=first).first().assignment
    grade(place(campaign, first), work, pool=POOL)
    page = f"/admin/leaderboard/humanevaluation/worker/{worker.pk}/"
    html = admin_client.get(page).text
    assert f"Evidence about {worker}" in html
    assert "One sign never excludes" in html
    assert admin_client.get("/admin/leaderboard/humanevaluation/worker/99/").status_code == 404  # fmt: skip
    reader = signed_in(make_user("reader", is_staff=True))
    assert reader.get(page).status_code == 403
