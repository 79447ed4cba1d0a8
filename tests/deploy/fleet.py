"""Two hosts that share PostgreSQL, Redis and S3: `make test-deploy` runs this."""

import json
import os
import subprocess
import sys
import time

import psycopg
import pytest

from tests.crash import kills
from tests.deploy.hosts import ROOT, engines, hosts, is_apart
from tests.shared import own_database

pytestmark = pytest.mark.skipif(
    not is_apart(), reason="needs root, iproute2 and `unshare --net`: make test-deploy"
)


@pytest.fixture(scope="module", autouse=True)
def servers(tmp_path_factory):
    before = dict(os.environ)
    with engines(tmp_path_factory.mktemp("engines")) as database:
        yield database
    os.environ.clear()
    os.environ.update(before)


def test_a_campaign_reaches_the_board_though_a_host_loses_power(tmp_path):
    with own_database("walk") as database:
        words = [sys.executable, "-m", "tests.deploy.walk", str(tmp_path)]
        env = {**os.environ, "DATABASE_URL": database}
        done = subprocess.run(words, cwd=ROOT, env=env, stdout=subprocess.PIPE)
    logs = [path.read_text()[-2000:] for path in tmp_path.glob("*/*.log")]
    assert done.returncode == 0, "\n".join(logs)
    found = json.loads(done.stdout)
    print(found)
    assert found.pop("broken") == {}
    assert found["ranks"] == [1]
    assert found["queues"] == ["host-2"]
    assert found["counts"]["answers stored"] >= found["acknowledged"] > 10
    assert found["files in the bucket"] == 1 <= found["keys in the cache"]
    # the proxy gives up a request under way, and the person sends it again
    assert found["seconds that somebody waited"] < 18


@pytest.mark.parametrize(
    "then", ["import time; time.sleep(3600)", "cursor.execute('select pg_sleep(3600)')"]
)
def test_a_host_without_power_keeps_no_lock(servers, tmp_path, then):
    hold = (
        "from django.db import connection, transaction\n"
        "with transaction.atomic(), connection.cursor() as cursor:\n"
        "    cursor.execute('lock table auth_group'); print('holds', flush=True)\n"
        f"    {then}"
    )
    with own_database("locks") as address, hosts(1, tmp_path) as [host]:
        env = host.environment(address) | {"DJANGO_SETTINGS_MODULE": "genie.settings"}
        words = [*host.inside, sys.executable, "manage.py", "shell", "-c", hold]
        with subprocess.Popen(
            words, cwd=ROOT, env=env, stdout=subprocess.PIPE
        ) as holder:
            assert any(b"holds" in line for line in holder.stdout)
            host.cut_power()
            began = time.monotonic()
            with psycopg.connect(address, autocommit=True) as other:
                other.execute("set lock_timeout = '60s'")
                with other.transaction():
                    other.execute("lock table auth_group")
        print(f"{time.monotonic() - began:.0f} s")


def test_kill_9_of_every_kind_of_process_loses_and_doubles_nothing():
    n = int(os.environ.get("KILLS", len(kills.KINDS)))
    loud, quiet = kills.both(
        n, rounds=1, seed=int(os.environ.get("SEED", "1")), pause=2
    )
    print(loud["killed"], loud["counts"])
    assert set(loud["killed"]) == set(kills.KINDS)
    assert loud["counts"]["answers acknowledged"] > 0
    assert loud["counts"]["payouts made"] > 0
    assert {name for name, n in kills.compare(loud, quiet).items() if n} == set()
