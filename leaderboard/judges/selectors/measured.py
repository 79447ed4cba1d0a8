"""Token counts reported by endpoints, to estimate prices of further requests."""

from typing import Any

from leaderboard.judges.models import Judge, JudgeAnswer, JudgeCost

# Fewer answers are unreliable; more than the last ones add no information.
_ENOUGH, _LAST = 20, 500
_SAME = ("endpoint", "url", "model")


def bytes_a_token(judge: Judge) -> dict[str, Any]:
    """Return a plan's `bytes_a_token` and `n_measured`; empty with too few answers."""
    made = judge.definition
    same = [
        other.pk
        for other in Judge.objects.all()
        if all(other.definition[name] == made[name] for name in _SAME)
    ]
    answers = JudgeAnswer.objects.filter(judge__in=same, input_tokens__gt=0)
    tokens = dict(
        answers.order_by("-pk").values_list("request_sha256", "input_tokens")[:_LAST]
    )
    costs = JudgeCost.objects.filter(
        request_sha256__in=list(tokens), state=JudgeCost.State.PAID, n_bytes__gt=0
    )
    sizes = dict(costs.values_list("request_sha256", "n_bytes"))
    if len(sizes) < _ENOUGH:
        return {}
    n_tokens = sum(tokens[key] for key in sizes)
    return {
        "bytes_a_token": round(sum(sizes.values()) / n_tokens, 3),
        "n_measured": len(sizes),
    }
