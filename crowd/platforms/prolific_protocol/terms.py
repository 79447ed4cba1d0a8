import hashlib
import hmac
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from crowd.platforms.base import (
    CampaignSpec,
    Outcome,
    SessionEvent,
    SessionStatus,
    StudyTerms,
)
from crowd.platforms.prolific_protocol.filters import Filters
from genie.lib.errors import GenieError

COMPLETE_URL = "https://app.prolific.com/submissions/complete"
REJECT_CHARACTERS = 100
# Reasons for which work may be rejected there; the first word of a reason can be one.
CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)
STATUSES: Mapping[str, SessionStatus] = {
    "RESERVED": "started",
    "ACTIVE": "started",
    "PROCESSING": "submitted",
    "AWAITING REVIEW": "submitted",
    "APPROVED": "approved",
    "PARTIALLY APPROVED": "approved",
    "REJECTED": "rejected",
    "RETURNED": "returned",
    "TIMED-OUT": "returned",
    "SCREENED OUT": "screened-out",
}
# Each outcome's code type there, and the automatic action on the submission.
CODES: Mapping[Outcome, tuple[str, Mapping[str, str]]] = {
    "completed": ("COMPLETED", {"action": "MANUALLY_REVIEW"}),
    "failed-check": ("FAILED_ATTENTION_CHECK", {"action": "MANUALLY_REVIEW"}),
    "screened-out": (
        "OTHER",
        {
            "action": "REQUEST_RETURN",
            "return_reason": "There is no more work for you in this study.",
        },
    ),
    "returned": (
        "NO_CONSENT",
        {"action": "REQUEST_RETURN", "return_reason": "You chose not to take part."},
    ),
}
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_CATEGORY = re.compile(rf"({'|'.join(CATEGORIES)}):\s*(.*)", re.DOTALL)


def checked_id(parameters: Mapping[str, str], name: str) -> str:
    """Return an id from the link's parameters, or refuse it.

    Examples
    --------
    >>> checked_id({"PROLIFIC_PID": "5f3c9a"}, "PROLIFIC_PID")
    '5f3c9a'
    """
    value = parameters.get(name, "")
    if not _ID.fullmatch(value):
        raise GenieError(
            "The link does not identify you; open the study again on Prolific.",
            code="who-are-you",
        )
    return value


def completion_code(secret: str, key: str, outcome: Outcome) -> str:
    """Return the code by which Prolific recognizes an outcome of a study.

    The codes of other studies and other outcomes cannot be guessed.

    Examples
    --------
    >>> completion_code("s", "campaign-1", "completed")
    'GE...'
    >>> completion_code("s", "campaign-1", "failed-check") == _
    False
    """
    text = f"prolific\x1f{key}\x1f{outcome}".encode()
    digest = hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()[:10]
    return f"GE{digest.upper()}"


def study(
    spec: CampaignSpec,
    *,
    code_secret: str,
    hourly_cents: int,
    filters: Filters,
    project: str = "",
) -> dict[str, Any]:
    expected = minutes(spec, hourly_cents)
    body: dict[str, Any] = {
        "name": spec.title[:120],
        "internal_name": spec.key,
        "description": spec.description,
        "external_study_url": _address(spec.url),
        "prolific_id_option": "url_parameters",
        "completion_codes": [
            {
                "code": completion_code(code_secret, spec.key, outcome),
                "code_type": kind,
                "actor": "participant",
                "actions": [dict(action)],
            }
            for outcome, (kind, action) in ways_out(spec.study).items()
        ],
        "total_available_places": spec.n_places,
        "estimated_completion_time": expected,
        "maximum_allowed_time": max(
            shortest_limit(expected), math.ceil(spec.assignment_seconds / 60)
        ),
        "reward": spec.reward_cents,
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "peripheral_requirements": [],
        "filters": filters,
        "study_labels": ["ai_evaluation"],
        "submissions_config": {"max_submissions_per_participant": spec.study.visits},
    }
    if spec.study.content_warning:
        body["content_warnings"] = [spec.study.content_warning]
        body["content_warning_details"] = spec.study.content_warning_details
    return {**body, "project": project} if project else body


