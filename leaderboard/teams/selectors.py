from typing import Any

from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.http import HttpResponse, JsonResponse
from django.urls import reverse
from django.utils import timezone

from crowd.hits.models import Assignment, Rating, Telemetry
from crowd.messages.models import Message
from crowd.money.models import LedgerEntry, PaymentDetails, Payout
from crowd.requester.models import (
    Requester,
    RequesterAssignment,
    RequesterBonus,
    WorkerRecord,
)
from crowd.workers.models.qualification_attempt import QualificationGrant, TestAttempt
from crowd.workers.models.worker import Consent, ConsentVersion, Profile, Worker
from genie.accounts.models import AccessToken, PrivateRead, TaskRole
from genie.lib.typing import Account
from leaderboard.submissions.models import Submission, detail_names, shown_state
from leaderboard.teams.models import Membership, NoticePreference
from quality.appeals.models import Appeal


def data_of(user: Account) -> dict[str, Any]:
    """Collect an account's data, without secrets, which are stored only as hashes."""
    # an account can be both: a submitter with teams, and a worker
    worker = Worker.objects.filter(user_id=user.pk).first()
    return {
        "exported_at": timezone.now(),
        "account": {
            "name": user.get_username(),
            "full_name": user.get_full_name(),
            "email": user.email,
            "staff": user.is_staff,
            "joined_at": user.date_joined,
            "last_signed_in_at": user.last_login,
        },
        "email_addresses": _rows(
            EmailAddress.objects.filter(user_id=user.pk).order_by("pk"),
            "email",
            "verified",
            "primary",
        ),
        "accounts_of_elsewhere": _rows(
            SocialAccount.objects.filter(user_id=user.pk).order_by("pk"),
            "provider",
            "uid",
            "date_joined",
        ),
        "tokens": _rows(
            AccessToken.objects.filter(user_id=user.pk).order_by("pk"),
            "name",
            "scopes",
            "created_at",
            "expires_at",
            "last_used_at",
            "revoked_at",
        ),
        "sessions": _rows(
            UserSession.objects.filter(user_id=user.pk).order_by("pk"),
            "created_at",
            "last_seen_at",
            "ip",
            "user_agent",
        ),
        "roles_on_tasks": _rows(
            TaskRole.objects.filter(user_id=user.pk).order_by("pk"),
            "role__name",
            "pool",
            "created_at",
        ),
        "reads_of_private_outputs": _rows(
            PrivateRead.objects.filter(by_id=user.pk).order_by("pk"),
            "at",
            "way",
            "title",
            "address",
        ),
        "teams": _rows(
            Membership.objects.filter(user_id=user.pk).order_by("pk"),
            "team__slug",
            "team__name",
            "role",
            "joined_at",
        ),
        "requesters": _rows(
            Requester.objects.filter(people=user.pk).order_by("pk"),
            "name",
            "customer_id",
        ),
        "submissions": _submissions(user),
        "drafts": _rows(
            user.drafts.order_by("pk"), "title", "slug", "created_at", "changed_at"
        ),
        "muted_notices": muted_kinds(user),
        "worker": history_of(worker) if worker else None,
    }


def _rows(rows: Any, *fields: str) -> list[dict[str, Any]]:
    return [
        {name.replace("__", "_"): value for name, value in row.items()}
        for row in rows.values(*fields)
    ]


def _submissions(user: Account) -> list[dict[str, Any]]:
    rows = _rows(
        Submission.objects.filter(owner_id=user.pk).order_by("pk"),
        "pk",
        "task__slug",
        "team__slug",
        "system_name",
        "description",
        "links",
        *detail_names(),
        "visibility",
        "anonymous_until",
        "own_state",
        "human_evaluation__state",
        "file_name",
        "file_sha256",
        "created_at",
        "published_at",
    )
    for row in rows:
        own, asked = row.pop("own_state"), row.pop("human_evaluation_state")
        row["state"] = shown_state(own, row["published_at"], asked)
    return rows


def muted_kinds(user: Account) -> list[str]:
    rows = NoticePreference.objects.filter(user_id=user.pk)
    return rows.values_list("muted", flat=True).first() or []


def _only(rows: Any, *fields: str) -> dict[str, Any] | None:
    return next(iter(_rows(rows, *fields)), None)


