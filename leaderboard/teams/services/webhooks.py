"""Webhooks of teams: signed, retried with growing pauses, logged."""

import hashlib
import hmac
import http.client
import json
import secrets
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext

from genie.lib import outbound
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.lib.typing import Account
from leaderboard.submissions.models import SubmissionEvent, Team
from leaderboard.teams.models import Webhook, WebhookDelivery
from leaderboard.teams.selectors import absolute

State = WebhookDelivery.State
MAX_WEBHOOKS = 10
AT_ONCE = 200
# Pauses after failed attempts; after the last one it is given up.
PAUSES = [
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=8),
    timedelta(hours=24),
]
# An attempt whose process dies is repeated after this.
_LEASE = timedelta(minutes=5)


def add(team: Team, url: str, *, by: Account) -> Webhook:
    outbound.checked(url, https_only=https_only())
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
        team=team, url=url, secret=f"whsec_{secrets.token_urlsafe(32)}", created_by=by
    )


def https_only() -> bool:
    return bool(settings.PRODUCTION)


def queue(event: SubmissionEvent, *, first: bool) -> None:
    kind = f"submission.{event.state.lower()}" if first else "submission.updated"
    hooks = Webhook.objects.filter(team_id=event.submission.team_id, active=True)
    WebhookDelivery.objects.bulk_create(
        [
            WebhookDelivery(
                webhook=hook, event=event, kind=kind, payload=_payload(event)
            )
            for hook in hooks.order_by("pk")
        ],
        ignore_conflicts=True,
    )


def queue_test(hook: Webhook) -> WebhookDelivery:
    return WebhookDelivery.objects.create(
        webhook=hook, kind="test", payload={"message": "Genie can reach you."}
    )


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


def due() -> list[int]:
    rows = WebhookDelivery.objects.filter(
        state=State.WAITING, next_at__lte=timezone.now()
    )
    return list(rows.order_by("next_at", "pk").values_list("pk", flat=True)[:AT_ONCE])


def deliver(pk: int) -> None:
    now = timezone.now()
    # Counted and postponed before the request: an attempt that kills its process
    # counts, too, and no other process repeats it meanwhile.
    claimed = WebhookDelivery.objects.filter(
        pk=pk, state=State.WAITING, next_at__lte=now
    ).update(next_at=now + _LEASE, n_attempts=F("n_attempts") + 1)
    if not claimed:
        return
    delivery = WebhookDelivery.objects.select_related("webhook").get(pk=pk)
    if not delivery.webhook.active:
        _write(delivery, error="The webhook was turned off.", final=True)
        return
    status, error, final = _try(delivery, now)
    _write(delivery, status=status, error=error, final=final)


def _try(delivery: WebhookDelivery, now: datetime) -> tuple[int | None, str, bool]:
    """Send; return the status, the error, and whether it is permanent."""
    body = body_of(delivery)
    stamp = str(int(now.timestamp()))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Genie-Webhook/1",
        "Genie-Event-Id": str(delivery.uuid),
        "Genie-Timestamp": stamp,
        "Genie-Signature": "v1="
        + signature(delivery.webhook.secret, str(delivery.uuid), stamp, body),
    }
    try:
        answer = outbound.post(
            delivery.webhook.url,
            body,
            headers,
            https_only=https_only(),
            allow_private=bool(settings.GENIE["WEBHOOKS_PRIVATE"]),
        )
    # The address was checked earlier but may be forbidden by now.
    except GenieError as error:
        return None, error.message, True
    except (OSError, http.client.HTTPException, ValueError) as error:
        return None, one_line(f"{type(error).__name__}: {error}", 300), False
    if HTTPStatus(200) <= answer.status < HTTPStatus(300):
        return answer.status, "", False
    gone = answer.status == HTTPStatus.GONE
    return answer.status, one_line(answer.text, 300) or "No reason given.", gone


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
    """Sign a delivery: HMAC-SHA256 over id, time and body, as hexadecimal digits.

    Examples
    --------
    >>> signature("whsec_example", "e1", "1700000000", b"{}")[:16]
    'c60d49fe47070480'
    """
    signed = f"{event_id}.{timestamp}.".encode() + body
    return hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def _write(
    delivery: WebhookDelivery,
    *,
    status: int | None = None,
    error: str = "",
    final: bool = False,
) -> None:
    now = timezone.now()
    rows = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING)
    if not error:
        rows.update(
            state=State.DELIVERED, delivered_at=now, last_status=status, last_error=""
        )
        return
    over = final or delivery.n_attempts > len(PAUSES)
    pause = timedelta() if over else PAUSES[delivery.n_attempts - 1]
    rows.update(
        state=State.FAILED if over else State.WAITING,
        next_at=now + pause,
        last_status=status,
        last_error=error,
    )
