from tests.browser import chromium, open_page  # noqa: F401
