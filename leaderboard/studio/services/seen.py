"""The findings about imported files that a person sees before the import."""

from collections.abc import Sequence
from typing import Any

from leaderboard.imports.readers.layout import Choice
from leaderboard.imports.readers.people import pseudonyms
from leaderboard.imports.readers.preview import Preview
from leaderboard.imports.readers.uploads import Found

N_NAMES = 100
LONGEST = 80


def seen(
    found: Found, shown: Preview | None = None, asked: Sequence[Choice] = ()
) -> dict[str, Any]:
    about: dict[str, Any] = {
        "layouts": [list(one) for one in found.layouts],
        "layout": found.layout,
        "choices": [
            {**vars(one), "options": list(one.options)}
            for one in (*found.choices, *asked)
        ],
        "files": [one.name for one in found.sources][:N_NAMES],
    }
    if shown is None:
        return about
    said = shown.to_dict()
    first = said.pop("rows")
    people = pseudonyms(row["worker"] for row in first)
    # a draft stores short words only: no texts, no names of people
    rows = [
        {
            key: str(cell)[:LONGEST]
            for key, cell in {**row, "worker": people[row["worker"]]}.items()
            if cell not in ("", None)
        }
        for row in first
    ]
    problems = [one["text"] for one in said.pop("problems")]
    counted = said["roles"]
    n_judgments = sum(counted[role] for role in said["counted"] if role in counted)
    return {
        **about,
        **said,
        "rows": rows,
        "problems": problems,
        "n_judgments": n_judgments,
        "systems": list(said["systems"]),
    }
