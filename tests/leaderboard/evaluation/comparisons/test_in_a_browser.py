"""The pages about several systems in a real browser: on a phone, in the dark, by key."""

import os
from pathlib import Path

import pytest

from leaderboard.evaluation.services import comparison, joint
from leaderboard.models import Comparison, HumanEvaluation
from tests.browser import READ, go, look, overflows, violations
from tests.leaderboard.evaluation.steps import send_out, settle

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
]
SCREENSHOTS = os.environ.get("GENIE_SCREENSHOTS")


@pytest.fixture
def pages(right, wrong, level, boss, ask, finish, crowd):
    decided = finish(ask(right, wrong, max_pairs=30))
    scored = joint.request(
        [wrong, right, level[0]], by=boss, n_instances=6, n_workers=2
    )
    send_out(scored, boss)
    for _ in range(3):
        crowd.work()
        settle()
    running = ask(level[0], level[1], delta=0.001, max_pairs=30)
    for _ in range(9):
        crowd.do_hit(crowd.players[0])
    settle()
    waiting = comparison.request(
        right, level[1], comparison.Question("overall"), by=boss
    )
    broken = comparison.request(
        wrong, level[1], comparison.Question("overall"), by=boss
    )
    HumanEvaluation.objects.filter(pk=broken.evaluation_id).update(
        state="APPROVED", failure="No instance has a reference.", failure_permanent=True
    )
    return {
        "comparisons": "/tasks/demo-qa/pairs/",
        "ask": "/tasks/demo-qa/compare/",
        "ask-joint": "/tasks/demo-qa/side-by-side/",
        "decided": f"/comparisons/{decided.pk}/",
        "running": f"/comparisons/{running.pk}/",
        "waiting": f"/comparisons/{waiting.pk}/",
        "broken": f"/comparisons/{broken.pk}/",
        "joint": f"/joint-evaluations/{scored.pk}/",
    }


def test_every_page_fits_reads_and_can_be_asked_by_keyboard(
    open_page, pages, boss, right, wrong
):
    page = open_page("/", user=boss)
    for name, path in pages.items():
        go(page, path)
        for width, scheme in READ:
            look(page, width, scheme)
            if SCREENSHOTS:
                target = Path(SCREENSHOTS) / f"several-{name}-{width}-{scheme}.png"
                page.screenshot(path=target, full_page=True)
            assert violations(page) == [], (name, width)
            assert not overflows(page), (name, width)
    _ask_by_keyboard(open_page(pages["ask"], user=boss), right, wrong)


def _ask_by_keyboard(page, *systems):
    """Choose two systems and send, without a mouse."""
    n = Comparison.objects.count()
    wanted = dict(zip("ab", systems, strict=True))
    for _ in range(60):
        page.keyboard.press("Tab")
        kind, name = page.evaluate(
            "() => [document.activeElement.type, document.activeElement.name]"
        )
        if name in wanted:
            page.keyboard.type(wanted.pop(name).system_name)
        if not wanted and kind == "submit":
            break
    assert not wanted
    page.keyboard.press("Enter")
    page.wait_for_url("**/comparisons/*/")
    assert Comparison.objects.count() == n + 1
    assert "Waiting for staff" in page.inner_text("main")
