"""A file is checked on the site without being handed in."""

import json
import time

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from genie.lib.serving.one_at_a_time import one_at_a_time
from leaderboard.models import Prediction, Submission

CHECK = "/tasks/tidy-news/check/"


@pytest.fixture(autouse=True)
def _no_checks_before():
    cache.clear()


def sent(client, content, name="kite.json", **headers):
    file = SimpleUploadedFile(name, content)
    return client.post(CHECK, {"file": file}, headers=headers)


def test_a_good_file_is_called_good_and_leaves_nothing(client, task, read):
    content = json.dumps({f"i{n}": "text" for n in range(3)}).encode()

    said = read(sent(client, content))

    assert "This file can be submitted." in said
    assert Submission.own.count() == Prediction.own.count() == 0


def test_the_page_warns_of_what_a_submission_would_be_warned_of(client, task, read):
    fine = {f"i{n}": f"A text about number {n}." for n in range(3)}
    said = read(sent(client, json.dumps({**fine, "i1": ""}).encode()))
    assert "This file can be submitted." in said
    assert "1 prediction is empty" in said
    assert "is empty" not in read(sent(client, json.dumps(fine).encode()))


def test_a_bad_file_is_told_line_and_id(client, task, read):
    said = read(sent(client, b'{"i0": "a"}\n{"i1": 3}', "kite.jsonl"))

    assert "This file cannot be used yet." in said
    assert sent(client, b"").status_code == 200
    assert "cannot be used" in read(sent(client, b""))


def test_hostile_names_and_ids_stay_text(client, task):
    html = sent(client, b'{"<script>x": "a"}', "<b>.json").content.decode()
    assert "<script>x" not in html
    assert "<b>.json" not in html


def test_programs_need_no_cookie_and_get_json(task):
    client = Client(enforce_csrf_checks=True)
    answer = sent(client, b'{"i0": "a"}', accept="application/json")
    assert answer["Content-Type"] == "application/json"
    found = answer.json()
    assert (found["valid"], found["n_instances"]) == (False, 3)
    empty = client.post(CHECK, headers={"accept": "application/json"})
    assert empty.status_code == 400


def test_a_file_too_large_is_refused_before_parsing(client, task, monkeypatch, read):
    monkeypatch.setattr(
        "leaderboard.submissions.services.check_file.MOST_BYTES", 1 << 20
    )
    large = {"data": b"x" * (3 << 20), "content_type": "text/plain"}
    answer = client.post(CHECK, **large)
    assert answer.status_code == 413
    assert "also applies after decompression" in read(answer)
    assert "gzip" not in read(answer)
    assert "the limit is 1 MB" in read(answer)
    answer = client.post(CHECK, **large, headers={"accept": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["code"] == "file-too-large"


def test_the_sample_has_every_id_and_can_be_checked(client, task, read):
    sample = client.get("/tasks/tidy-news/sample.json").content
    assert list(json.loads(sample)) == ["i0", "i1", "i2"]
    assert "can be submitted" in read(sent(client, sample))
    assert b"Reference" not in sample


COSTLY = {  # made when asked for: 20 MB
    "unknown ids": lambda: (
        b"{%b}" % b",".join(b'"%07d":""' % n for n in range(500_000))
    ),
    "empty lists": lambda: b'{"i0":[' + b"[]," * 2_000_000 + b"0]}",
    "repeated ids": lambda: b"{" + b'"a":"",' * 900_000 + b'"a":""}',
}


@pytest.mark.parametrize("kind", COSTLY)
@pytest.mark.bounded
def test_a_costly_file_is_given_up_after_a_second(client, task, read, kind):
    content = COSTLY[kind]()
    start = time.process_time()
    answer = sent(client, content, accept="application/json")
    assert time.process_time() - start < 1  # in this process; the child has its limit
    assert answer.status_code == 200
    (problem,) = answer.json()["problems"]
    assert problem["code"] == "check-too-costly"
    assert "takes more time or memory" in read(sent(client, content))


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_strangers_have_one_check_at_a_time(client, task, accept):
    with one_at_a_time("check-by-strangers"):
        answer = sent(client, b"{}", accept=accept)
    assert answer.status_code == 429
    assert answer["Retry-After"] == "3"
    assert "Another file is being checked right now." in answer.content.decode()
    assert sent(client, b"{}", accept=accept).status_code == 200


def test_strangers_do_not_keep_accounts_from_checking(client_of, task):
    with one_at_a_time("check-by-strangers"):
        assert sent(client_of("submitter"), b"{}").status_code == 200


def test_an_address_has_thirty_checks_an_hour(client, task, monkeypatch):
    monkeypatch.setattr("genie.accounts.throttles.CheckThrottle.rate", "2/hour")
    assert [sent(client, b"{}").status_code for _ in range(3)] == [200, 200, 429]
    refused = sent(client, b"{}", accept="application/json")
    assert 3_500 < int(refused["Retry-After"]) <= 3_600
    assert "hourly limit of file checks" in refused.json()["detail"]
    elsewhere = {"REMOTE_ADDR": "192.0.2.7"}
    file = SimpleUploadedFile("p.json", b"{}")
    assert client.post(CHECK, {"file": file}, **elsewhere).status_code == 200
    assert client.get(CHECK).status_code == 200  # the form itself is not counted


@pytest.mark.parametrize(
    ("addresses", "expected"),
    [
        (("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"), [200, 429, 200]),
        (("::ffff:192.0.2.7", "::ffff:192.0.2.8", "192.0.2.7"), [200, 200, 429]),
    ],
    ids=["neighbours in IPv6", "IPv4 spelt as IPv6"],
)
def test_only_neighbours_in_ipv6_count_as_one(client, monkeypatch, addresses, expected, task):  # fmt: skip
    monkeypatch.setattr("genie.accounts.throttles.CheckThrottle.rate", "1/hour")
    statuses = [
        client.post(
            CHECK, {"file": SimpleUploadedFile("p.json", b"{}")}, REMOTE_ADDR=address
        ).status_code
        for address in addresses
    ]
    assert statuses == expected
