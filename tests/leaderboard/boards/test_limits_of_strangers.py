"""Slow uploads hold no lock, and costly addresses have the limit of files."""

from io import BytesIO

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import RequestFactory
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from genie.accounts.throttles import FileThrottle
from genie.lib.serving.one_at_a_time import one_at_a_time
from leaderboard.api.base import ReadsOfVisitors
from leaderboard.submissions.views import check_file
from leaderboard.table_stats.rank_audit.api import RankAudit
from tests.each import each
from tests.factories import make_task

BOARD = "/tasks/tidy-news/"


@pytest.fixture(autouse=True)
def _fresh():
    caches["default"].clear()
    yield
    caches["default"].clear()


class Slow(BytesIO):
    """A body that comes slowly: whenever it is read, it is noted who holds the lock."""

    def __init__(self, body, lock):
        super().__init__(body)
        self.lock, self.was_free = lock, []

    def read(self, *size):
        with one_at_a_time(self.lock) as free:
            self.was_free.append(free)
        return super().read(*size)


@pytest.mark.parametrize(
    ("view", "lock", "words"),
    [
        (check_file, "check-by-strangers", {"slug": "tidy-news"}),
        (RankAudit.as_view(), "rank-audit", {}),
    ],
)
def test_a_slow_upload_holds_no_lock(view, lock, words):
    make_task()
    file = SimpleUploadedFile("p.json", b'{"i0": "a"}')
    body = Slow(encode_multipart(BOUNDARY, {"file": file}), lock)
    request = RequestFactory().generic(
        "POST",
        "/",
        CONTENT_TYPE=MULTIPART_CONTENT,
        CONTENT_LENGTH=str(len(body.getvalue())),
        **{"wsgi.input": body},
    )
    request.user = AnonymousUser()
    request._dont_enforce_csrf_checks = True
    assert view(request, **words).status_code in {200, 400}
    assert body.was_free
    assert all(body.was_free)


@each(
    "path",
    [
        *(f"board.{form}" for form in ("csv", "md", "svg", "png")),
        *("every-eval-ever.json", "card.png", "at/20200101T000000Z/"),
        "side-by-side/",
    ],
)
def test_costly_addresses_have_the_limit_of_files(client, monkeypatch, path):
    make_task()
    monkeypatch.setattr(FileThrottle, "rate", "2/hour")
    statuses = [client.get(f"{BOARD}{path}").status_code for _ in range(3)]
    assert statuses[0] == statuses[1] != 429
    assert statuses[2] == 429
    # a network has one limit, and another network its own
    for address, expected in [("192.0.2.7", 2), ("2001:db8:0:1::1", 2)]:
        found = [
            client.get(f"{BOARD}{path}", REMOTE_ADDR=address).status_code != 429
            for _ in range(3)
        ]
        assert sum(found) == expected
    neighbor = client.get(f"{BOARD}{path}", REMOTE_ADDR="2001:db8:0:1::2")
    assert neighbor.status_code == 429
    assert int(neighbor["Retry-After"]) > 0
    assert client.get(BOARD).status_code == 200


def test_reading_without_a_token_counts_a_network_as_one(client, monkeypatch):
    monkeypatch.setattr(ReadsOfVisitors, "rate", "1/hour", raising=False)
    statuses = [
        client.get("/api/v1/tasks/", REMOTE_ADDR=address).status_code
        for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1", "192.0.2.1")
    ]
    assert statuses == [200, 429, 200, 200]
