"""Boards of imported ratings have neither metrics nor texts, and their pages say so."""

import pytest

from leaderboard.imports.services.bring_in import bring_in
from leaderboard.metric_board import services
from leaderboard.models import MetricBoard
from leaderboard.tasks.models import Task
from tests.factories import make_user
from tests.leaderboard.imports.test_bring_in import ratings


@pytest.fixture
def task():
    systems = tuple(f"system-{i}" for i in range(8))
    bring_in(ratings(systems=systems), slug="imported", by=make_user("importer"))
    return Task.objects.get(slug="imported")


def test_the_metrics_page_opens_without_metrics(client, task):
    services.refresh_all()
    for board in MetricBoard.objects.filter(task=task):
        services.compute(board.pk)
    assert MetricBoard.objects.get(task=task).payload["person"]
    answer = client.get("/tasks/imported/metrics/")
    assert answer.status_code == 200
    assert "No metric has been computed" in answer.text


def test_two_systems_without_texts_are_not_called_equal(client, task):
    a, b = task.submissions.order_by("pk").values_list("pk", flat=True)[:2]
    page = client.get(f"/tasks/imported/pairs/?s={a}&s={b}").text
    assert "These systems’ texts aren’t available" in page
    assert "that differ" not in page
