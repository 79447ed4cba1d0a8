"""Surveys of Qualtrics and Prolific: a line per participant, a column per question."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.column_names import compiled, guessed
from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import (
    PERSONAL,
    fields_of,
    is_nothing,
    moments,
    numbers,
    plain,
)
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.tables import (
    SEPARATED,
    Table,
    header_of,
    is_personal,
    table_of,
)
from leaderboard.imports.readers.taking import say_doubles, stacked, words_of

#: Fields of a participant beside the answers.
_KEPT = frozenset(
    (
        "status", "finished", "progress", "duration_in_seconds", "userlanguage", "consent",
        "distributionchannel", "time_taken", "completed_at", "study_id",
    )
)  # fmt: skip
_METADATA = _KEPT | {
    "startdate", "enddate", "recordeddate", "responseid", "ipaddress", "prolific_pid",
    "recipientlastname", "recipientfirstname", "recipientemail", "locationlatitude",
    "locationlongitude", "externalreference", "participant_id", "session_id",
}  # fmt: skip
_CHECK = re.compile(
    r"attention|attn|catch|instructed|\bimc\b|\bcheck|captcha", re.IGNORECASE
)
_IMPORT_ID = '{"ImportId"'
_PREVIEWS = frozenset(("survey preview", "preview", "1", "survey test", "2"))
_CANCELLED = frozenset(("returned", "timed-out", "timed out", "rejected", "spam", "8"))
_NO = frozenset(("false", "0", "no"))
_LEADING = re.compile(r"\s*([+-]?\d+(?:[.,]\d+)?)(?!\d)\s*(?:[^\w\s].*|$)", re.DOTALL)


class WideSurvey(Layout):
    """A column for each output and criterion; its name has both."""

    slug = "wide"
    title = "Survey: one line a participant (Qualtrics, Prolific)"
    files = (
        "CSV or TSV with columns such as 1_red_fluency or Q12_sysA_item3_quality; Qualtrics' "
        "two extra lines under the header are known"
    )

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        looks = [_look(source) for source in sources if source.ending in SEPARATED]
        return max(looks, key=lambda look: look.surety, default=NOT_MINE)

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        import pandas as pd

        judgments = Judgments(cls.slug, frame({}))
        parts, extras = [], []
        for number, source in enumerate(sources):
            header = header_of(source)
            pattern = str(choices.get("pattern") or guessed(_answers(header)))
            form = compiled(pattern) if pattern else None
            if form is None or not any(map(form.fullmatch, header)):
                sentence = f"has no columns of the form {pattern or 'of answers'}."
                judgments.problems.append(
                    Problem(source.name, 0, "", sentence, fatal=False)
                )
                continue
            table = _without_headers(table_of(source))
            judgments.problems += table.problems
            rows, extra = _rows(table, form, choices, judgments)
            parts.append(rows.assign(file=number))
            extras.append(extra)
        if not sum(map(len, parts)):
            raise GenieError(
                "No column has a name that says system and instance: give a pattern such as "
                "{system}_{instance}_{criterion}.",
                code="missing-column",
            )
        judgments.rows = pd.concat(parts, ignore_index=True)
        judgments.extra = pd.concat(extras, ignore_index=True).fillna("")
        lower = str(choices.get("lower_is_better") or "").split(",")
        judgments.lower_is_better = tuple(one.strip() for one in lower if one.strip())
        say_doubles(judgments, sources[0].name)
        return judgments


def _look(source: Source) -> Look:
    header = header_of(source)
    fields = fields_of(header)
    if "system" in fields or {"system_a", "system_b"} <= set(fields):
        return NOT_MINE
    survey = len({plain(name) for name in header} & _METADATA) > 1
    pattern = guessed(_answers(header))
    if not pattern and not survey:
        return NOT_MINE
    surety = 0.9 if survey and pattern else 0.65 if pattern else 0.4
    because = f"columns like {pattern}" if pattern else "columns of a survey"
    asked = "Where are system, instance and criterion in the columns' names?"
    return Look(
        surety,
        because,
        (
            Choice("pattern", asked, (), pattern, needed=not pattern),
            Choice("worker", "Which column names the participant?", tuple(header),
                   fields.get("worker", "")),
            Choice("labels", "What do words count (Good=4, Bad=2)?"),
            Choice("lower_is_better", "For which criteria is less better?"),
        ),
    )  # fmt: skip


def _answers(header: Sequence[str]) -> list[str]:
    known = _METADATA | PERSONAL
    return [c for c in header if plain(c) not in known and not _CHECK.search(c)]


def _without_headers(table: Table) -> Table:
    marked = [
        any(cell.startswith(_IMPORT_ID) for cell in cells)
        for cells in table.words.iloc[:3].to_numpy()
    ]
    if True not in marked:
        return table
    first = marked.index(True) + 1
    if first >= len(table.rows):
        raise GenieError(f"{table.name} has no participants.", code="no-rows")
    words = table.words.iloc[first:].reset_index(drop=True)
    return Table(table.name, words, table.rows[first:], table.problems)


def _rows(
    table: Table,
    form: re.Pattern[str],
    choices: Mapping[str, Any],
    judgments: Judgments,
) -> tuple[Any, Any]:
    roles = _roles(table)
    shared = _shared(table, choices, judgments)
    labels = _labels(str(choices.get("labels") or ""))
    asked = {name: form.fullmatch(name) for name in table.header}
    asked = {n: m for n, m in asked.items() if m or _CHECK.search(n)}
    said = {name: _said(table.column(name), labels) for name in asked}
    judgments.problems += _check_said(
        table, {n: said[n] for n, m in asked.items() if m}
    )
    parts = []
    for name, found in asked.items():
        words, values = said[name]
        check = _CHECK.search(name) is not None
        about = found.groupdict() if found else {"instance": name, "system": ""}
        parts.append(
            {
                **shared,
                "criterion": "",
                **about,
                "role": [_checked(role, check) for role in roles],
                "word": words,
                "value": values,
            }
        )
    plain_names = {name: plain(name) for name in table.header}
    kept = [n for n in table.header if plain_names[n] in _KEPT and n not in asked]
    kept = [name for name in kept if not is_personal(name, table.words[name])]
    _say_what_is_left(table, {*asked, *kept}, choices, judgments)
    return stacked(parts, table.words[kept])


def _checked(role: str, check: bool) -> str:
    return Role.PLANTED.value if check and role == Role.JUDGMENT.value else role


def _roles(table: Table) -> list[str]:
    by_name = {plain(name): name for name in table.header}
    columns = {
        name: [word.lower() for word in table.column(by_name[name])]
        for name in ("status", "finished", "consent")
        if name in by_name
    }
    roles = [Role.JUDGMENT.value] * len(table.rows)
    for i in range(len(roles)):
        status = columns["status"][i] if "status" in columns else ""
        no = any(columns[c][i] in _NO for c in ("finished", "consent") if c in columns)
        if status in _PREVIEWS:
            roles[i] = Role.DRAFT.value
        elif no or status in _CANCELLED:
            roles[i] = Role.CANCELLED.value
    return roles


def _worker(table: Table, choices: Mapping[str, Any]) -> str | None:
    chosen = str(choices.get("worker") or "")
    return chosen if chosen in table.header else fields_of(table.header).get("worker")


def _shared(
    table: Table, choices: Mapping[str, Any], judgments: Judgments
) -> dict[str, Any]:
    name = _worker(table, choices)
    workers = words_of(table, name)
    unnamed = workers == ""
    if unnamed.any():
        counted = [f"participant-{row}" for row in table.rows]
        workers = np.where(unnamed, np.array(counted, dtype=object), workers)
        sentence = (
            f"Lines that name no participant are one each: {int(unnamed.sum()):,}."
        )
        judgments.problems.append(
            Problem(table.name, 0, name or "", sentence, fatal=False)
        )
    by_name = {plain(column): column for column in table.header}
    ends = ("enddate", "recordeddate", "completed_at", "timestamp", "time")
    end = next((by_name[one] for one in ends if one in by_name), None)
    return {"row": table.rows, "worker": workers, "at": moments(words_of(table, end))}


def _labels(text: str) -> dict[str, str]:
    pairs = [part.rpartition("=") for part in text.split(",")]
    return {a.strip().lower(): b.strip() for a, mark, b in pairs if mark}


def _said(words: Any, labels: Mapping[str, str]) -> tuple[Any, Any]:
    nothing = is_nothing(words)
    counted = [labels.get(word.lower(), word) for word in words]
    if np.isnan(numbers(counted)[~nothing]).any():
        found = [_LEADING.fullmatch(word) for word in counted]
        counted = [m[1] if m else w for m, w in zip(found, counted, strict=True)]
    return np.where(nothing, "", words), numbers(counted)


def _check_said(table: Table, said: Mapping[str, tuple[Any, Any]]) -> list[Problem]:
    """Return problems of words among numbers; if most are words, none is a number."""
    n_said = sum(int((words != "").sum()) for words, _ in said.values())
    n_numbers = sum(int((~np.isnan(values)).sum()) for _, values in said.values())
    problems = []
    for name, (words, values) in said.items():
        if n_numbers * 2 < n_said:
            values[:] = np.nan
            continue
        for i in np.flatnonzero(np.isnan(values) & (words != "")):
            sentence = f"{words[i][:40]!r} is no number: say what it counts (labels)."
            problems.append(Problem(table.name, int(table.rows[i]), name, sentence))
            words[i] = ""
    return problems


def _say_what_is_left(
    table: Table, used: set[str], choices: Mapping[str, Any], judgments: Judgments
) -> None:
    left = [n for n in table.header if n not in used and n != _worker(table, choices)]
    personal = [n for n in left if is_personal(n, table.words[n])]
    others = [n for n in left if n not in personal and plain(n) not in _METADATA]
    sentence = "says who somebody is and was not taken."
    judgments.problems += [
        Problem(table.name, 0, name, sentence, fatal=False) for name in personal
    ]
    if others:
        sentence = "Columns that were not taken: " + ", ".join(others[:20]) + "."
        judgments.problems.append(Problem(table.name, 0, "", sentence, fatal=False))
    told = "The time is when a participant ended, not of single answers."
    judgments.problems.append(Problem(table.name, 0, "", told, fatal=False))
