import json
from datetime import UTC, datetime, timedelta

import pytest
import requests
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError
from django.apps import apps

from crowd.requester.protocol.errors import TurkError
from crowd.requester.protocol.sigv4 import SignedRequest, verify
from crowd.requester.services import access_keys

TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"
PLACE = "http://127.0.0.1/turk/"


def signed(
    secret="s3cret", body=b"{}", service="mturk-requester", url=PLACE, **headers
):
    request = AWSRequest(
        "POST", url, data=body, headers={"X-Amz-Target": TARGET, **headers}
    )
    SigV4Auth(Credentials("KEY", secret), service, "us-east-1").add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def held(headers, body=b"{}", late=timedelta(), path="/turk/", query="", key="KEY"):
    headers = {"host": "127.0.0.1", **headers}
    return verify(
        SignedRequest("POST", path, query, headers, body),
        lambda name: ["s3cret"] if name == key else [],
        datetime.now(UTC) + late,
    )


def kind_of(call, *args, **fields):
    with pytest.raises(TurkError) as caught:
        call(*args, **fields)
    return caught.value.kind


def test_a_good_signature_names_its_key():
    assert held(signed()) == "KEY"
    url = "http://127.0.0.1/turk/a b/%C3%A9?b=2&a=x%20y&a="
    headers = signed(url="http://127.0.0.1/turk/?b=2&a=x%20y&a=&c%20d=")
    assert held(headers, query="b=2&a=x%20y&a=&c%20d=") == "KEY"
    assert held(signed(url="http://127.0.0.1/a b/"), path="/a b/") == "KEY"
    assert kind_of(held, signed(url=url)) == "InvalidSignatureException"


def test_what_was_changed_or_signed_otherwise_is_refused():
    for change in (
        {"body": b'{"a": 1}'},
        {"path": "/turk"},
        {"query": "a=1"},
        {"late": timedelta(minutes=-15, seconds=-30)},
        {"late": timedelta(minutes=15, seconds=30)},
    ):
        assert kind_of(held, signed(), **change) == "InvalidSignatureException", change
    assert kind_of(held, signed("other")) == "InvalidSignatureException"
    assert kind_of(held, signed(), key="NOT") == "UnrecognizedClientException"
    assert kind_of(held, signed(""), key="NOT") == "UnrecognizedClientException"
    assert kind_of(held, signed(service="s3")) == "InvalidSignatureException"
    headers = {**signed(), "x-amz-target": TARGET.replace("Get", "Set")}
    assert kind_of(held, headers) == "InvalidSignatureException"


def test_no_signature_or_one_without_operation_or_date_is_refused():
    assert kind_of(held, {}) == "MissingAuthenticationTokenException"
    for other in (
        "Basic abc",
        "AWS4-HMAC-SHA256",
        "AWS4-HMAC-SHA256 Credential=KEY/x, SignedHeaders=host, Signature=00",
    ):
        wrong = kind_of(held, {"authorization": other})
        assert wrong == "IncompleteSignatureException", other
    headers = signed()
    headers["authorization"] = headers["authorization"].replace(";x-amz-target", "")
    assert kind_of(held, headers) == "IncompleteSignatureException"
    headers = {**signed(), "x-amz-date": "yesterday"}
    assert kind_of(held, headers) == "IncompleteSignatureException"


def test_a_revoked_key_signs_nothing_any_more(desk, staff):
    assert desk.client.get_account_balance()
    assert access_keys.revoke_key(desk.key, staff)
    assert not access_keys.revoke_key(desk.key, staff)
    with pytest.raises(ClientError) as caught:
        desk.client.get_account_balance()
    error = caught.value.response["Error"]
    assert error["Code"] == "UnrecognizedClientException"


def test_a_key_with_another_keys_secret_opens_nothing(open_desk):
    rita, ravi = open_desk("Rita"), open_desk("Ravi")
    client = rita.connect(rita.key.key_id, ravi.secret)
    with pytest.raises(ClientError, match="InvalidSignature"):
        client.get_account_balance()


def test_the_secret_is_in_no_table(desk):
    stored = [
        str(row)
        for model in apps.get_app_config("crowd").get_models()
        for row in model.objects.values()
    ]
    assert any(desk.key.key_id in row for row in stored)
    assert not any(desk.secret in row for row in stored)


def test_an_unsigned_call_learns_nothing(desk):
    answer = requests.post(
        desk.url, data="{}", headers={"X-Amz-Target": TARGET}, timeout=10
    )
    assert answer.status_code == 400
    assert answer.json()["__type"] == "MissingAuthenticationTokenException"
    assert answer.headers["x-amzn-RequestId"]
    shown = requests.get(desk.url, timeout=10)
    assert (shown.status_code, shown.headers["Allow"]) == (405, "POST")
    assert "access keys" in shown.text
    desk.url = desk.url.rstrip("/")
    bare = desk.connect(desk.key.key_id, desk.secret)
    assert bare.get_account_balance()["AvailableBalance"] == "100.00"


def call_by_hand(desk, target, body):
    headers = {"X-Amz-Target": target, "Content-Type": "application/x-amz-json-1.1"}
    request = AWSRequest("POST", desk.url, data=body, headers=headers)
    who = Credentials(desk.key.key_id, desk.secret)
    SigV4Auth(who, "mturk-requester", "eu-west-3").add_auth(request)
    answer = requests.post(
        desk.url, data=body, headers=dict(request.headers), timeout=10
    )
    return answer.status_code, answer.json()["__type"]


def test_requests_out_of_form_are_refused(desk):
    for target, body, kind in [
        ("MTurkRequesterServiceV20170117.Nothing", "{}", "UnknownOperationException"),
        ("GetAccountBalance", "{}", "UnknownOperationException"),
        (TARGET, "{", "SerializationException"),
        (TARGET, "[" * 100_000, "SerializationException"),
        (TARGET, b"\xff", "SerializationException"),
        (TARGET, "[]", "ParameterValidationError"),
        (TARGET, json.dumps({"More": 1}), "ParameterValidationError"),
    ]:
        assert call_by_hand(desk, target, body) == (400, kind)


def test_a_failure_of_ours_is_a_service_fault(desk, monkeypatch, caplog):
    from crowd.requester.protocol import call

    def broken(*_):
        raise RuntimeError("secret detail")

    monkeypatch.setitem(call.HANDLERS, "GetAccountBalance", broken)
    with pytest.raises(desk.client.exceptions.ServiceFault) as caught:
        desk.client.get_account_balance()
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert "secret detail" not in str(caught.value.response)
    assert "secret detail" in caplog.text
