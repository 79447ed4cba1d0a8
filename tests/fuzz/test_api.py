"""Programs that send anything: never a 500, never an answer that the schema lacks."""

import hypothesis
import pytest
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction

from leaderboard.api.base import SubmitThrottle
from tests.factories import (
    answer,
    make_evaluation,
    make_ranked,
    make_score,
    make_submission,
    make_worker,
)
from tests.fuzz.changes import LONG, examples
from tests.leaderboard.api.conftest import authorization, schema

schemathesis = pytest.importorskip("schemathesis")
checks = pytest.importorskip("schemathesis.specs.openapi.checks")
pytestmark = [pytest.mark.django_db, pytest.mark.slow]

CHECKS = [
    schemathesis.checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
# The request that failed says enough; making it smaller would ask for hundreds more.
PHASES = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
EXAMPLES = hypothesis.settings(examples(12), phases=PHASES)
SEQUENCES = hypothesis.settings(
    examples(10), phases=PHASES, stateful_step_count=30 if LONG else 8
)


@pytest.fixture
def real(cast, task, monkeypatch):
    """Something to find behind each address, so that not all answers are 404."""
    monkeypatch.setattr(SubmitThrottle, "rate", "100000/hour")
    cast.team.members.add(cast.superuser, through_defaults={"role": "OWNER"})
    who = {"team": cast.team, "owner": cast.superuser}
    make_ranked(task, 70, **who)
    kite = make_submission(task, state="PUBLISHED", system="Owl", **who)
    evaluation = make_evaluation(kite, n=2)
    answer(evaluation.subjects.first().item, make_worker())
    make_score(kite, 60)
    return {"slug": task.slug, "pk": kite.pk, "id": kite.pk}


@pytest.fixture
def _one_connection():
    """Keep the test's own transaction: a server would close the connection between."""
    both = (request_started, request_finished)
    for one in both:
        one.disconnect(close_old_connections)
    yield
    for one in both:
        one.connect(close_old_connections)


@pytest.mark.usefixtures("_one_connection")
def test_no_request_breaks_the_api(cast, real):
    headers = authorization(cast.superuser)
    found = described()
    operations = [result.ok() for result in found.get_all_operations()]
    assert len(operations) > 25
    statuses = set()
    for operation in operations:
        statuses |= fuzz(operation, headers, real)
    # the fuzzer got through to the views, and was refused in several ways
    assert {200, 400, 404} <= statuses
    assert 500 not in statuses


@pytest.mark.usefixtures("_one_connection", "real")
def test_no_sequence_of_requests_breaks_the_api(cast):
    """What one answer names, the next requests ask for, change and delete."""
    headers = authorization(cast.superuser)
    seen = []

    class Workflow(described().as_state_machine()):
        def setup(self):
            self.before = transaction.savepoint()

        def teardown(self):
            transaction.savepoint_rollback(self.before)
            super().teardown()

        def get_call_kwargs(self, case):
            # the transport of tests does not decompress
            return {"headers": {**headers, "Accept-Encoding": "identity"}}

        def validate_response(self, response, case, **_):
            seen.append((case.method, response.status_code))
            case.validate_response(response, checks=CHECKS)

    Workflow.run(settings=SEQUENCES)
    assert {200, 404} <= {status for _, status in seen}
    methods = {method for method, _ in seen}
    assert {"GET", "POST"} <= methods
    assert not LONG or "DELETE" in methods


def described():
    found = schemathesis.openapi.from_dict(schema())
    found.app = get_wsgi_application()
    return found


def fuzz(operation, headers, real):
    statuses = set()

    @EXAMPLES
    @hypothesis.given(case=operation.as_strategy())
    def try_one(case):
        for path_parameters in (dict(case.path_parameters or {}), real):
            names = case.path_parameters or {}
            case.path_parameters = {
                name: path_parameters.get(name, value) for name, value in names.items()
            }
            response = case.call(headers={**headers, "Accept-Encoding": "identity"})
            statuses.add(response.status_code)
            case.validate_response(response, checks=CHECKS)

    try_one()
    return statuses
