from __future__ import annotations

import pytest

from tests.browser import chromium, open_page  # noqa: F401


@pytest.fixture(autouse=True)
def _static_root(settings, tmp_path):
    settings.STATIC_ROOT = tmp_path  # nothing is collected; it only has to exist
