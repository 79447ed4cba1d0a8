"""Webhooks of teams: signed, retried with growing pauses, logged."""

import base64
import hashlib
import hmac
import http.client
import json
import secrets
from datetime import timedelta
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from genie.lib import jobs, outbound
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.lib.runner import Runner
from genie.lib.typing import Account
from leaderboard.submissions.models import SubmissionEvent, Team
from leaderboard.teams.models import Webhook, WebhookDelivery
from leaderboard.teams.selectors import absolute

State = WebhookDelivery.State
MAX_WEBHOOKS = 10
_PREFIX = "whsec_"
RUNNER = Runner(
    WebhookDelivery,
    "leaderboard.jobs.deliver",
    states=[State.WAITING],
    failed=State.FAILED,
    pauses=[
        timedelta(minutes=1),
        timedelta(minutes=5),
        timedelta(minutes=30),
        timedelta(hours=2),
        timedelta(hours=8),
        timedelta(hours=24),
    ],
    lease=timedelta(minutes=5),
)


def add(team: Team, url: str, *, by: Account) -> Webhook:
    outbound.check_address(url, https_only=https_only())
    if team.webhooks.count() >= MAX_WEBHOOKS:
        raise GenieError(
            gettext("A team has at most %(max_webhooks)s webhooks; remove one first.")
            % {"max_webhooks": MAX_WEBHOOKS},
            code="too-many-webhooks",
        )
    # The same request sent again must not deliver each event twice.
    if team.webhooks.filter(url=url).exists():
        raise GenieError(
            gettext(
                "The team already has a webhook for this address; remove it first "
                "to get a new secret."
            ),
            code="webhook-exists",
        )
    return Webhook.objects.create(
        team=team, url=url, secret=_new_secret(), created_by=by
    )


def https_only() -> bool:
    return bool(settings.PRODUCTION)


def queue(event: SubmissionEvent, *, first: bool) -> None:
    kind = f"submission.{event.state.lower()}" if first else "submission.updated"
    hooks = Webhook.objects.filter(team_id=event.submission.team_id, active=True)
    for hook in hooks.order_by("pk"):
        _queue(webhook=hook, event=event, kind=kind, payload=_payload(event))


@transaction.atomic
def queue_test(hook: Webhook) -> WebhookDelivery:
    return _queue(
        webhook=hook, kind="test", payload={"message": "Genie can reach you."}
    )


def _queue(**fields: Any) -> WebhookDelivery:
    delivery = WebhookDelivery.objects.create(**fields)
    jobs.enqueue(RUNNER.job, pk=delivery.pk)
    return delivery


def _payload(event: SubmissionEvent) -> dict[str, Any]:
    submission = event.submission
    return {
        "submission": {
            "id": submission.pk,
            "url": absolute("api:submission-detail", submission.pk),
            "page": absolute("leaderboard:submission", submission.pk),
            "task": submission.task.slug,
            "team": submission.team.slug,
            "system_name": submission.system_name,
            "simulated": submission.simulated,
            "imported": submission.task.imported,
            "state": event.state,
        },
        "sentence": event.sentence,
        "at": event.at.isoformat(),
    }


def deliver(pk: int) -> None:
    RUNNER.run(pk, _deliver)


def _deliver(row: QuerySet[WebhookDelivery]) -> None:
    delivery = row.select_related("webhook").get()
    if not delivery.webhook.active:
        raise GenieError("The webhook was turned off.")
    body = body_of(delivery)
    stamp = str(int(timezone.now().timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Genie-Webhook/1",
        "webhook-id": str(delivery.uuid),
        "webhook-timestamp": stamp,
        "webhook-signature": signature(
            delivery.webhook.secret, str(delivery.uuid), stamp, body
        ),
    }
    try:
        # Raises GenieError if the address is forbidden by now.
        answer = outbound.post(
            delivery.webhook.url,
            body,
            headers,
            https_only=https_only(),
            allow_private=bool(settings.GENIE["WEBHOOKS_PRIVATE"]),
        )
    except (OSError, http.client.HTTPException, ValueError) as error:
        sentence = one_line(f"{type(error).__name__}: {error}", 300)
        row.update(last_status=None)
        raise GenieError(sentence, permanent=False) from error
    row.update(last_status=answer.status)
    if not HTTPStatus(200) <= answer.status < HTTPStatus(300):
        raise GenieError(
            one_line(answer.text, 300) or "No reason given.",
            permanent=answer.status == HTTPStatus.GONE,
        )
    row.update(state=State.DELIVERED, delivered_at=timezone.now(), failure="")


def body_of(delivery: WebhookDelivery) -> bytes:
    """Return the bytes that are sent, the same at each attempt."""
    body = {
        "id": str(delivery.uuid),
        "type": delivery.kind,
        "created_at": delivery.created_at.isoformat(),
        "data": delivery.payload,
    }
    return json.dumps(body, ensure_ascii=True, sort_keys=True).encode()


def signature(secret: str, event_id: str, timestamp: str, body: bytes) -> str:
    """Sign a delivery as Standard Webhooks 1 does: HMAC-SHA256 over id, time and body.

    Examples
    --------
    >>> signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "e1", "1700000000", b"{}")
    'v1,3Kwp5P5CCVUmXAZFpsAUH/2Y8x2A6MFmEv0VN1csI3I='
    """
    signed = f"{event_id}.{timestamp}.".encode() + body
    key = base64.b64decode(secret.removeprefix(_PREFIX))
    made = hmac.new(key, signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(made).decode()}"


def _new_secret() -> str:
    return _PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()
