"""A real Chromium for tests: every folder has its fixtures.

Every page is watched: a request to somewhere else, an error in the console or a
violation of the Content-Security-Policy fails the test that caused it.
"""

from __future__ import annotations

import os
import shutil
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome")
SLOW = [pytest.mark.browser, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
WIDTHS = {"phone": (360, 740), "tablet": (768, 1024), "desktop": (1440, 900)}


# The browser and what ends it, while tests that want one follow each other: tests/conftest.py.
_open = ExitStack()
_running: list[Browser] = []


@pytest.fixture
def chromium():
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        reason = f"No browser found (looked for {', '.join(NAMES)})."
        if os.environ.get("GENIE_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    if not _running:
        _running.append(_started(path))
    return _running[0]


def _started(path: str) -> Browser:
    from playwright.sync_api import sync_playwright

    # Playwright's loop lives in this thread, and Django would refuse its database.
    patch = _open.enter_context(pytest.MonkeyPatch.context())
    patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    play = _open.enter_context(sync_playwright())
    browser = play.chromium.launch(executable_path=path)
    _open.callback(browser.close)
    return browser


def close() -> None:
    """End the browser, and its loop in this thread, if there is one."""
    _running.clear()
    _open.close()


@pytest.fixture
def open_page(chromium, live_server):
    """Give a function that opens a path of the site, signed in as `user` if given.

    `forgive` names what a console error may say, such as the status of a refusal.
    """
    contexts, troubles = [], []

    def open_(
        path, *, width="desktop", scheme="light", user=None, forgive=None, touch=False
    ):
        size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
        context = chromium.new_context(
            viewport=size, color_scheme=scheme, has_touch=touch, is_mobile=touch
        )
        contexts.append(context)
        if user is not None:
            context.add_cookies([_session(user, live_server.url)])
        page = context.new_page()
        home = urlsplit(live_server.url).netloc
        page.on(
            "request",
            lambda request: (
                troubles.append(f"request to {request.url}")
                if urlsplit(request.url).netloc not in (home, "")
                else None
            ),
        )
        page.on(
            "console",
            lambda message: (
                troubles.append(message.text)
                if message.type == "error" and not (forgive and forgive in message.text)
                else None
            ),
        )
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.goto(live_server.url + path, wait_until="load")
        return page

    yield open_
    for context in contexts:
        context.close()
    assert troubles == []


def _session(user, url):
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": url}


def go(page, path):
    """Open another path of the site in a page: half a second less than a page of its own."""
    page.goto(urljoin(page.url, path), wait_until="load")


def look(page, width, scheme="light"):
    """Show a page that is open at another width, and light or dark."""
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)


LOOKS = [(width, scheme) for width in WIDTHS for scheme in ("light", "dark")]
# What axe reads, which costs most of a look: each scheme once, the narrowest and the widest.
READ = [("phone", "light"), ("desktop", "dark")]


def overflows(page):
    """Tell whether the page scrolls sideways, once it is there as a whole."""
    page.wait_for_load_state()
    return page.evaluate("document.documentElement.scrollWidth > innerWidth + 1")


def picture(page, name):
    """Keep a picture of a page where a folder for them is named."""
    if folder := os.environ.get("GENIE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def seen(page, name):
    """Check a page for every visitor, and keep a picture if asked to."""
    assert violations(page) == []
    assert not overflows(page)
    picture(page, name)


def wait_for_hit(page, n):
    """Wait until the page shows the worker's n-th HIT and hears keys.

    Its words stand there before its script has run, and a key that comes in between is
    nobody's.
    """
    wait_until(
        page,
        "n => document.readyState === 'complete'"
        " && document.querySelector('.standing b')?.textContent === String(n)",
        n,
    )


def wait_until(page, expression, argument=None, seconds=30):
    """Ask from outside until it holds: a page's own policy forbids to evaluate strings.

    A page that is just being left cannot answer; the next one can.
    """
    from playwright.sync_api import Error

    deadline = time.monotonic() + seconds
    while True:
        try:
            if page.evaluate(expression, argument):
                return
        except Error as error:
            if "context was destroyed" not in str(error):
                raise
        assert time.monotonic() < deadline, f"not within {seconds} s: {expression}"
        page.wait_for_timeout(20)


def violations(page):
    """Give what axe finds wrong, one readable line each, once the page is there as a whole."""
    from axe_playwright_python.base import AXE_FILE_PATH

    page.wait_for_load_state()
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_FILE_PATH.read_text("utf-8"))
    found = page.evaluate(
        "axe.run({resultTypes: ['violations']}).then(found => found.violations)"
    )
    return [
        f"{rule['id']}: {node['html'][:160]}"
        for rule in found
        for node in rule["nodes"]
    ]
