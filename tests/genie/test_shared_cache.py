"""One cache for several machines: limits and kept pages in the site's database."""

import shutil
import socket
import subprocess
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.cache import CacheHandler
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal

from crowd.requester import api
from crowd.requester.protocol.errors import TurkError
from genie.lib.database import unavailable
from genie.lib.env import ConfigurationError
from genie.lib.serving import cache_address
from genie.lib.serving.cache_address import caches
from genie.lib.serving.caches import computed, computed_once


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None or find_spec("redis") is None:
        pytest.skip("There is no Redis server here, or not the package redis.")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("redis")
    command = [program, "--port", str(port), "--save", "", "--dir", folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert any("ready to accept" in line.lower() for line in running.stdout)
            yield f"redis://127.0.0.1:{port}"
        finally:
            running.kill()


def test_a_server_that_is_away_is_no_fault_of_the_site(server, settings, tmp_path):
    settings.CACHES = caches("redis://127.0.0.1:9", tmp_path, "1")
    with pytest.raises(Exception, match="refused") as raised:
        computed.get("page")
    assert unavailable(raised.value)


@pytest.fixture(params=["database", "server"])
def address(request):
    if request.param == "database":
        return request.param
    return request.getfixturevalue(request.param)


@pytest.fixture
def elsewhere(settings, tmp_path, db, address):
    settings.CACHES = caches(address, tmp_path / "here", "1")
    if address == "database":
        emit_post_migrate_signal(verbosity=0, interactive=False, db="default")
        call_command("createcachetable", verbosity=0)  # they are there
    return CacheHandler(caches(address, tmp_path / "elsewhere", "1"))


@pytest.mark.every_engine
def test_two_machines_count_together(elsewhere, monkeypatch):
    monkeypatch.setattr(api, "CALLS", 2)
    monkeypatch.setattr(api, "time", SimpleNamespace(time=lambda: 1e9))
    requester = SimpleNamespace(pk=7)
    api.count(requester)
    monkeypatch.setattr(api, "cache", elsewhere["default"])
    api.count(requester)
    with pytest.raises(TurkError):
        api.count(requester)


@pytest.mark.every_engine
def test_what_a_machine_computed_its_version_shows(elsewhere, tmp_path, address):
    computed.set("page", "<p>Kite</p>", 60)
    assert elsewhere["computed"].get("page") == "<p>Kite</p>"
    assert elsewhere["shared"].get("page") is None
    newer = CacheHandler(caches(address, tmp_path, "2"))
    assert newer["computed"].get("page") is None
    # a new version does not forget who asked too often
    elsewhere["default"].set("count", 3, 60)
    assert newer["default"].get("count") == 3
    assert computed_once("slow", lambda: "made here", 60) == "made here"
    assert computed_once("slow", lambda: "made again", 60) == "made here"


def test_a_server_is_named_by_its_address(monkeypatch):
    monkeypatch.setattr(cache_address, "find_spec", lambda name: name)
    made = caches("valkey://cache.example:6379/1", Path(), "1")
    assert {one["LOCATION"] for one in made.values()} == {
        "redis://cache.example:6379/1"
    }
    assert len({one["KEY_PREFIX"] for one in made.values()}) == 3
    monkeypatch.setattr(cache_address, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="needs the package redis"):
        caches("rediss://cache.example", Path(), "1")


@pytest.mark.parametrize("address", ["memcached://cache.example", "redis://", "yes"])
def test_other_addresses_are_refused(address):
    with pytest.raises(ConfigurationError, match="GENIE_CACHE must be"):
        caches(address, Path(), "1")
