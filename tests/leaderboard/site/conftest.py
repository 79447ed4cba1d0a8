import re
from html import unescape

import pytest
from django.core.cache import cache as counts
from django.utils.html import strip_tags

from tests.factories import make_task


@pytest.fixture(autouse=True)
def _fresh():
    """Forget what an earlier test asked for: requests are counted."""
    counts.clear()


@pytest.fixture
def task(db):
    return make_task(accepts_submissions=True)


@pytest.fixture
def read():
    def read_(response):
        html = re.sub(
            r"<(head|svg)\b.*?</\1>", " ", response.content.decode(), flags=re.S
        )
        apart = re.sub(r"<(/?(?:p|div|li|t[dh]|h\d|d[dt]|summary)\b)", r" <\1", html)
        return re.sub(r"\s+", " ", unescape(strip_tags(apart))).strip()

    return read_
