"""A board in somebody else's page, and the menu that leads there, in a real browser."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.browser import go, look, overflows, violations
from tests.factories import make_ranked

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
BOARD = "/tasks/tidy-news/"


@pytest.fixture
def board(task, cast, settings, live_server):
    settings.GENIE = {**settings.GENIE, "SITE_URL": live_server.url}
    who = {"team": cast.team, "owner": cast.submitter}
    make_ranked(task, 80, system="Kite", **who)
    make_ranked(task, 70, system="Robot", simulated=True, **who)


@contextmanager
def elsewhere(body):
    """Serve a page from another port, which is another origin."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_what_the_menu_copies_shows_the_board_in_a_page_elsewhere(
    open_page, chromium, board, live_server
):
    page = open_page(BOARD)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("details.share summary")
    page.click("button[aria-label='Copy the code to embed']")
    page.wait_for_selector("button.copy >> text=Copied")
    code = page.evaluate("navigator.clipboard.readText()")
    page.click("button[aria-label='Copy as LaTeX']")
    page.wait_for_function(
        "navigator.clipboard.readText().then((t) => t.includes('tabular'))"
    )
    assert violations(page) == []
    look(page, "phone", "dark")
    assert not overflows(page)
    for width, scheme in (("phone", "light"), ("desktop", "dark")):
        look(page, width, scheme)
        go(page, f"{BOARD}embed/")
        assert violations(page) == []
        assert not overflows(page)

    context = chromium.new_context()
    closed = f'<iframe src="{live_server.url}{BOARD}"></iframe>'
    with elsewhere(f"<!doctype html>{code}{closed}") as address:
        other = context.new_page()
        other.goto(address, wait_until="load")
        systems = other.frame_locator("iframe >> nth=0").locator("th[scope=row]")
        systems.last.wait_for(timeout=10_000)
        assert systems.all_inner_texts() == ["Kite", "Robot simulated"]
        assert other.frame_locator("iframe >> nth=1").locator("table").count() == 0
        assert context.cookies() == []
        context.close()
