"""The menu that passes a board on, in a real browser."""

import pytest

from tests.browser import look, overflows, violations
from tests.factories import make_ranked

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BOARD = "/tasks/tidy-news/"


@pytest.fixture
def board(task, cast, settings, live_server):
    settings.GENIE = {**settings.GENIE, "SITE_URL": live_server.url}
    who = {"team": cast.team, "owner": cast.submitter}
    make_ranked(task, 80, system="Kite", **who)
    make_ranked(task, 70, system="Robot", simulated=True, **who)


def test_the_menu_copies_a_board_as_latex(open_page, board):
    page = open_page(BOARD)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("details.share summary")
    page.click("button[aria-label='Copy as LaTeX']")
    page.wait_for_function(
        "navigator.clipboard.readText().then((t) => t.includes('tabular'))"
    )
    assert violations(page) == []
    look(page, "phone", "dark")
    assert not overflows(page)
