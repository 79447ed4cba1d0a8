"""The cast of all tests of boards, tasks and systems."""

from pathlib import Path

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
    who,
    worker,
)

WITH_DATABASE = {
    *("admin", "api", "boards", "commands", "evaluation"),
    *("judges", "monitoring", "releases", "site", "studio", "teams"),
}


def pytest_itemcollected(item):
    """Give every test of these folders a database."""
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    if folder in WITH_DATABASE and item.get_closest_marker("django_db") is None:
        item.add_marker("django_db")
