"""What a person sees of judgments before they are imported: numbers, first rows, problems."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leaderboard.imports.readers.uploads import Found

if TYPE_CHECKING:
    import pandas as pd

    from leaderboard.imports.readers.judgments import Judgments

N_ROWS, N_PROBLEMS, N_NAMES = 8, 200, 100
_COLUMNS = (
    "role",
    "worker",
    "instance",
    "system",
    "other",
    "criterion",
    "word",
    "value",
)


def seen(found: Found) -> dict[str, Any]:
    """Put together, as JSON can hold it, what files seem to be and what they say."""
    about = {
        "layouts": [list(one) for one in found.layouts],
        "layout": found.layout,
        "choices": [
            {
                "name": one.name,
                "question": one.question,
                "options": list(one.options),
                "found": one.found,
                "needed": one.needed,
            }
            for one in found.choices
        ],
        "files": [one.name for one in found.sources][:N_NAMES],
    }
    if found.judgments is None:
        return about
    return {**about, **_numbers(found.judgments)}


def _numbers(judgments: Judgments) -> dict[str, Any]:
    rows, judged = judgments.rows, judgments.judged
    systems = [
        str(name)
        for name in sorted({*judged["system"].unique(), *judged["other"].unique()})
        if name
    ]
    problems = judgments.problems
    return {
        "roles": judgments.n_by_role(),
        "counted": [str(role) for role in judgments.counted],
        "n_rows": len(rows),
        "n_judgments": len(judged),
        "n_preferences": int((judged["other"] != "").sum()),
        "systems": systems[:N_NAMES],
        "n_systems": len(systems),
        "n_instances": int(judged["instance"].nunique()),
        "n_workers": int((judged["worker"].unique() != "").sum()),
        "criteria": _criteria(judged, judgments.lower_is_better),
        "standardised": judgments.standardised,
        "languages": list(judgments.languages),
        "texts": {
            "inputs": len(judgments.texts.inputs),
            "outputs": len(judgments.texts.outputs),
            "references": len(judgments.texts.references),
        },
        "unknown": _unknown(rows),
        "first": [
            {name: _cell(row[name]) for name in _COLUMNS}
            for _, row in rows.head(N_ROWS).iterrows()
        ],
        "problems": [str(one) for one in problems[:N_PROBLEMS]],
        "n_problems": len(problems),
        "n_fatal": sum(one.fatal for one in problems),
    }


def _criteria(judged: pd.DataFrame, lower: tuple[str, ...]) -> list[dict[str, Any]]:
    found = []
    for name, rows in judged.groupby("criterion", sort=False):
        values = rows["value"].dropna()
        found.append(
            {
                "name": str(name),
                "n": len(rows),
                "low": float(values.min()) if len(values) else None,
                "high": float(values.max()) if len(values) else None,
                "n_missing": len(rows) - len(values),
                "lower_is_better": str(name) in lower,
            }
        )
    return found


def _unknown(rows: pd.DataFrame) -> list[str]:
    """Name what the files themselves do not say."""
    silent = {
        "who judged": not (rows["worker"] != "").any(),
        "when": bool(rows["at"].isna().all()),
        "how long it took": bool(rows["seconds"].isna().all()),
        "what was on the screen together": not (rows["page"] != "").any(),
        "the order on the screen": bool((rows["place"] < 0).all()),
    }
    return [what for what, unknown in silent.items() if unknown]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:g}"  # NaN
    return str(value)[:80]