def _consents(worker: Worker) -> list[dict[str, Any]]:
    given = Consent.objects.filter(worker=worker).order_by("pk")
    words = dict(
        ConsentVersion.objects.filter(sha256__in=given.values("text_sha256"))
        .order_by()
        .values_list("sha256", "html")
    )
    return [
        {
            "pool": row.pool_id,
            "given_at": row.given_at,
            "words": words.get(row.text_sha256),
        }
        for row in given
    ]


def _requesters_work(worker: Worker) -> list[dict[str, Any]]:
    return _rows(
        RequesterAssignment.objects.filter(worker__worker=worker).order_by("pk"),
        "entity_id",
        "hit__hit_type__title",
        "hit__requester__name",
        "hit__reward_cents",
        "state",
        "accepted_at",
        "submitted_at",
        "answer",
        "feedback",
        "paid_at",
    )


def as_file(data: dict[str, Any], name: str) -> HttpResponse:
    return JsonResponse(
        data,
        json_dumps_params={"indent": 2, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def history_of(worker: Worker) -> dict[str, Any]:
    assignments = Assignment.objects.filter(worker=worker).order_by("pk")
    return {
        "platform": worker.platform,
        "pseudonym": worker.pseudonym,
        "since": worker.created_at,
        "profile": _only(
            Profile.objects.filter(worker=worker),
            "time_zone",
            "language",
            "goes_on",
            "wants_news",
            "mailed_at",
            "languages",
            "country",
            "country_said_at",
        ),
        # answers that staff have checked
        "record": _only(
            WorkerRecord.objects.filter(worker=worker),
            "country",
            "subdivision",
            "adult",
            "master",
        ),
        "consents": _consents(worker),
        "assignments": _rows(
            assignments,
            "pk",
            "state",
            "reward_cents",
            "accepted_at",
            "submitted_at",
            "decided_at",
            "feedback",
            "remark",
        ),
        # observations of the pages while HITs were answered
        "signals": _rows(
            Telemetry.objects.filter(assignment__worker=worker).order_by("pk"),
            "assignment_id",
            "first_change_seconds",
            "n_changes",
            "n_focus_losses",
            "n_copies",
            "n_pastes",
            "canary",
        ),
        # the answer, not whether it was right: test questions stay hidden
        "answers": _rows(
            Rating.objects.filter(assignment__worker=worker).order_by("pk"),
            "assignment_id",
            "criterion",
            "slot",
            "raw",
        ),
        # an attempt's score, never which questions were right
        "test_attempts": _rows(
            TestAttempt.objects.filter(worker=worker).order_by("pk"),
            "test__title",
            "number",
            "n_right",
            "passed",
            "started_at",
            "finished_at",
        ),
        "qualifications": _rows(
            QualificationGrant.objects.filter(worker=worker).order_by("pk"),
            "name",
            "granted_at",
            "expires_at",
            "ended_at",
            "revoked_reason",
        ),
        "messages": _rows(
            Message.objects.filter(worker=worker).order_by("pk"),
            "kind",
            "subject",
            "text",
            "created_at",
            "read_at",
        ),
        "appeals": _rows(
            Appeal.objects.filter(worker=worker).order_by("pk"),
            "pool",
            "words",
            "state",
            "answer",
            "created_at",
            "answered_at",
        ),
        "work_for_requesters": _requesters_work(worker),
        "bonuses_of_requesters": _rows(
            RequesterBonus.objects.filter(assignment__worker__worker=worker).order_by(
                "pk"
            ),
            "assignment__entity_id",
            "amount_cents",
            "reason",
            "granted_at",
            "paid_at",
        ),
        "payments": _rows(
            LedgerEntry.objects.filter(assignment__worker=worker).order_by("pk"),
            "kind",
            "state",
            "amount_cents",
        ),
        # only a payment's file has the bank details
        "payment_details": _rows(
            PaymentDetails.objects.filter(worker=worker), "method", "saved_at"
        ),
        "payouts": _rows(
            Payout.objects.filter(worker=worker)
            .exclude(state=Payout.State.PUT_OFF)
            .order_by("pk"),
            "reference",
            "state",
            "amount_cents",
            "reason",
            "ended_at",
        ),
    }


def absolute(name: str, *args: object) -> str:
    base: str = settings.GENIE["SITE_URL"]
    return base.rstrip("/") + reverse(name, args=args)
