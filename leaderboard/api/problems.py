"""Errors of the API as problem+json (RFC 9457), each with a stable code."""

import logging
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFilesSent,
)
from django.core.signals import got_request_exception
from django.http.multipartparser import MultiPartParserError
from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler, set_rollback

from genie.lib.database import unavailable
from genie.lib.errors import GenieError
from genie.lib.logs import one_line
from genie.lib.serving.health import RETRY_SECONDS

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"


@dataclass(frozen=True)
class Kind:
    """The meaning of a code, whatever the sentence of the moment."""

    status: int
    title: str


# Every code that the API answers with; docs/api.md and /api/docs/ list them.
KINDS: dict[str, Kind] = {
    "invalid": Kind(400, "A field is missing or invalid"),
    "bad-request": Kind(400, "The request cannot be read"),
    "bad-name": Kind(400, "The system's name is not valid"),
    "bad-description": Kind(400, "The description is not valid"),
    "bad-link": Kind(400, "A link is not valid"),
    "bad-detail": Kind(400, "The information about the system is not valid"),
    "bad-scores": Kind(400, "The file of scores is not valid"),
    "bad-bundle": Kind(400, "The file is not a task's bundle"),
    "bad-expected": Kind(400, "The list of published numbers is not valid"),
    "nothing-published": Kind(400, "The task has none of these published numbers"),
    "unusable-task": Kind(400, "The task cannot be loaded"),
    "bad-page": Kind(400, "The page is not a number"),
    "unknown-parameter": Kind(400, "The URL has an unknown parameter"),
    "bad-choice": Kind(400, "A parameter's value is not one of the choices"),
    "bad-moment": Kind(400, "The time is not valid"),
    "bad-key": Kind(400, "The Idempotency-Key is not valid"),
    "bad-address": Kind(400, "This address is not allowed"),
    "team-required": Kind(400, "Specify the team that submits"),
    "unusable-question": Kind(400, "The question has invalid settings"),
    "same-file": Kind(400, "Two files have the same name"),
    "too-many-files": Kind(400, "Too many files"),
    "same-submission": Kind(400, "A submission is listed twice"),
    "different-tasks": Kind(400, "The submissions are for different tasks"),
    "not-comparable": Kind(400, "The submissions cannot be compared"),
    "wrong-number-of-systems": Kind(400, "Too few or too many systems"),
    "reason-missing": Kind(400, "A reason is required"),
    "empty-file": Kind(400, "The file is empty"),
    "not-authenticated": Kind(401, "A token or a session is needed"),
    "authentication-failed": Kind(401, "The token or session is not valid"),
    "permission-denied": Kind(403, "You do not have permission"),
    "second-factor-required": Kind(403, "The role requires a second factor"),
    "not-a-member": Kind(403, "Not a member of the team"),
    "not-found": Kind(404, "Not found"),
    "not-published": Kind(404, "The result is not published yet"),
    "unknown-task": Kind(404, "No such benchmark task"),
    "method-not-allowed": Kind(405, "This method is not allowed"),
    "not-acceptable": Kind(406, "Only JSON is available"),
    "name-taken": Kind(409, "You already have a metric with this name"),
    "not-withdrawable": Kind(409, "The submission can no longer be withdrawn"),
    "not-restorable": Kind(409, "The submission can no longer be restored"),
    "cost-moved": Kind(409, "The cost differs from the confirmed cost"),
    "over-budget": Kind(409, "The budget does not allow this cost"),
    "tests-stand-out": Kind(409, "The test questions are recognizable"),
    "tests-not-measured": Kind(409, "The test questions have not been measured yet"),
    "not-approvable": Kind(409, "There is nothing to approve"),
    "not-declinable": Kind(409, "There is nothing to decline"),
    "not-running": Kind(409, "There is nothing to stop"),
    "decided-meanwhile": Kind(409, "Another person has just decided"),
    "nothing-to-publish": Kind(409, "There is no partial result"),
    "webhook-exists": Kind(409, "The team already has a webhook for this address"),
    "too-many-webhooks": Kind(409, "The team has the maximum number of webhooks"),
    "release-changed": Kind(409, "The task is loaded with different instances"),
    "incomparable": Kind(409, "Scores from before and after would not be comparable"),
    "slug-taken": Kind(409, "This slug is already in use"),
    "key-reused": Kind(409, "The Idempotency-Key was used for a different request"),
    "not-accepting": Kind(409, "The task is not accepting submissions"),
    "file-too-large": Kind(413, "The file is too large"),
    "request-too-large": Kind(413, "The request is too large"),
    "unsupported-media-type": Kind(415, "This media type is not supported"),
    "throttled": Kind(429, "Too many requests"),
    "quota-reached": Kind(429, "The team's quota is used up"),
    "internal-error": Kind(500, "Something went wrong on our side"),
    "unavailable": Kind(503, "The database is not responding, or the disk is full"),
}

# Django REST framework's codes for the same problems.
_FRAMEWORK_CODES = {
    "not_authenticated": "not-authenticated",
    "authentication_failed": "authentication-failed",
    "permission_denied": "permission-denied",
    "not_found": "not-found",
    "method_not_allowed": "method-not-allowed",
    "not_acceptable": "not-acceptable",
    "unsupported_media_type": "unsupported-media-type",
    "throttled": "throttled",
    "parse_error": "bad-request",
    "invalid": "invalid",
}


