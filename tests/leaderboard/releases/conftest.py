from __future__ import annotations

import pytest

from tests.cast import (  # noqa: F401
    cast,
    client_of,
    new_staff,
    rival,
    rival_team,
    staff,
    submitter,
    superuser,
    team,
    team_mate,
    worker,
)


@pytest.fixture(autouse=True)
def _one_board(db):
    """Let every test here use the database."""
