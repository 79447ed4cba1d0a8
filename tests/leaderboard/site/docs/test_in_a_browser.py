"""The documentation in a real browser: readable everywhere, and axe is content."""

import pytest

from tests.browser import LOOKS, READ, go, look, overflows, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATHS = (
    "/docs/",
    "/docs/tutorial-submit/",
    "/docs/search/?q=interval",
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
    go(page, "/api/docs/#quota-reached")
    assert page.locator("#quota-reached").is_visible()  # though it is folded
