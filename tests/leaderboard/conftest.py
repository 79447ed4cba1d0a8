"""The cast of all tests of boards, tasks and systems."""

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
