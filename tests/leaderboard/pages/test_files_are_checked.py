"""A file is checked on the site without being handed in."""

from __future__ import annotations

import json

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.models import Prediction, Submission

CHECK = "/tasks/tidy-news/check/"


def sent(client, content, name="kite.json", **headers):
    file = SimpleUploadedFile(name, content)
    return client.post(CHECK, {"file": file}, headers=headers)


def test_a_good_file_is_called_good_and_leaves_nothing(client, task, read):
    content = json.dumps({f"i{n}": "text" for n in range(3)}).encode()

    said = read(sent(client, content))

    assert "This file can be handed in." in said
    assert Submission.objects.count() == Prediction.objects.count() == 0


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


def test_a_file_that_is_too_large_is_refused_before_it_is_parsed(
    client, task, monkeypatch, read
):
    monkeypatch.setattr("leaderboard.views.check_file.MOST_BYTES", 1 << 20)
    large = {"data": b"x" * (3 << 20), "content_type": "text/plain"}
    answer = client.post(CHECK, **large)
    assert answer.status_code == 413
    assert "1 MB is the most that is taken" in read(answer)
    answer = client.post(CHECK, **large, headers={"accept": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["code"] == "file-too-large"


def test_the_sample_has_every_id_and_can_be_checked(client, task, read):
    sample = client.get("/tasks/tidy-news/sample.json").content
    assert list(json.loads(sample)) == ["i0", "i1", "i2"]
    assert "can be handed in" in read(sent(client, sample))
    assert b"Reference" not in sample
