import json
import os
import subprocess
import sys

import pytest

from tests.crowd.requester.making import html
from tests.crowd.requester.test_forms_and_tests import FORM, mapped, take_test

PROGRAM = [sys.executable, "-m", "awscli", "--output", "json", "mturk"]
PAGE = "<!doctype html><form><input name='mood'><input type='submit'></form>"


@pytest.fixture
def aws(desk, clients, tmp_path):
    """Run the command line as a requester does, in a process of its own."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "PYTHONPATH": str(clients),
        "AWS_ACCESS_KEY_ID": desk.key.key_id,
        "AWS_SECRET_ACCESS_KEY": desk.secret,
        "AWS_DEFAULT_REGION": "us-east-1",
    }

    def run(command, *words, fails=None):
        done = subprocess.run(
            [*PROGRAM, command, "--endpoint-url", desk.url, *words],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if fails is not None:
            assert done.returncode
            assert fails in done.stderr
            return None
        assert not done.returncode, done.stderr
        return json.loads(done.stdout) if done.stdout.strip() else None

    return run


@pytest.mark.slow
def test_a_batch_from_the_test_to_the_last_cent(aws, desk, wanda, walt, tmp_path):
    (tmp_path / "page.xml").write_text(html(PAGE))
    (tmp_path / "test.xml").write_text(FORM)
    (tmp_path / "key.xml").write_text(mapped(""))
    kind = aws(
        "create-qualification-type",
        *("--name", "Colours", "--description", "Knows colours."),
        *("--qualification-type-status", "Active"),
        *("--test", "file://test.xml", "--test-duration-in-seconds", "600"),
        *("--answer-key", "file://key.xml"),
    )["QualificationType"]["QualificationTypeId"]
    need = {
        "QualificationTypeId": kind,
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [5],
    }
    hit = aws(
        "create-hit",
        *("--title", "Say how it reads", "--description", "Read a sentence."),
        *("--reward", "0.40", "--max-assignments", "2"),
        *("--lifetime-in-seconds", "3600"),
        *("--assignment-duration-in-seconds", "600", "--question", "file://page.xml"),
        *("--qualification-requirements", json.dumps([need])),
    )["HIT"]["HITId"]
    assert wanda.accept(hit) is None
    for one in (wanda, walt):
        take_test(one, kind, sky="blue", all=["cyan", "red"], age="30")
        one.do(hit, mood=f"{one.user.username} & co.")
    # one assignment a page: the command line follows the tokens by itself
    work = aws("list-assignments-for-hit", "--hit-id", hit, "--page-size", "1")
    first, second = work["Assignments"]
    assert "<FreeText>wanda &amp; co.</FreeText>" in first["Answer"]
    aws("approve-assignment", "--assignment-id", first["AssignmentId"])
    aws(
        "reject-assignment",
        *("--assignment-id", second["AssignmentId"], "--requester-feedback", "No."),
    )
    aws(
        "send-bonus",
        *("--worker-id", first["WorkerId"], "--assignment-id", first["AssignmentId"]),
        *("--bonus-amount", "1", "--reason", "Well done"),
    )
    aws(
        "delete-hit",
        *("--hit-id", "3NOSUCHHIT"),
        fails="An error occurred (RequestError) when calling the DeleteHIT operation",
    )
    left = {"AvailableBalance": "98.32", "OnHoldBalance": "0.00"}
    assert aws("get-account-balance") == left
