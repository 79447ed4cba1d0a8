"""A plain long table: rater, system, instance and value."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import (
    fields_of,
    is_nothing,
    moments,
    numbers,
    plain,
    stated_scale,
)
from leaderboard.imports.readers.roles import roles_of
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.tables import (
    ENDINGS,
    Table,
    extra_of,
    header_of,
    rows_of_head,
    table_of,
)
from leaderboard.imports.readers.taking import (
    answers,
    names_of,
    put_inputs,
    put_outputs,
    put_references,
    refuse_both_ways,
    say_doubles,
    stacked,
    words_of,
)

#: The fields that a person can assign to columns.
FIELDS = (
    "system", "instance", "worker", "criterion", "value", "at", "began", "seconds", "page",
    "place", "document", "domain", "role", "counts", "output", "input", "reference",
)  # fmt: skip
# Fields whose names are ambiguous.
_IN_WORDS = {
    "instance": "the instance (what was judged)",
    "worker": "the worker (who judged)",
    "value": "the rating",
    "at": "the time of the answer",
    "began": "the time at which the page was opened",
    "seconds": "the seconds an answer took",
    "page": "the page (outputs judged together)",
    "place": "the place on the page",
    "role": "the kind of row (test question, tutorial, …)",
    "counts": "yes or no: does the row count?",
    "input": "the input (source text)",
}
# Numbers that are not ratings.
_COUNTED = frozenset(
    (
        "n", "count", "index", "row", "rank", "order", "trust", "age", "wins", "total", "day",
        "length", "tokens", "p", "p_value", "weight", "batch", "version", "year",
        "id", "idx", "no", "number", "unnamed_0", "n_all", "z", "z_score", "turn",
    )
)  # fmt: skip
_NO_RATINGS = ("_id", "_time", "_count")
_NO = frozenset(("false", "0", "0.0", "no"))


class Plain(Layout):
    """One line per rating, or one line per output with a column for each criterion."""

    slug = "plain"
    title = "Plain table"
    files = (
        "CSV, TSV, JSON, JSON Lines or Parquet (.gz or not) with system, instance, worker, "
        "value, and criterion or a column for each criterion"
    )

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        looks = [_look(source) for source in sources]
        return max(looks, key=lambda look: look.surety, default=NOT_MINE)

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        import pandas as pd

        judgments = Judgments(cls.slug, frame({}))
        parts, extras = [], []
        for number, source in enumerate(sources):
            header = header_of(source)
            fields = _fields(header, choices)
            criteria = _criteria(source, header, fields, choices)
            if "system" not in fields or not (criteria or "value" in fields):
                _take_texts_beside(source, fields, judgments)
                continue
            table = table_of(source)
            judgments.problems += table.problems
            rows, extra = _rows(table, fields, criteria, judgments)
            if criteria and not choices.get("criteria"):
                _refuse_nearly_criteria(table, extra)
            parts.append(rows.assign(file=number))
            extras.append(extra)
        if not parts or not sum(map(len, parts)):
            raise GenieError(
                f"{sources[0].name if sources else 'The folder'} has no columns of systems "
                "and values: say which they are.",
                code="missing-column",
            )
        judgments.rows = pd.concat(parts, ignore_index=True)
        judgments.extra = pd.concat(extras, ignore_index=True).fillna("")
        lower = str(choices.get("lower_is_better") or "")
        judgments.lower_is_better = tuple(_listed(lower))
        say_doubles(judgments, sources[0].name)
        return judgments


def _look(source: Source) -> Look:
    header = header_of(source)
    fields = _fields(header, {})
    if not header or {"system_a", "system_b"} <= set(fields):
        return NOT_MINE
    criteria = _criteria(source, header, fields, {})
    choices = _choices(header, fields, criteria)
    known = {"system", "worker", "instance"} & set(fields)
    if "system" not in fields or not (criteria or "value" in fields):
        return NOT_MINE
    surety = {3: 0.8, 2: 0.6}.get(len(known), 0.3) if "worker" in fields else 0.3
    return Look(
        surety - 0.1 * bool(criteria),
        f"columns {', '.join(fields[f] for f in FIELDS if f in fields)}",
        choices,
    )


def _choices(
    header: Sequence[str], fields: Mapping[str, str], criteria: Sequence[str]
) -> tuple[Choice, ...]:
    asked = tuple(
        Choice(
            field,
            f"Column with {_IN_WORDS.get(field, f'the {field}')}",
            ("", *header),
            fields.get(field, ""),
            needed=field == "system" and field not in fields,
        )
        for field in FIELDS
    )
    several = (
        "Columns with the ratings of one criterion each (commas between the names)"
    )
    lower = "Criteria for which lower is better (commas between the names)"
    return (
        *asked,
        Choice("criteria", several, (), ", ".join(criteria)),
        Choice("lower_is_better", lower),
    )


def _fields(header: Sequence[str], choices: Mapping[str, Any]) -> dict[str, str]:
    """Return the column of each field by its name; choices win, "" being none."""
    chosen = {f: str(choices[f]) for f in FIELDS if choices.get(f) is not None}
    taken = set(chosen.values())
    left = [name for name in header if name not in taken]
    found = {f: c for f, c in fields_of(left).items() if f not in chosen}
    return {**found, **{f: c for f, c in chosen.items() if c in header}}


def _criteria(
    source: Source,
    header: Sequence[str],
    fields: Mapping[str, str],
    choices: Mapping[str, Any],
) -> list[str]:
    asked = _listed(str(choices.get("criteria") or ""))
    if asked:
        return [name for name in asked if name in header]
    if "value" in fields or "system" not in fields:
        return []
    left = [name for name in header if name not in fields.values() and _rates(name)]
    seen = rows_of_head(source, header)
    shares = {n: _share_of_numbers([row.get(n, "") for row in seen]) for n in left}
    whole = [name for name, share in shares.items() if share == 1]
    # A table whose only ratings have a wrong cell is read, and the cell is a problem.
    return whole or [name for name, share in shares.items() if share > 0.5]


def _rates(name: str) -> bool:
    return plain(name) not in _COUNTED and not plain(name).endswith(_NO_RATINGS)


def _share_of_numbers(words: Sequence[str]) -> float:
    given = ~is_nothing(words)
    return float(np.isfinite(numbers(words)[given]).mean()) if given.any() else 0.0


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _rows(
    table: Table,
    fields: Mapping[str, str],
    criteria: Sequence[str],
    judgments: Judgments,
) -> tuple[Any, Any]:
    shared = _shared(table, fields, judgments)
    parts, total = [], _totals(table, shared, judgments)
    for name in criteria or [fields["value"]]:
        refuse_both_ways(table, name)
        words, values, problems = answers(table, name)
        judgments.problems += problems
        if not criteria and (stated := stated_scale(name)):
            judgments.scales |= dict.fromkeys(map(str, shared["criterion"]), stated)
        words, values = np.where(total, "", words), np.where(total, np.nan, values)
        one = {**shared, "word": words, "value": values}
        parts.append({**one, "criterion": name} if criteria else one)
    _say_what_is_missing(table, shared, ~total, judgments)
    usual = np.array([role == Role.JUDGMENT.value for role in shared["role"]])
    _take_texts(table, fields, judgments, usual)
    for field, kept in (
        ("document", judgments.documents),
        ("domain", judgments.domains),
    ):
        if field in fields and "instance" in fields:
            pairs = zip(shared["instance"], words_of(table, fields[field]), strict=True)
            kept.update({instance: word for instance, word in pairs if word})
    used = {fields[field] for field in FIELDS if field in fields} | set(criteria)
    extra, problems = extra_of(table, used)
    judgments.problems += problems
    return stacked(parts, extra)


def _refuse_nearly_criteria(table: Table, names: Iterable[str]) -> None:
    """Refuse columns that would be a criterion but for a few cells.

    Raises ``nearly-numbers``, with the cells.
    """
    for name in filter(_rates, names):
        if odd := [str(one) for one in answers(table, name)[2] if one.fatal]:
            raise GenieError(
                f"{' '.join(odd[:5])} Cells that are no numbers: {len(odd):,}. If {name} is "
                "not a criterion, name the columns that are with --choose "
                "criteria=NAME,NAME.",
                code="nearly-numbers",
            )


def _shared(
    table: Table, fields: Mapping[str, str], judgments: Judgments
) -> dict[str, Any]:
    shared: dict[str, Any] = {
        field: words_of(table, fields.get(field))
        for field in ("instance", "page", "document")
    }
    shared |= {
        field: names_of(table, fields.get(field))
        for field in ("system", "worker", "criterion")
    }
    words = words_of(table, fields.get("at"))
    at, seconds = moments(words), numbers(words_of(table, fields.get("seconds")))
    began = moments(words_of(table, fields.get("began")))
    if "seconds" not in fields:
        # a column called time may have durations
        spent = numbers(words) if np.isnan(at).all() else at - began
        seconds = np.where(spent >= 0, spent, np.nan)
    places = numbers(words_of(table, fields.get("place")))
    places = np.where(np.isnan(places) | (np.abs(places) > 1e6), -1, places)
    # if places count from 1, there is no place 0
    first = int((places[places >= 0] >= 1).all())
    return {
        **shared,
        "row": table.rows,
        "role": _roles(table, fields, judgments),
        "at": at,
        "seconds": seconds,
        "place": np.maximum(places - first, -1).astype(np.int64),
    }


def _roles(table: Table, fields: Mapping[str, str], judgments: Judgments) -> list[str]:
    roles = [Role.JUDGMENT.value] * len(table.rows)
    if "role" in fields:
        found, unknown = roles_of(list(table.column(fields["role"])))
        roles = found or roles
        if found:
            judgments.problems += [
                Problem(
                    table.name, 0, fields["role"],
                    f"{word!r} is no role that is known: its rows do not count.",
                )
                for word in unknown
            ]  # fmt: skip
    if "counts" in fields:
        counts = [word.lower() not in _NO for word in table.column(fields["counts"])]
        cancelled = Role.CANCELLED.value
        roles = [r if c else cancelled for r, c in zip(roles, counts, strict=True)]
    return roles


def _totals(table: Table, shared: Mapping[str, Any], judgments: Judgments) -> Any:
    """Return the rows without instance and worker, and add problems for them."""
    total = shared["instance"] + shared["worker"] == ""
    total &= not total.all()
    judgments.problems += [
        Problem(table.name, int(row), "",
                "has neither instance nor worker, as a row of totals, and is left out; "
                "fill them in if it is a rating.")
        for row in table.rows[total]
    ]  # fmt: skip
    return total


_EMPTY = {
    "system": "fill it in",
    "worker": "it counts, as judged by somebody unknown",
    "instance": "fill it in",
}


def _say_what_is_missing(
    table: Table, shared: Mapping[str, Any], rows: Any, judgments: Judgments
) -> None:
    for field in ("worker", "instance"):
        if not (shared[field] != "").any():
            sentence = f"No column says the {field}: no agreement and no doubles by it."
            judgments.problems.append(Problem(table.name, 0, "", sentence, fatal=False))
    for field in ("system", "worker", "instance"):
        if (shared[field] != "").any():
            judgments.problems += [
                Problem(table.name, int(table.rows[i]), field, f"has no {field}: {_EMPTY[field]}.",
                        fatal=field == "system")
                for i in np.flatnonzero((shared[field] == "") & rows)
            ]  # fmt: skip


def _take_texts(
    table: Table, fields: Mapping[str, str], judgments: Judgments, usual: Any = None
) -> None:
    """Add inputs, references and outputs, the last from `usual` rows only."""
    if "instance" not in fields:
        return
    instances = table.column(fields["instance"])
    if "input" in fields:
        name = fields["input"]
        put_inputs(judgments.texts, instances, name, table.words[name])
    if "reference" in fields:
        put_references(judgments.texts, instances, table.words[fields["reference"]])
    if {"output", "system"} <= set(fields):
        systems = table.names(fields["system"])
        outputs = table.words[fields["output"]].to_numpy()
        if usual is not None:  # a damaged text is no system's output
            outputs = np.where(usual, outputs, "")
        put_outputs(judgments.texts, systems, instances, outputs)


def _take_texts_beside(
    source: Source, fields: Mapping[str, str], judgments: Judgments
) -> None:
    if source.ending in ENDINGS and {"instance", "output", "system"} <= set(fields):
        _take_texts(table_of(source), fields, judgments)
        return
    sentence = "has no columns of systems and values and was not read."
    judgments.problems.append(Problem(source.name, 0, "", sentence, fatal=False))
