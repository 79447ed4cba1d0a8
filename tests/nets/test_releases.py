"""Releases made in November 2026 by code of that time come out of today's code again."""

import pytest

from tests.nets.conftest import FILES
from tests.nets.releases import columns, rebuilt, unpack


# never written anew: a release that was made before a change is the point
@pytest.mark.parametrize("kind", ["people", "conversations"])
def test_a_release_of_before_is_rebuilt(kind, net, tmp_path):
    archive = FILES / "releases" / f"{kind}.zip"
    folder = unpack(archive, tmp_path)
    net(f"releases/{kind}.txt", rebuilt(archive) + columns(folder))
