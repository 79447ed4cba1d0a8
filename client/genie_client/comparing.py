"""Two submissions side by side."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def name_criteria(found: Json) -> Json:
    return {
        "id": found["id"],
        "system": found["system_name"],
        "state": found["state"],
        "rated": bool(found["scores"]),
    }


_SCORE = ("mean", "low", "high", "n", "covers")


def scores_of_both(a: Json, b: Json) -> Json:
    both: Json = {}
    of_b = {score["criterion"]: score for score in b["scores"]}
    for score in a["scores"]:
        other = of_b.get(score["criterion"])
        if other is None:
            continue
        both[score["criterion"]] = {
            "a": {key: score[key] for key in _SCORE},
            "b": {key: other[key] for key in _SCORE},
            "difference": score["mean"] - other["mean"],
        }
    return both


def metrics_of_both(a: Json, b: Json) -> Json:
    both: Json = {}
    for name, one in a["metrics"].items():
        other = b["metrics"].get(name)
        if other is not None:
            both[name] = {
                "a": one["value"],
                "b": other["value"],
                "comparable": one["signature"] == other["signature"],
            }
    return both
