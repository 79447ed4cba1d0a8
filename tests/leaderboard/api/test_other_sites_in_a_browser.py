"""A script on a page of another site, in a real browser."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.leaderboard.api.conftest import V1, authorization

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ASK = """([address, options]) => fetch(address, options).then(
  answer => answer.status, error => "refused by the browser")"""


class Elsewhere(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Another site</title>")

    def log_message(self, *args):
        pass


@pytest.fixture
def ask(chromium, live_server):
    context = chromium.new_context()
    page = context.new_page()
    with ThreadingHTTPServer(("localhost", 0), Elsewhere) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page.goto(f"http://localhost:{server.server_port}/")
        yield lambda path, **options: page.evaluate(
            ASK, [live_server.url + path, options]
        )
        server.shutdown()
    context.close()


def test_it_reads_what_is_public_and_nothing_else(ask, task, cast):
    assert ask(f"{V1}/tasks/tidy-news/leaderboard/") == 200
    assert ask(f"{V1}/tasks/none/") == 404
    assert ask("/api/schema/") == 200
    refused = "refused by the browser"
    headers = authorization(cast.submitter)
    assert ask(f"{V1}/tasks/", headers=headers) == refused
    assert ask(f"{V1}/tasks/", credentials="include") == refused
    assert ask(f"{V1}/submissions/validate/", method="POST") == refused
    assert ask("/submissions/") == refused
