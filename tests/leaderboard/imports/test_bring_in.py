"""Judgments from elsewhere get a board."""

import numpy as np
import pytest

from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.imports.services.bring_in import bring_in
from leaderboard.models import Score
from tests.factories import make_user

pytestmark = pytest.mark.django_db


def ratings(n=20, systems=("red", "blue", "green"), workers=4, seed=1, **more):
    rng = np.random.default_rng(seed)
    rows = [
        (f"w{i % workers}", f"seg{i}", system, float(rng.integers(40, 60) + 10 * s))
        for i in range(n)
        for s, system in enumerate(systems)
    ]
    worker, instance, system, value = map(list, zip(*rows, strict=True))
    columns = {"worker": worker, "instance": instance, "system": system}
    return Judgments(
        "plain",
        frame(
            {
                **columns,
                "criterion": "overall",
                "value": value,
                "row": list(range(2, len(rows) + 2)),
                **more,
            }
        ),
    )


def test_a_plain_table_gets_a_ranked_board(client):
    user = make_user("importer")
    row = bring_in(ratings(), slug="elsewhere", by=user)
    scores = Score.objects.filter(superseded_at=None).order_by("-mean")
    assert [one.submission.system_name for one in scores] == ["green", "blue", "red"]
    assert scores[0].rank_first == 1
    assert row.task.imported
    page = client.get("/tasks/elsewhere/")
    assert page.status_code == 200
    assert "green" in page.text
