"""The cast of all tests of boards, tasks and systems."""

from pathlib import Path

import pytest
from django.apps import apps

from tests.nets.conftest import net, stored, tell, texts_are_as_committed  # noqa: F401

WITH_DATABASE = {
    *("admin", "api", "boards", "commands", "evaluation"),
    *("judges", "monitoring", "releases", "site", "studio", "teams"),
}
# Folders of tests whose rows are compared at their end.
STORED = {
    "evaluation/hidden": "quality.TestQuestion quality.TestCheck",
    "evaluation/comparisons": "leaderboard.ComparedPair",
    "judges": "leaderboard.JudgeRun",
}


@pytest.fixture(autouse=True)
def _rows_are_as_committed(request, texts_are_as_committed):  # noqa: F811
    folder = str(request.path.parent.relative_to(Path(__file__).parent))
    has_rows = request.node.get_closest_marker("django_db") is not None
    if folder not in STORED or not has_rows:
        yield
        return
    request.getfixturevalue("_django_db_helper")
    yield
    if rows := stored(*map(apps.get_model, STORED[folder].split())).strip():
        tell(rows)


def pytest_itemcollected(item):
    folder = item.path.relative_to(Path(__file__).parent).parts[0]
    if folder in WITH_DATABASE and item.get_closest_marker("django_db") is None:
        item.add_marker("django_db")
