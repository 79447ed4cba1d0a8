"""Refusals with their codes."""

from contextlib import contextmanager

import pytest

from genie.lib.errors import GenieError


@contextmanager
def refusal(code, match=None):
    """Check that what is done within is refused with this code."""
    with pytest.raises(GenieError, match=match) as refused:
        yield refused
    assert refused.value.code == code