# Advice for problems of which the framework only states the cause.
_ADVICE = {
    "not-found": "Nothing was found at this URL, or you do not have access; /api/docs/ lists "
    "all endpoints.",
    "not-authenticated": "Send the header Authorization: Bearer with a token from "
    "/account/tokens/, or sign in.",
    "not-acceptable": "Request application/json, or omit the Accept header.",
}


class FieldErrorSerializer(serializers.Serializer[Any]):
    field = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()


class ProblemSerializer(serializers.Serializer[Any]):
    """An error: `code` is stable and for programs, `detail` is for people."""

    type = serializers.CharField(help_text="Documentation of the code.")
    title = serializers.CharField(help_text="Meaning of the code.")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="The error and how to fix it.")
    code = serializers.CharField()
    details = serializers.DictField(
        required=False, help_text="The data behind `detail`."
    )
    errors = FieldErrorSerializer(  # type: ignore[assignment]
        many=True,
        required=False,
        help_text="With code `invalid`: the problem with each field.",
    )


def problem(
    code: str,
    detail: str,
    *,
    status: int | None = None,
    details: dict[str, Any] | None = None,
    errors: list[dict[str, str]] | None = None,
) -> Response:
    kind = KINDS.get(code, Kind(400, "Refused"))
    body: dict[str, Any] = {
        "type": f"/api/docs/#{code}",
        "title": kind.title,
        "status": status or kind.status,
        "detail": detail,
        "code": code,
    }
    if details:
        body["details"] = details
    if errors:
        body["errors"] = errors
    return Response(body, status=body["status"], content_type=MEDIA_TYPE)


def handle(error: Exception, context: dict[str, Any]) -> Response:
    if isinstance(error, GenieError):
        answer = problem(error.code, error.message, details=error.details)
        _add_retry_after(answer, error)
        # the view returns a response, not an exception: without this, half a
        # transaction would be committed
        set_rollback()
        return answer
    if isinstance(error, SuspiciousOperation | MultiPartParserError | TooManyFilesSent):
        set_rollback()
        return _unreadable(error)
    if why := unavailable(error):
        return _unavailable(error, why)
    framework = exception_handler(error, context)
    if framework is None:
        return _internal_error(error, context)
    answer = _from_framework(error, framework)
    for header in ("WWW-Authenticate", "Retry-After"):
        if header in framework.headers:
            answer.headers[header] = framework.headers[header]
    return answer


def _from_framework(error: Exception, framework: Response) -> Response:
    status = framework.status_code
    if isinstance(error, ValidationError):
        errors = list(_field_errors("", error.get_full_details()))
        return problem(
            "invalid",
            " ".join(f"{line['field']}: {line['message']}" for line in errors),
            errors=errors,
        )
    code = "not-found" if status == HTTPStatus.NOT_FOUND else "permission-denied"
    detail = KINDS[code].title + "."
    if isinstance(error, APIException):
        codes = error.get_codes()
        code = _FRAMEWORK_CODES.get(codes, codes) if isinstance(codes, str) else code
        detail = str(error.detail)
        # our own sentence is more specific than the advice for its code
        if detail != str(error.default_detail):
            return problem(code, detail, status=status)
    return problem(code, _ADVICE.get(code, detail), status=status)


def _field_errors(field: str, details: Any) -> list[dict[str, str]]:
    if isinstance(details, list):
        return [line for part in details for line in _field_errors(field, part)]
    if isinstance(details, dict) and set(details) == {"message", "code"}:
        return [
            {
                "field": field or "request",
                "code": str(details["code"]).replace("_", "-"),
                "message": str(details["message"]),
            }
        ]
    return [
        line
        for name, part in details.items()
        for line in _field_errors(f"{field}.{name}" if field else str(name), part)
    ]


def _unreadable(error: Exception) -> Response:
    if isinstance(error, RequestDataTooBig):
        return problem(
            "request-too-large", "The text fields of the request are too large."
        )
    return problem("bad-request", "The request cannot be read as form data.")


def _add_retry_after(answer: Response, error: GenieError) -> None:
    next_at = error.details.get("next_at")
    if answer.status_code == HTTPStatus.TOO_MANY_REQUESTS and next_at:
        wait = datetime.fromisoformat(next_at) - timezone.now()
        # rounded up, so that the retry is not a moment too early
        answer.headers["Retry-After"] = str(max(1, int(wait.total_seconds()) + 1))


def _unavailable(error: Exception, why: str) -> Response:
    logger.error("The API failed: %s", one_line(error))
    set_rollback()
    answer = problem(
        "unavailable",
        f"{why} Wait at least {RETRY_SECONDS} seconds before you try again.",
    )
    answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer


def _internal_error(error: Exception, context: dict[str, Any]) -> Response:
    request = context.get("request")
    logger.error("The API failed", exc_info=error)
    got_request_exception.send(sender=None, request=getattr(request, "_request", None))
    set_rollback()
    return problem(
        "internal-error",
        "Something went wrong on our side. The error has been logged. Please try "
        "again later.",
    )
