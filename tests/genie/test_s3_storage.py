"""Uploads in a bucket behave like uploads on disk; the bucket is a real HTTP server."""

import gzip
import io
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connections
from django.test import Client
from django_q.conf import Conf
from django_q.models import OrmQ

from genie.lib import jobs
from genie.lib.env import ConfigurationError
from genie.lib.queue.address import queue_options
from genie.lib.storage import media_storage
from leaderboard.models import Instance, Prediction, Submission
from leaderboard.submissions.services import submit
from tests.factories import make_task, make_team, make_user, signed_in
from tests.moto_server import KEYS, client, moto_server

BUCKET = "genie-files"


@pytest.fixture(scope="module")
def s3():
    with moto_server() as address:
        found = client("s3", address)
        found.create_bucket(Bucket=BUCKET)
        yield SimpleNamespace(address=address, client=found)


@pytest.fixture
def bucket(s3, settings, monkeypatch):
    """Keep uploads in an empty bucket, by the very setting that operators use."""
    for name, value in {**KEYS, "AWS_ENDPOINT_URL_S3": s3.address}.items():
        monkeypatch.setenv(name, value)
    for found in s3.client.list_objects_v2(Bucket=BUCKET).get("Contents", []):
        s3.client.delete_object(Bucket=BUCKET, Key=found["Key"])
    settings.STORAGES = {
        **settings.STORAGES,
        "default": media_storage(f"s3://{BUCKET}/lab?region=us-east-1&addressing=path"),
    }
    return s3.client


@pytest.fixture
def task(db):
    return make_task(accepts_submissions=True)


@pytest.fixture
def hand_in(task):
    nina = make_user("nina")
    team = make_team("Team Heron", nina)

    def hand(content, name="predictions.json", system="Kite"):
        return submit.receive(
            task=task,
            owner=nina,
            team=team,
            system_name=system,
            file=io.BytesIO(content),
            file_name=name,
        )

    return hand


def predictions():
    return json.dumps(
        {one.instance_id: f"Über {one.instance_id}" for one in Instance.own}
    ).encode()


def keys(bucket):
    listed = bucket.list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return [found["Key"] for found in listed]


def test_a_submission_is_stored_read_and_handed_back_byte_for_byte(bucket, hand_in):
    content = predictions()
    kite = hand_in(content)
    assert keys(bucket) == [
        f"lab/submissions/{kite.file_sha256[:2]}/{kite.file_sha256}"
    ]
    jobs.drain(lambda: Submission.objects.get(pk=kite.pk).state != "RECEIVED")
    kite.refresh_from_db()
    assert kite.state in {"VALID", "MEASURED"}
    assert kite.predictions.count() == 3

    nina = signed_in(kite.owner)
    response = nina.get(f"/submissions/{kite.pk}/file/")

    assert response.getvalue() == content
    assert response["Content-Disposition"] == 'attachment; filename="predictions.json"'
    assert response["Content-Type"] == "application/octet-stream"
    assert "no-store" in response["Cache-Control"]


def test_a_compressed_file_comes_back_compressed(bucket, hand_in):
    content = gzip.compress(predictions(), mtime=0)
    kite = hand_in(content, name="predictions.json.gz")
    nina = signed_in(kite.owner)
    assert nina.get(f"/submissions/{kite.pk}/file/").getvalue() == content
    jobs.drain(lambda: Submission.objects.get(pk=kite.pk).state != "RECEIVED")
    assert Submission.objects.get(pk=kite.pk).state != "INVALID"


def test_the_same_file_is_one_object(bucket, hand_in):
    first, second = hand_in(predictions()), hand_in(predictions(), system="Rook")
    assert first.file.name == second.file.name
    assert len(keys(bucket)) == 1


def test_two_machines_share_files(transactional_db, s3, bucket, hand_in, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", s3.address)
    options = queue_options("sqs://shared?region=us-east-1")
    monkeypatch.setattr(Conf, "SQS", options["sqs"])
    monkeypatch.setattr(Conf, "BROKER_CLASS", options["broker_class"])
    monkeypatch.setattr(Conf, "CLUSTER_NAME", options["name"])
    pks = [hand_in(predictions(), system=name).pk for name in ("Kite", "Rook", "Tern")]
    assert jobs.n_waiting() == len(pks)
    assert not OrmQ.objects.exists()

    found = Submission.objects.filter(pk__in=pks)

    def measured():
        return found.filter(own_state="MEASURED").count() == len(pks)

    def work(_machine):
        try:
            return jobs.drain(measured)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as machines:
        assert all(machines.map(work, range(2)))
    assert set(found.values_list("own_state", "failure")) == {("MEASURED", "")}
    assert Prediction.own.count() == 3 * len(pks)
    assert len(keys(bucket)) == 1


def test_an_object_that_was_cut_short_is_not_written_over(bucket, hand_in):
    content = predictions()
    first = hand_in(content)
    bucket.put_object(Bucket=BUCKET, Key=keys(bucket)[0], Body=content[:5])
    second = hand_in(content, system="Rook")
    assert first.file.name != second.file.name
    with default_storage.open(second.file.name) as stored:
        assert stored.read() == content


def test_a_missing_object_is_told_in_words_and_is_nobodys_invalid_file(bucket, hand_in):
    kite = hand_in(predictions())
    bucket.delete_object(Bucket=BUCKET, Key=keys(bucket)[0])
    jobs.drain(lambda: bool(Submission.objects.get(pk=kite.pk).failure))
    kite.refresh_from_db()
    assert (kite.state, kite.failed_step) == ("RECEIVED", "validate")
    assert "lost or damaged" in kite.failure
    nina = signed_in(kite.owner)
    assert nina.get(f"/submissions/{kite.pk}/file/").status_code == 404


def test_others_get_neither_the_file_nor_the_object(bucket, hand_in, s3):
    kite = hand_in(predictions())
    rita = signed_in(make_user("rita"))
    assert rita.get(f"/submissions/{kite.pk}/file/").status_code == 404
    assert Client().get(f"/submissions/{kite.pk}/file/").status_code == 404
    acl = bucket.get_object_acl(Bucket=BUCKET, Key=keys(bucket)[0])
    assert [grant["Grantee"]["Type"] for grant in acl["Grants"]] == ["CanonicalUser"]
    name = default_storage.save("notes.txt", ContentFile(b"Only for some."))
    link = default_storage.url(name)
    assert "X-Amz-Signature=" in link
    assert "X-Amz-Expires=60" in link
    with urllib.request.urlopen(link) as response:
        assert response.read() == b"Only for some."


def test_a_bucket_that_is_not_there_is_an_error_and_no_submission(bucket, hand_in):
    for key in keys(bucket):
        bucket.delete_object(Bucket=BUCKET, Key=key)
    bucket.delete_bucket(Bucket=BUCKET)
    try:
        with pytest.raises(Exception, match=r"NoSuchBucket|bucket does not exist"):
            hand_in(predictions())
    finally:
        bucket.create_bucket(Bucket=BUCKET)
    assert not Submission.own.exists()


@pytest.mark.parametrize(
    "address",
    [
        "s3://",
        "s3://Up/x",
        "gs://bucket/x",
        "/var/files",
        "s3://key:secret@bucket/x",
        "s3://bucket/x?secret=1",
        "s3://bucket/x?region=",
        "s3://bucket/x?addressing=odd",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_the_start(address):
    with pytest.raises(ConfigurationError, match="GENIE_STORAGE"):
        media_storage(address)


def test_without_an_address_files_stay_on_disk(settings):
    assert media_storage("") == settings.STORAGES["default"]
