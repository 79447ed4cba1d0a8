"""Limits that are documented as text and not in the published tables."""

import re
from collections.abc import Mapping
from typing import Any

from crowd.requester.protocol.errors import TurkError, bad_value

YEAR = 31_536_000
CHARACTERS = {
    "Title": 128,
    "Description": 2000,
    "Keywords": 1000,
    "Name": 200,
    "RequesterAnnotation": 255,
    "RequesterFeedback": 1024,
    "Subject": 200,
    "MessageText": 4096,
    "Reason": 4096,
    "Query": 1000,
}
BYTES = {"Question": 65_535, "Test": 65_535, "AnswerKey": 65_535}
NUMBERS = {
    "AssignmentDurationInSeconds": (30, YEAR),
    "LifetimeInSeconds": (30, YEAR),
    "AutoApprovalDelayInSeconds": (0, 2_592_000),
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "TestDurationInSeconds": (1, YEAR),
    "RetryDelayInSeconds": (0, YEAR),
}
NOT_EMPTY = {"Title", "Description", "Name", "Subject", "MessageText", "Question"}
MAX_REQUIREMENTS = 10
MAX_RECIPIENTS = 100
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def check_limits(arguments: Mapping[str, Any]) -> None:
    for name, value in arguments.items():
        if isinstance(value, str):
            _text(name, value)
        elif name in NUMBERS and value is not None:
            low, high = NUMBERS[name]
            if not low <= value <= high:
                raise TurkError(f"{name} must be from {low} to {high}, not {value}.")
    if len(arguments.get("QualificationRequirements") or ()) > MAX_REQUIREMENTS:
        raise TurkError(
            f"A HIT can have at most {MAX_REQUIREMENTS} QualificationRequirements."
        )
    if len(arguments.get("WorkerIds") or ()) > MAX_RECIPIENTS:
        raise TurkError(f"WorkerIds can name at most {MAX_RECIPIENTS} workers.")


def required_text(arguments: Mapping[str, Any], name: str) -> str:
    value = str(arguments[name])
    if not value.strip():
        raise bad_value(name, value, " Write a reason; the worker reads it.")
    return value


def _text(name: str, value: str) -> None:
    if len(value) > CHARACTERS.get(name, len(value)):
        raise TurkError(f"{name} can have at most {CHARACTERS[name]} characters.")
    if name in BYTES and len(value.encode()) > BYTES[name]:
        raise TurkError(f"{name} can have at most {BYTES[name]} bytes in UTF-8.")
    if name in NOT_EMPTY and not value.strip():
        raise TurkError(f"{name} must not be empty.")
    if name == "RequesterFeedback" and _CONTROL.search(value):
        raise TurkError("RequesterFeedback contains control characters.")
