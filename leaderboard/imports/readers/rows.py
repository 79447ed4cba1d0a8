"""The ratings of tables whose columns have roles."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.families import Column
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Role,
    frame,
    mark_repeated,
)
from leaderboard.imports.readers.mapping import EACH, SLUG, Chosen
from leaderboard.imports.readers.melt import Lines, parts_of, take_texts
from leaderboard.imports.readers.names import (
    different,
    is_nothing,
    numbers,
    plain,
    read_both_ways,
    stated_scale,
)
from leaderboard.imports.readers.patterns import is_pattern
from leaderboard.imports.readers.shapes import Read, join_files
from leaderboard.imports.readers.words import YES_NO, worths

if TYPE_CHECKING:
    import pandas as pd
from leaderboard.imports.readers.questions import BETWEEN

_TOTALS = (
    "average", "mean", "total", "sum", "overall", "all", "median", "mittelwert", "durchschnitt",
    "summe", "moyenne", "promedio", "media", "média", "平均",
)  # fmt: skip
#: Columns without a role that statistics of ratings need, and their names.
EXTRA = {
    "day": ("day",),
    "session": ("session", "session_id", "evaluation_session_id"),
    "simulated": ("simulated",),
}


def judged_rows(
    read: Sequence[Read],
    columns: Sequence[Column],
    said: Chosen,
    problems: list[Problem],
) -> Judgments:
    made = Judgments(
        SLUG,
        frame({}),
        said.counted,
        problems=problems,
        lower_is_better=said.lower_is_better,
        standardised=said.standardised and not said.raw,
    )
    join_files(read, columns)
    first = read[0].table.file
    problems += [
        Problem(first, 0, one, f"There is no column {one}: {why}.", fatal=False)
        for one, why in _missing_columns(columns, said)
    ]
    parts: list[pd.DataFrame] = []
    for one in read:
        lines = Lines(one.table.file, one.words, columns, said)
        if not lines.measures():
            take_texts(lines, made.texts)
            continue
        own = [
            frame({**p, "file": one.number}) for p in parts_of(lines, one.table.numbers)
        ]
        by_name = {plain(name): column for name, column in one.words.items()}
        extra = {
            key: np.tile(by_name[name], len(own))
            for key, names in EXTRA.items()
            for name in names
            if name in by_name
        }
        rows = _stack(own).assign(**extra)
        if len(own) > 1:
            order = np.argsort(np.tile(np.arange(lines.n), len(own)), kind="stable")
            rows = rows.iloc[order].reset_index(drop=True)
        parts.append(rows)
        take_texts(lines, made.texts)
        sentence = "is no kind of row that is known: its rows do not count."
        problems += [
            Problem(one.table.file, 0, name, f"{word!r} {sentence}")
            for name, word in lines.unknown_kinds
        ]
    if not parts:
        raise GenieError("No file has a column of ratings.", code="no-rows")
    rows = _stack(parts)
    rows.loc[is_nothing(rows["word"].to_numpy()), "word"] = ""
    names = {one.number: one.table.file for one in read}
    explained = _number(rows, said, names, problems)
    if said.raw:
        _make_raw(rows, read)
    if (lost := (rows["word"] == "") & rows["value"].isna()).any():
        places = rows[["file", "row"]]
        n = len(places.drop_duplicates()) - len(places[~lost].drop_duplicates())
        sentence = f"Rows without a rating, which are left out: {n:,}."
        if n:
            made.report(names[rows["file"][0]], 0, "rating", sentence, fatal=False)
        rows = rows[~lost].reset_index(drop=True)
    if said.after:
        rows["system"] = rows["system"].str.partition(said.after)[2]
    if said.split:
        rows["system"] = rows["system"].str.split(BETWEEN)
        rows = rows.explode("system", ignore_index=True)
    rows = _usable(rows, names, made.problems)
    _name_by_kind(rows)
    made.rows = _ranked_first(rows, said)
    if more := [name for name in EXTRA if name in rows]:
        made.extra = made.rows[more].fillna("")
        made.rows = made.rows.drop(columns=more)
    documents = made.rows[["instance", "document"]]
    documents = documents[(documents != "").all(axis=1)].drop_duplicates("instance")
    made.documents = dict(documents.to_numpy().tolist())
    made.scales = explained | {
        name: stated
        for one in columns
        if one.role == "rating"
        for name in one.fields
        if (stated := stated_scale(name))
    }
    if said.scale:
        made.scales = dict.fromkeys(
            map(str, made.rows["criterion"].unique()), said.scale
        )
    _tell(made, names)
    return made


def _missing_columns(
    columns: Sequence[Column], said: Chosen
) -> Iterator[tuple[str, str]]:
    rated = [one for one in columns if one.role in ("rating", "choice")]
    names = {one.name for one in rated}
    for name in said.columns.get("rating", ()) if said.may_lack else ():
        if name not in names and not is_pattern(name):
            yield name, f"the ratings are {', '.join(names)}"
    numbered = [one for one in columns if one.role != "ignore" and "{part}" in one.name]
    all_ = {fields["part"]: n for one in numbered for n, fields in one.fields.items()}
    for one in rated if all_ else ():
        # a single column has no number yet
        if one not in numbered and (last := re.search(r"\d+$", one.name)):
            stem = f"{one.name[: last.start()]}{{part}}"
            numbered.append(Column(stem, {one.name: {"part": last[0]}}, "", ""))
    for one in numbered:
        own = {fields["part"] for fields in one.fields.values()}
        for part in all_.keys() - own if own & all_.keys() else ():
            yield one.name.replace("{part}", part), f"there is {all_[part]}"


def _usable(
    rows: pd.DataFrame, names: Mapping[int, str], problems: list[Problem]
) -> pd.DataFrame:
    """Leave out rows without a system, of totals, and of one system twice."""
    counts = rows["role"] == Role.JUDGMENT.value
    has = {name: rows[name].astype(bool) for name in ("system", "instance", "worker")}
    total = ~(has["instance"] | has["worker"])
    bad = np.zeros(len(rows), bool)
    for field_, sentence, found in (
        ("system", "has no system: fill it in.", counts & ~has["system"]),
        ("", "compares no two different systems.", rows["other"] == rows["system"]),
        (
            "",
            "has neither an item nor a rater, as a row of totals, and is left out; fill "
            "them in if it is a rating.",
            (total & bool(has["instance"].any()))
            | rows["instance"].str.lower().isin(_TOTALS),
        ),
    ):
        new = found.to_numpy() & ~bad
        bad |= new
        lines = rows.loc[new, ["file", "row"]].drop_duplicates().itertuples(index=False)
        named = rows[["system", "instance"]][new].apply(
            lambda one: one.str.lower().isin(_TOTALS)
        )
        fatal = not named.any(axis=1).all()
        problems += [
            Problem(names[f], int(row), field_, sentence, fatal) for f, row in lines
        ]
    return rows[~bad].reset_index(drop=True) if bad.any() else rows


def _name_by_kind(rows: pd.DataFrame) -> None:
    """Distinguish a criterion of two kinds of lines by another that only one kind has."""
    import pandas as pd

    codes, names = pd.factorize(rows["criterion"])
    if not 2 < len(names) < 60:
        return
    lines = pd.MultiIndex.from_frame(rows[["file", "row"]])
    bits = pd.Series(1 << codes, lines)
    masks = bits[~pd.Series(codes, lines).reset_index().duplicated().to_numpy()]
    masks = masks.groupby(level=[0, 1]).sum()
    often = masks.value_counts(normalize=True)
    for a, b in combinations(often.index[often > 0.1], 2):
        own = (a & ~b, b & ~a)
        beside = [(masks & one) > 0 for one in own]
        if a & b and all(own) and not (beside[0] & beside[1]).any():
            for one, there in zip(own, beside, strict=True):
                mine = there.reindex(lines).to_numpy() & (bits & a & b > 0).to_numpy()
                name = names[(int(one) & -int(one)).bit_length() - 1]
                rows.loc[mine, "criterion"] += f" (beside {name})"
            return


def _stack(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _number(
    rows: pd.DataFrame, said: Chosen, names: Mapping[int, str], problems: list[Problem]
) -> dict[str, str]:
    """Set the values of words, and return the scales of words for 0 and 1.

    If all answers are yes or no, they are 1 and 0, with a problem that shows it.
    """
    scales: dict[str, str] = {}
    words, values = rows["word"].to_numpy(copy=True), rows["value"].to_numpy(copy=True)
    criteria, rated = rows["criterion"].to_numpy(), (rows["other"] == "").to_numpy()
    places, which = different(criteria)
    for k, criterion in enumerate(criteria[places]):
        mine = rated & (which == k)
        if read_both_ways(words[mine]):
            i = np.flatnonzero(mine)[np.argmax(~np.isnan(numbers(words[mine])))]
            raise GenieError(
                f"{names[rows['file'][i]]}, row {rows['row'][i]:,}: {words[i]!r} can be "
                f"{words[i].replace(',', '.')} or {words[i].replace(',', '')}, as all "
                f"numbers of {criterion or 'the ratings'}; write it in one of these two "
                "ways.",
                code="two-readings",
            )
        known = {**said.words.get("*", {}), **said.words.get(criterion, {})}
        answers = {word.lower() for word in set(words[mine])} - {""}
        if answers and answers <= YES_NO.keys() - known.keys():
            sentence = f"Yes or true is 1 here, and no or false is 0 ({criterion})."
            place = names[rows["file"][int(np.argmax(mine))]]
            problems.append(Problem(place, 0, "", sentence, fatal=False))
            known = {**YES_NO}
        values[mine] = worths(words[mine], known)
        if {0.0, 1.0} == {*values[mine][~np.isnan(values[mine])]} <= {*known.values()}:
            scales[criterion] = "0 to 1"
    places, which = different(words)
    none = {
        word
        for table in said.words.values()
        for word, worth in table.items()
        if worth == "none"
    }
    left_out = [" ".join(word.lower().split()) in none for word in words[places]]
    mine = np.array(left_out, dtype=bool)[which]
    words[mine], values[mine] = "", np.nan
    rows["word"], rows["value"] = words, values
    return scales


def _make_raw(rows: pd.DataFrame, read: Sequence[Read]) -> None:
    known: dict[str, tuple[float, float]] = {}
    for words in [one.words for one in read if {"mean", "sd"} <= one.words.keys()]:
        moments = zip(numbers(words["mean"]), numbers(words["sd"]), strict=True)
        known |= zip(next(iter(words.values())), moments, strict=True)
    if unknown := sorted({*rows["worker"]} - known.keys()):
        raise GenieError(
            "Z-scores are made raw scores by a table with a row for each rater and the "
            f"columns mean and sd; it lacks {len(unknown):,} raters. Leave out raw=yes, or "
            "add the table.",
            code="unknown-choice",
        )
    mean, sd = np.array([known[rater] for rater in rows["worker"]]).T
    rows["value"] = (rows["value"] * sd + mean).round(3)


def _ranked_first(rows: pd.DataFrame, said: Chosen) -> pd.DataFrame:
    if said.ranks in ("", EACH):
        return rows
    if said.ranks not in set(rows["criterion"]):
        raise GenieError(
            f"There is no criterion {said.ranks!r} to rank by; there are "
            f"{', '.join(sorted(set(rows['criterion'])))}.",
            code="unknown-choice",
        )
    first = (rows["criterion"] != said.ranks).to_numpy()
    return rows.iloc[np.argsort(first, kind="stable")].reset_index(drop=True)


def _tell(made: Judgments, names: Mapping[int, str]) -> None:
    rows, first = made.rows, next(iter(names.values()))
    if made.standardised:
        sentence = "These are z-scores of raters, not raw scores."
        made.report(first, 0, "rating", sentence, fatal=False)
    for name in ("worker", "instance"):
        if not any(rows[name]):
            sentence = f"No column says the {name}: no agreement and no doubles by it."
            made.report(first, 0, "", sentence, fatal=False)
    # all rows without a word were left out
    wrong = rows["value"].isna()
    share = wrong.groupby(rows["criterion"]).transform("mean") if wrong.any() else 0
    for i in np.flatnonzero(wrong & (share < 0.5)):
        sentence = (
            f"{rows['word'][i][:40]!r} is no number or choice that is known; correct it, "
            "leave the cell empty, or say what it counts (words)."
        )
        made.report(
            names[rows["file"][i]], int(rows["row"][i]), rows["criterion"][i], sentence
        )
    mark_repeated(made, first)
