"""Jobs that the version before has queued are still done, by a cluster and in-process."""

from __future__ import annotations

import pydoc

import pytest
from django.utils.module_loading import import_string

from crowd.requester.services import periodic


@pytest.mark.parametrize("name", ["deliver", "deliver_due", "settle_all"])
def test_jobs_queued_under_their_old_names_are_found(name):
    old = f"crowd.requester_api.periodic.{name}"
    assert pydoc.locate(old) is import_string(old) is getattr(periodic, name)
