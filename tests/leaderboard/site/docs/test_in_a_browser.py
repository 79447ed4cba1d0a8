"""The documentation in a real browser: readable everywhere, and axe is content."""

from __future__ import annotations

import pytest

from tests.browser import LOOKS, READ, go, look, overflows, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATHS = (
    "/docs/",
    "/docs/for-staff/",
    "/docs/tutorial-submit/",
    "/docs/search/?q=interval",
    "/docs/tasks/wmt21-de-en/",
    "/api/docs/",
    "/api/docs/submissions/",
)


def test_pages_of_the_documentation_are_readable_on_every_screen(open_page):
    page = open_page("/docs/")
    for path in PATHS:
        go(page, path)
        page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        for width, scheme in LOOKS:
            look(page, width, scheme)
            assert not overflows(page), (path, width)
            if (width, scheme) in READ:
                assert violations(page) == [], (path, width, scheme)


def test_a_code_in_the_address_opens_what_is_folded(open_page):
    page = open_page("/api/docs/#quota-reached")
    assert page.locator("#quota-reached").is_visible()
