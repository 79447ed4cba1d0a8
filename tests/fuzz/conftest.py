from tests.cast import (  # noqa: F401
    cast,
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
from tests.leaderboard.api.conftest import fresh_throttles, task  # noqa: F401
