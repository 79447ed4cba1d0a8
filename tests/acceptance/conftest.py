"""Others' programs for Mechanical Turk with only the endpoint changed, and libraries."""

import os
import sys
from pathlib import Path

import pytest

from tests.crowd.requester.conftest import (
    desk,  # noqa: F401
    open_desk,  # noqa: F401
    staff,  # noqa: F401
)
from tests.crowd.requester.on_site import OnSite

CLIENTS = Path(__file__).resolve().parents[2] / ".venv" / "acceptance"


@pytest.fixture(scope="session")
def clients():
    """Give the folder in which `make setup` installs them."""
    if not (CLIENTS / "awscli").is_dir():
        reason = "The programs of others are not installed; `make setup` does it."
        if os.environ.get("GENIE_REQUIRE_CLIENTS") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return CLIENTS


@pytest.fixture
def importable(clients, monkeypatch):
    """Let their packages be found, after ours, for one test."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path, str(clients)])
    yield clients
    for name in set(sys.modules) - before:
        if name.split(".")[0] in {"psiturk", "dallinger", "mlcroissant"}:
            del sys.modules[name]


@pytest.fixture
def wanda(transactional_db):
    """A worker who answers through the worker site's pages."""
    return OnSite()


@pytest.fixture
def walt(transactional_db):
    return OnSite("walt")