def ways_out(study: StudyTerms) -> Mapping[Outcome, tuple[str, Mapping[str, Any]]]:
    """Return Prolific's action for each outcome; screened-out people may be paid.

    Examples
    --------
    >>> paid = ways_out(StudyTerms(screen_out_cents=20, screen_out_places=5))
    >>> paid["screened-out"][1]["fixed_screen_out_reward"]
    20
    """
    if not study.screen_out_places:
        return CODES
    action = {
        "action": "FIXED_SCREEN_OUT_PAYMENT",
        "fixed_screen_out_reward": study.screen_out_cents,
        "slots": study.screen_out_places,
    }
    return {**CODES, "screened-out": ("SCREENED_OUT", action)}


def shortest_limit(expected: int) -> int:
    """Return the shortest time limit that Prolific accepts, in minutes.

    Examples
    --------
    >>> shortest_limit(1), shortest_limit(9), shortest_limit(10)
    (6, 26, 29)
    """
    return math.ceil(2 + 2 * expected + 2 * math.sqrt(expected))


def minutes(spec: CampaignSpec, hourly_cents: int) -> int:
    """Return how long a place takes in whole minutes, at least 1.

    If it is not known, it is the time for which the reward is fair pay.

    Examples
    --------
    >>> spec = CampaignSpec("k", "t", "d", "", 250, 3600)
    >>> minutes(spec, 1500)
    10
    """
    seconds = spec.expected_seconds or spec.reward_cents * 3600 // hourly_cents
    return max(1, math.ceil(seconds / 60))


def rejection(message: str) -> tuple[str, str]:
    """Split a reason into Prolific's category and the words for the worker.

    Examples
    --------
    >>> rejection("LOW_EFFORT: Each answer was the first one.")
    ('LOW_EFFORT', 'Each answer was the first one.')
    >>> rejection("Each answer was the first one.")
    ('OTHER', 'Each answer was the first one.')
    """
    match = _CATEGORY.fullmatch(message.strip())
    return (match[1], match[2].strip()) if match else ("OTHER", message.strip())


def bonus_line(session_id: str, amount_cents: int) -> str:
    """Format a bonus for Prolific's list: whole units with two decimals.

    Examples
    --------
    >>> bonus_line("60ffe5", 425)
    '60ffe5,4.25'
    """
    return f"{session_id},{Decimal(amount_cents) / 100:.2f}"


def event(row: Mapping[str, Any], ways_out: Mapping[str, Outcome]) -> SessionEvent:
    code = str(row.get("entered_code") or row.get("study_code") or "")
    status = status_of(str(row.get("status", "")))
    return SessionEvent(
        session_id=str(row["id"]),
        worker_id=str(row.get("participant_id") or row.get("participant") or ""),
        status=status,
        accepted_at=read_time(row.get("started_at")),
        submitted_at=read_time(row.get("completed_at")),
        raw=json.dumps(row, sort_keys=True),
        message=_about(code, status, ways_out),
    )


def status_of(word: str) -> SessionStatus:
    """Return our name of a submission's state; an unknown one is not final.

    Examples
    --------
    >>> status_of("AWAITING_REVIEW"), status_of("timed-out")
    ('submitted', 'returned')
    """
    # The same state comes with spaces, underscores or a hyphen, depending on the call.
    plain = word.upper().replace("_", " ").replace("TIMED OUT", "TIMED-OUT")
    return STATUSES.get(plain, "started")


def read_time(text: object) -> datetime | None:
    """Parse a time, UTC by default.

    Examples
    --------
    >>> read_time("2026-11-20T10:00:00.5Z").isoformat()
    '2026-11-20T10:00:00.500000+00:00'
    >>> read_time(None) is None, read_time("soon") is None
    (True, True)
    """
    try:
        time = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _about(code: str, status: SessionStatus, ways_out: Mapping[str, Outcome]) -> str:
    if status != "submitted":
        return ""
    way = ways_out.get(code)
    if not code or code == "NOCODE":
        return "Submitted without a completion code."
    if way is None:
        return "Submitted with the completion code of another study."
    return (
        "" if way == "completed" else f"Submitted with the completion code for {way}."
    )


def _address(url: str) -> str:
    marks = {
        "PROLIFIC_PID": "{{%PROLIFIC_PID%}}",
        "STUDY_ID": "{{%STUDY_ID%}}",
        "SESSION_ID": "{{%SESSION_ID%}}",
    }
    return f"{url}{'&' if '?' in url else '?'}{urlencode(marks, safe='{}%')}"
