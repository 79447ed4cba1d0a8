"""What staff decide by is on the first screen: warnings, outputs, the price, the buttons."""

import os
from pathlib import Path

import pytest

from leaderboard.evaluation.admin import submission as submission_admin
from leaderboard.models import Instance
from tests.browser import look, overflows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SCREENSHOTS = os.environ.get("GENIE_SCREENSHOTS")
LONG = "A long text that goes on and on about the same thing. " * 30
WARNINGS = [
    {
        "code": code,
        "sentence": "98% of the outputs fit another instance’s reference better than "
        "their own. Check the order of the lines.",
        "figures": {"own": 0.12, "best": 0.71, "share": 0.98},
    }
    for code in ("misaligned-ids", "near-duplicate")
]
FIRST = (".deciding .warning", ".deciding .outputs tbody tr", ".deciding td.number")


def test_what_decides_ends_above_the_fold(open_page, waiting, superuser, monkeypatch):
    objections = {"objections": ["Only 4 of 8 test questions can be made." * 2] * 2}
    monkeypatch.setattr(submission_admin, "_tests", lambda _: objections)
    submission = waiting(warnings=WARNINGS)
    submission.predictions.update(text=LONG)
    Instance.own.update(
        fields={"source": LONG, "second": LONG}, references=[LONG, LONG]
    )
    page = open_page(
        f"/admin/leaderboard/submission/{submission.pk}/approve/", user=superuser
    )
    if SCREENSHOTS:
        page.screenshot(path=Path(SCREENSHOTS) / "approve.png")
    # the two above, two of test questions, and one of a pool too small to tell its workers apart
    found = [page.locator(name) for name in (*FIRST, ".deciding input[type=submit]")]
    assert [each.count() for each in found] == [5, 5, 3, 3]
    ends = [
        row["y"] + row["height"]
        for each in found
        for row in (one.bounding_box() for one in each.all())
    ]
    assert max(ends) < 900
    # the texts in full, and all other figures, are in one fold below
    assert page.locator("details .outputs tbody tr").count() == 10
    assert not page.locator("details .outputs").is_visible()
    page.locator("details summary", has_text="precision").press("Enter")
    assert page.locator("details .outputs").is_visible()
    for width in ("phone", "tablet"):
        look(page, width)
        assert not overflows(page)
