"""Bonuses on Prolific: set up without payment, then paid by a single call."""

from crowd.platforms.base import BonusSpec, Result
from crowd.platforms.prolific_protocol import terms
from crowd.platforms.prolific_protocol.calls import Calls, result_of

LOOK = (
    "It is unknown whether this bonus was paid; trying again could pay it twice. "
    "Check the submission on Prolific."
)


def pay_bonus(calls: Calls, spec: BonusSpec) -> Result:
    if spec.sent != "never":
        return Result(spec.key, "unknown", message=LOOK)
    bonus_list = _set_up(calls, spec)
    return _pay(calls, spec, bonus_list) if bonus_list.state == "done" else bonus_list


def _set_up(calls: Calls, spec: BonusSpec) -> Result:
    def act() -> Result:
        row = calls("GET", f"submissions/{spec.session_id}/")
        line = terms.bonus_line(spec.session_id, spec.amount_cents)
        bonus_list = calls(
            "POST",
            "submissions/bonus-payments/",
            json={"study_id": row["study_id"], "csv_bonuses": line},
        )
        return Result(spec.key, "done", str(bonus_list["id"]))

    result = result_of(spec.key, act)
    # No money was paid yet, whatever the outcome of the call.
    return (
        Result(spec.key, "again", message=result.message)
        if result.state == "unknown"
        else result
    )


def _pay(calls: Calls, spec: BonusSpec, bonus_list: Result) -> Result:
    path = f"bulk-bonus-payments/{bonus_list.platform_id}/pay/"

    def act() -> Result:
        calls.without_retry("POST", path)
        return Result(spec.key, "done", bonus_list.platform_id)

    result = result_of(spec.key, act)
    if result.state != "unknown":
        return result
    return Result(
        spec.key, "unknown", bonus_list.platform_id, f"{LOOK} {result.message}"
    )
