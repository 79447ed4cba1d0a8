"""Creation of judges, each under the hash of everything that determines its answers."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from genie.lib import outbound
from genie.lib.errors import GenieError
from genie.lib.typing import Account
from leaderboard.judges.definition import SCRIPTED, sha256_of, whole
from leaderboard.judges.endpoint import endpoint_named
from leaderboard.judges.models import Judge, JudgeRun
from leaderboard.judges.scripted import SCRIPTS

# The facts behind an approved price.
_PRICED = {"input_price", "output_price"}


def make(
    name: str,
    version: str,
    made: Mapping[str, Any],
    *,
    by: Account | None = None,
    input_price: Decimal = Decimal(0),
    output_price: Decimal = Decimal(0),
    **pace: Any,
) -> Judge:
    """Create a judge, or return the existing one.

    `made` has `definition.FIELDS`; the address is the operator's. Prices are in cents
    for a million tokens. `pace` has `per_minute`, `at_once`, `timeout_seconds`,
    `n_retries`, `family`. An existing judge is updated with these values except empty
    families and prices of 0, which may only have been left out.

    Raises GenieError ``bad-judge`` for invalid values, ``judge-taken`` if another judge
    has that name and version, ``judge-in-use`` for new prices of a judge with an open
    run, which was approved at the old ones.
    """
    judge = draft_judge(name, version, made, input_price, output_price)
    if same := Judge.objects.filter(sha256=judge.sha256).first():
        prices = {"input_price": input_price, "output_price": output_price}
        kept = {"family": pace.get("family"), **prices}
        _take_over(same, {**pace, **kept}, [name for name in kept if not kept[name]])
        return same
    judge.made_by_id = by.pk if by else None
    for field, value in pace.items():
        setattr(judge, field, value)
    try:
        with transaction.atomic():
            judge.save()
    except IntegrityError:
        raise GenieError(
            f"{name} {version} is already defined differently. Use a new version.",
            code="judge-taken",
        ) from None
    return judge


def _take_over(same: Judge, given: Mapping[str, Any], left_out: Sequence[str]) -> None:
    changed = {
        name: value
        for name, value in given.items()
        if name not in left_out and value != getattr(same, name)
    }
    open_ = same.runs.filter(state__in=[JudgeRun.State.ASKED, *JudgeRun.OPEN])
    if not changed.keys().isdisjoint(_PRICED) and open_.exists():
        raise GenieError(
            f"{same} has an unfinished run at different prices. End that run first, "
            "or use its prices.",
            code="judge-in-use",
        )
    for name, value in changed.items():
        setattr(same, name, value)
    same.save(update_fields=[*changed])


def draft_judge(
    name: str,
    version: str,
    made: Mapping[str, Any],
    input_price: Decimal = Decimal(0),
    output_price: Decimal = Decimal(0),
) -> Judge:
    """Create a judge without storing it; raise GenieError ``bad-judge``."""
    try:
        definition = whole({**made, "url": _url(str(made.get("endpoint", "")))})
    except ValueError as error:
        raise GenieError(str(error), code="bad-judge") from None
    if definition["endpoint"] == SCRIPTED and definition["model"] not in SCRIPTS:
        raise GenieError(
            f"A scripted judge's model must be one of: {', '.join(SCRIPTS)}.",
            code="bad-judge",
        )
    if input_price < 0 or output_price < 0:
        raise GenieError("A price cannot be negative.", code="bad-judge")
    return Judge(
        name=name,
        version=version,
        definition=definition,
        sha256=sha256_of(name, version, definition),
        input_price=input_price,
        output_price=output_price,
    )


def retire(judge: Judge) -> bool:
    """Prevent new runs of a judge; its answers are kept."""
    standing = Judge.objects.filter(pk=judge.pk, retired_at=None)
    return bool(standing.update(retired_at=timezone.now()))


def _url(endpoint: str) -> str:
    if not endpoint or endpoint == SCRIPTED:
        return ""
    known = endpoint_named(endpoint)
    outbound.check_address(known.url, https_only=not known.private)
    return known.url
