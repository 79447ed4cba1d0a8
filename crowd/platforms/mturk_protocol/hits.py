import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crowd.platforms.base import (
    ExternalRef,
    HITSpec,
    MoreSpec,
    Result,
)
from crowd.platforms.mturk_protocol.calls import (
    Calls,
    TurkRefusal,
    at_once,
    pages,
    result_of,
)
from crowd.platforms.mturk_protocol.terms import hit_in, token, was_processed
from crowd.platforms.mturk_protocol.xml import external_question, html_question
from genie.lib.errors import GenieError


@dataclass(frozen=True)
class HITContext:
    calls: Calls
    environment: str
    lifetime_seconds: int
    # Lists lag behind, so a HIT missing in them may still exist.
    index_lag_seconds: float = 60.0
    sleep: Callable[[float], None] = time.sleep


def post(
    context: HITContext, ref: ExternalRef, hits: Sequence[HITSpec]
) -> Iterator[Result]:
    hit_ids: Mapping[str, str] = {}
    # A token protects only for a day. After that, a HIT is looked up by our key before
    # it is posted again.
    if any(hit.sent == "long-ago" for hit in hits):
        try:
            hit_ids = _annotated(context, {hit.key for hit in hits})
        except Exception as error:  # noqa: BLE001 - sorted by `result_of`
            yield from (_same(hit.key, error) for hit in hits)
            return
    yield from (
        Result(hit.key, "done", hit_ids[hit.key]) for hit in hits if hit.key in hit_ids
    )
    missing = [hit for hit in hits if hit.key not in hit_ids]
    yield from at_once(
        missing,
        lambda hit: result_of(hit.key, lambda: _post_one(context, ref, hit)),
        context.calls.threads,
    )


def _post_one(context: HITContext, ref: ExternalRef, hit: HITSpec) -> Result:
    question = _question(hit)
    try:
        answer = context.calls(
            "create_hit_with_hit_type",
            HITTypeId=ref.campaign_id,
            MaxAssignments=hit.max_assignments,
            LifetimeInSeconds=context.lifetime_seconds,
            Question=question,
            RequesterAnnotation=hit.key,
            UniqueRequestToken=token(context.environment, hit.key),
        )
    except TurkRefusal as refusal:
        if refusal.code != "HitAlreadyExists":
            raise
        return _existing(context, hit.key, hit_in(refusal.message))
    return Result(hit.key, "done", answer["HIT"]["HITId"])


def _question(hit: HITSpec) -> str:
    if not hit.page:
        return external_question(hit.url)
    try:
        return html_question(hit.page)
    except GenieError as error:
        if error.code != "question-too-long" or not hit.url:
            raise
    return external_question(hit.url)


def _existing(context: HITContext, key: str, hit_id: str) -> Result:
    """Accept a HIT as ours only if it has our key."""
    if not hit_id:
        hit_id = _annotated(context, {key}).get(key, "")
    hit = context.calls("get_hit", HITId=hit_id)["HIT"] if hit_id else {}
    if hit.get("RequesterAnnotation") != key:
        return Result(key, "refused", message="The token belongs to another HIT.")
    return Result(key, "done", hit_id)


def _annotated(context: HITContext, keys: set[str]) -> dict[str, str]:
    """Search all HITs of the account for those that carry our keys.

    The list is read twice, because it lags; matches in either count.
    """
    hit_ids: dict[str, str] = {}
    for look in range(2):
        if look:
            context.sleep(context.index_lag_seconds)
        for hit in pages(context.calls, "list_hits", "HITs"):
            note = hit.get("RequesterAnnotation", "")
            if note in keys:
                hit_ids.setdefault(note, hit["HITId"])
        if len(hit_ids) == len(keys):
            break
    return hit_ids


def add_capacity(context: HITContext, more: Sequence[MoreSpec]) -> Iterator[Result]:
    yield from at_once(
        more,
        lambda spec: result_of(spec.key, lambda: _add(context, spec)),
        context.calls.threads,
    )


def _add(context: HITContext, spec: MoreSpec) -> Result:
    if spec.sent == "long-ago":
        hit = context.calls("get_hit", HITId=spec.hit_id)["HIT"]
        # The token has expired by then, but the number of places shows whether it was
        # carried out.
        if hit["MaxAssignments"] >= spec.before + spec.n:
            return Result(spec.key, "done", spec.hit_id)
    try:
        context.calls(
            "create_additional_assignments_for_hit",
            HITId=spec.hit_id,
            NumberOfAdditionalAssignments=spec.n,
            UniqueRequestToken=token(context.environment, spec.key),
        )
    except TurkRefusal as refusal:
        if was_processed(refusal.message):
            return Result(spec.key, "done", spec.hit_id)
        if refusal.code == "InvalidMaximumAssignmentsIncrease":
            return Result(spec.key, "refused", message=refusal.message, code="too-many")
        raise
    return Result(spec.key, "done", spec.hit_id)


def retype(
    context: HITContext, ref: ExternalRef, hits: Mapping[str, str]
) -> Iterator[Result]:
    yield from at_once(
        hits,
        lambda key: result_of(key, lambda: _retype(context, ref, key, hits[key])),
        context.calls.threads,
    )


def _retype(context: HITContext, ref: ExternalRef, key: str, hit_id: str) -> Result:
    try:
        context.calls("update_hit_type_of_hit", HITId=hit_id, HITTypeId=ref.campaign_id)
    except TurkRefusal:
        # An earlier call may have arrived, and a worker have taken the HIT since then:
        # its pay is stored with the HIT.
        hit = context.calls("get_hit", HITId=hit_id)["HIT"]
        if hit.get("HITTypeId") != ref.campaign_id:
            raise
    return Result(key, "done", hit_id)


def expire(context: HITContext, ref: ExternalRef, *, now: datetime) -> Iterator[Result]:
    """End the HITs, so that workers cannot accept them.

    Any time in the past ends a HIT at once. Yesterday, to the second, is in the past on
    every clock, and differs from the request before the HIT was reopened: the same
    request twice is refused as carried out.
    """
    yield from _until(context, ref, now - timedelta(days=1))


def prolong(
    context: HITContext, ref: ExternalRef, *, now: datetime
) -> Iterator[Result]:
    yield from _until(context, ref, now + timedelta(seconds=context.lifetime_seconds))


def _until(context: HITContext, ref: ExternalRef, until: datetime) -> Iterator[Result]:
    expires_at = until.astimezone(UTC).replace(microsecond=0)

    def end(hit_id: str) -> Result:
        try:
            context.calls(
                "update_expiration_for_hit", HITId=hit_id, ExpireAt=expires_at
            )
        except TurkRefusal as refusal:
            # A HIT deleted there is ended, which is all we want.
            gone = refusal.code == "HITDoesNotExist"
            if not gone and not was_processed(refusal.message):
                raise
        return Result(hit_id, "done", hit_id)

    yield from at_once(
        list(ref.hit_ids.values()),
        lambda hit_id: result_of(hit_id, lambda: end(hit_id)),
        context.calls.threads,
    )


def _same(key: str, error: Exception) -> Result:
    def fail() -> Result:
        raise error

    return result_of(key, fail)
