"""The material beside the repository, for the tests that use it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(
    os.environ.get("GENIE_SHARED")
    or Path(__file__).resolve().parent.parent.parent / "shared"
)


def needs_shared(test):
    """Mark a test that reads ../shared and skip it where that is not there."""
    skip = pytest.mark.skipif(
        not (SHARED / "data").is_dir(), reason="../shared is not here"
    )
    return pytest.mark.shared(skip(test))
