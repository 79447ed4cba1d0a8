from __future__ import annotations

import pytest

from tests.factories import (
    make_evaluation,
    make_submission,
    make_task,
    make_team,
    make_user,
)
from tests.nets.conftest import net  # noqa: F401
from tests.quality.making import TASK


@pytest.fixture
def ada(db):
    return make_user("ada", is_staff=True, is_superuser=True)


@pytest.fixture
def task(db):
    return make_task(TASK)


@pytest.fixture
def campaign(task):
    nina = make_user("nina")
    submission = make_submission(
        task, team=make_team("Heron", nina), owner=nina, state="ANNOTATING"
    )
    return make_evaluation(submission).campaign


@pytest.fixture
def genies_detector(settings):
    settings.GENIE = {**settings.GENIE, "DETECTOR": "rate-guarded-2"}
