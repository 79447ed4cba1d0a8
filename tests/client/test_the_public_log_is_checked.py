"""The client keeps a head of the public log, and finds out when a site rewrites it."""

import json

import pytest

from genie.history import log, merkle
from genie.history.models import LogEntry, LogHead
from leaderboard.site.api import public_log
from tests.client.conftest import CLIENT

assert CLIENT.exists()  # its conftest puts it on the path
pytestmark = pytest.mark.django_db(transaction=True)


def write(n):
    log.append_all(log.Kind.RELEASE, [(i, {"task": f"task {i}"}) for i in range(n)])
    log.number()


def test_a_log_that_grows_is_followed_and_one_that_is_rewritten_is_found(run, tmp_path):
    kept = tmp_path / "head.json"
    write(3)
    code, said, _ = run("log", "--keep", kept, token=None)
    assert (code, json.loads(kept.read_text())["size"]) == (0, 3)
    assert said.startswith(f"3 entries, root {log.head().root}")
    write(4)
    assert run("log", "--keep", kept)[0] == 0
    assert json.loads(kept.read_text())["root"] == log.head().root
    assert "task 1" in run("log", "--entry", 1)[1]
    found = json.loads(run("--json", "log", "--entry", 6)[1])
    assert json.loads(found["data"]) == {"task": "task 3"}
    for number in (-1, 7):
        code, _, told = run("log", f"--entry={number}")
        assert code == 1
        assert f"no entry {number}. It has 7 entries" in told

    # somebody writes all of it anew, with another beginning
    before = kept.read_text()
    LogEntry.objects.all().delete()
    LogHead.objects.all().delete()
    write(2)
    for n in (0, 5, 9):  # shorter than what was kept, as long, longer
        write(n)
        code, _, told = run("log", "--keep", kept)
        assert (code, kept.read_text()) == (1, before)
        assert "The site has rewritten its public log" in told


def test_a_file_without_a_head_is_refused_and_left_alone(run, tmp_path):
    kept = tmp_path / "head.json"
    kept.write_text("[]")
    code, _, told = run("log", "--keep", kept)
    assert (code, kept.read_text()) == (1, "[]")
    assert "does not contain the head" in told
    assert "does not contain the head" in run("log", "--keep", tmp_path)[2]


def test_only_what_was_hashed_of_the_entry_asked_for_is_shown(run, monkeypatch):
    write(2)
    shown = public_log.open_entries

    monkeypatch.setattr(
        public_log,
        "open_entries",
        lambda rows: [{**one, "kind": "ban"} for one in shown(rows)],
    )
    assert "release: " in run("log", "--entry", 1)[1]
    first = LogEntry.objects.get(number=0)
    monkeypatch.setattr(LogEntry.objects, "get", lambda **_: first)
    code, _, told = run("log", "--entry", 1)
    assert (code, "Asked for entry 1" in told) == (1, True)


def test_its_proofs_are_checked_as_ours_are():
    from genie_client.log import check_continues, check_entry
    from genie_client.problem import Problem

    nodes = {}

    def node(level, place):
        return nodes[level, place]

    for i in range(20):
        hashes = merkle.completed_hashes(node, i, merkle.leaf_hash(str(i).encode()))
        nodes.update({(k, i >> k): one for k, one in enumerate(hashes)})
    heads = [{"size": n, "root": merkle.root(node, n).hex()} for n in range(21)]
    for size in range(1, 21):
        for n in range(size):
            path = [one.hex() for one in merkle.consistency(node, n, size)]
            check_continues(heads[n], {**heads[size], "consistency": path})
            proof = [one.hex() for one in merkle.inclusion(node, n, size)]
            entry = {"number": n, "body": str(n), "data": None, "inclusion": proof}
            check_entry({**entry, "head": heads[size]})
            with pytest.raises(Problem):
                check_entry({**entry, "body": "x", "head": heads[size]})
            with pytest.raises(Problem):
                check_continues({**heads[n], "root": "00" * 32},
                                {**heads[size], "consistency": path})  # fmt: skip
