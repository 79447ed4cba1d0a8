"""One campaign on two hosts behind one proxy, from submission to board; one host is lost.

`python -m tests.deploy.walk FOLDER` plays it on the servers that the environment names,
and prints what was found.
"""

import json
import sys
import time
import urllib.request
from pathlib import Path

from redis import Redis

from tests.crash.kills import PORT, STALE_SECONDS, machines, set_up
from tests.deploy.hosts import ROOT
from tests.test_proxies import caddy, free_port

sys.path.insert(0, str(ROOT / "client"))
from genie_client import Client

# What the first host has acknowledged by then, it may have half done.
ANSWERS_BEFORE = 10


def walk(folder: Path) -> dict:
    set_up(folder)
    from django.core.files.storage import default_storage

    from genie.accounts import tokens
    from genie.accounts.models import AccessToken
    from genie.lib import jobs
    from genie.lib.queue.owners import RunningQueue
    from genie.lib.serving.processes import answers
    from tests.crash.people import SLUG, Play, broken, counts, patient

    class Lossy(Play):
        lost = 0.0

        def submit(self, path, owner, name):
            scopes = [AccessToken.Scope.READ, AccessToken.Scope.SUBMIT]
            token = tokens.issue(owner, name="walk", scopes=scopes, days=None)[1]
            client = Client(f"http://{self.hosts[0]}", token)
            return client.submit(SLUG, path, system=name)["id"]

        def turns(self):
            super().turns()
            if not self.lost and len(self.acknowledged()) >= ANSWERS_BEFORE:
                made[0].cut_power()
                self.lost = time.monotonic()

    with machines(folder) as (made, _started):
        port = free_port()
        upstream = " ".join(f"{host.address}:{PORT}" for host in made)
        with caddy(folder, port, upstream) as proxy:
            try:
                people = Lossy([f"127.0.0.1:{port}"], think=0.05)
                people.begin()
                assert answers(f"http://127.0.0.1:{port}/readyz", 300)
                people.round(0)
                published = time.monotonic()
                board = f"http://127.0.0.1:{port}/tasks/{SLUG}/board.json"
                with urllib.request.urlopen(board) as answer:
                    shown = json.load(answer)
                until = time.monotonic() + 3 * STALE_SECONDS
                queues = RunningQueue.objects.values_list("host", flat=True)
                while time.monotonic() < until and (
                    patient(queues.count) > 1 or patient(jobs.n_waiting)
                ):
                    time.sleep(0.2)
            finally:
                proxy.terminate()
        wrong = broken(1, people.acknowledged(), people.treasurer.paid)
        return {
            "ranks": [one["rank_first"] for one in shown["rows"]],
            "broken": {name: n for name, n in wrong.items() if n},
            "queues": list(queues),
            "acknowledged": len(people.acknowledged()),
            "counts": counts(),
            "seconds from the loss to the board": round(published - people.lost),
            "seconds that somebody waited": round(people.longest_wait(), 1),
            "files in the bucket": len(default_storage.listdir("submissions")[0]),
            "keys in the cache": Redis().dbsize(),
        }


if __name__ == "__main__":
    print(json.dumps(walk(Path(sys.argv[1]))))
