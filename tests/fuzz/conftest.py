from __future__ import annotations

from tests.leaderboard.api.conftest import (  # noqa: F401
    cast,
    fresh_throttles,
    new_staff,
    rival,
    rival_team,
    staff,
    submitter,
    superuser,
    task,
    team,
    team_mate,
    worker,
)
