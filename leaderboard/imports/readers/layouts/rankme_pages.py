"""RankME: several outputs side by side on a page, with a number each."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen
from leaderboard.imports.readers.judgments import Judgments, frame
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import fields_of, moments, numbers
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.tables import (
    Table,
    extra_of,
    header_of,
    table_of,
)
from leaderboard.imports.readers.taking import (
    SAME_THING,
    answers,
    names_of,
    put_inputs,
    put_outputs,
    say_doubles,
    stacked,
    words_of,
)

_CRITERIA = {
    "natur": "naturalness",
    "nat": "naturalness",
    "inf": "informativeness",
    "inform": "informativeness",
    "qual": "quality",
    "flu": "fluency",
}
# Other columns for each place of a page.
_OTHERS = ("sys", "ref", "dupl_ref")
# Names of designs; magnitude estimation has no upper end.
_MAGNITUDES = re.compile(r"(plain|rank)[_-]?me|magnitude", re.IGNORECASE)
_ROWS = ("judgement", "mr_id", "system", "position", "worker", "time")


class RankmePages(Layout):
    """Pages of the E2E NLG Challenge, and the rows of the RankME study."""

    slug = "rankme-pages"
    title = "RankME and E2E pages"
    files = (
        "one line a page with sys1..sys5 and natur1..natur5 (E2E); or one line an output "
        "with judgement, mr_id, system, position and criteria (RankME)"
    )
    tried_on = "E2E NLG Challenge: 21,195 ratings; RankME: nine files"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        pages = [s for s in sources if _places(header_of(s))]
        if pages:
            n = _places(header_of(pages[0]))
            return Look(0.97, f"pages of {n} systems: sys1 to sys{n}", _choice(pages))
        rows = [s for s in sources if _is_rows(header_of(s))]
        if rows:
            return Look(0.95, "columns of RankME", _choice(rows))
        return NOT_MINE

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        """Read all files of one design: the same name except for the criterion."""
        found = {n: s for n, s in enumerate(sources) if _design(s)}
        designs = sorted({_design(source) for source in found.values()})
        design = chosen(choices, "design", designs)
        judgments = Judgments(cls.slug, frame({}))
        parts, extras = [], []
        for number, source in found.items():
            if _design(source) != design:
                continue
            table = table_of(source)
            judgments.problems += table.problems
            places = _places(table.header)
            make = _from_pages if places else _from_rows
            rows, extra = make(table, judgments)
            parts.append(rows.assign(file=number))
            extras.append(extra)
        import pandas as pd

        judgments.rows = pd.concat(parts, ignore_index=True)
        judgments.extra = pd.concat(extras, ignore_index=True).fillna("")
        for source in sources:
            _take_outputs(source, judgments)
        if judgments.rows.empty:
            raise GenieError(f"{design} has no numbers.", code="no-rows")
        if _MAGNITUDES.search(design) and (judgments.judged["value"] > 0).all():
            criteria = judgments.rows["criterion"].unique()
            judgments.scales = dict.fromkeys(map(str, criteria), "magnitude")
        say_doubles(judgments, design, (*SAME_THING, "page"))
        return judgments


def _choice(sources: Sequence[Source]) -> tuple[Choice, ...]:
    designs = tuple(sorted({_design(source) for source in sources}))
    found = designs[0] if len(designs) == 1 else ""
    question = "Which design? Scales of different designs are not mixed."
    return (Choice("design", question, designs, found, needed=len(designs) > 1),)


def _design(source: Source) -> str:
    header = header_of(source)
    if _places(header):
        return source.stem
    if not _is_rows(header):
        return ""
    return re.sub(rf"_({'|'.join(_named(header))})$", "", source.stem)


def _places(header: Sequence[str]) -> int:
    n = 0
    while f"sys{n + 1}" in header:
        n += 1
    return n if n > 1 and _stems(header, n) and "worker" in fields_of(header) else 0


def _stems(header: Sequence[str], places: int) -> list[str]:
    stems = [name[:-1] for name in header if name.endswith("1")]
    return [
        stem
        for stem in dict.fromkeys(stems)
        if stem.strip("_ ")
        and stem not in _OTHERS
        and all(f"{stem}{place}" in header for place in range(1, places + 1))
    ]


def _is_rows(header: Sequence[str]) -> bool:
    return set(_ROWS) <= set(header) and bool(_named(header))


def _named(header: Sequence[str]) -> list[str]:
    return [re.escape(name) for name in header if name not in _ROWS]


def _from_pages(table: Table, judgments: Judgments) -> tuple[Any, Any]:
    header = table.header
    fields = fields_of(header)
    places = _places(header)
    stems = _stems(header, places)
    n = len(table.rows)
    at = _moments(table, fields.get("at"))
    # the outputs on one person's screen, if the file has it
    screen = next(
        (h for h in ("judgment", "judgement", fields.get("page")) if h in header), None
    )
    instance = words_of(table, fields.get("instance"))
    shared = {
        "row": table.rows,
        "worker": words_of(table, fields.get("worker")),
        "instance": instance,
        "page": words_of(table, screen) if screen else table.rows.astype(str),
        "at": at,
        "seconds": at - _moments(table, fields.get("began")),
    }
    taken = {fields.get("worker"), fields.get("instance"), screen, fields.get("at")}
    parts = []
    for stem in stems:
        for place in range(1, places + 1):
            column, system = f"{stem}{place}", f"sys{place}"
            taken |= {column, system, f"ref{place}"}
            words, values = _checked(table, column, judgments)
            systems = words_of(table, system)
            parts.append(
                {**shared, "value": values, "word": words, "system": systems,
                 "place": np.full(n, place - 1), "criterion": _criterion(stem)}
            )  # fmt: skip
            if f"ref{place}" in header:
                put_outputs(
                    judgments.texts, systems, instance, table.words[f"ref{place}"]
                )
    if "input" in fields:
        name = fields["input"]
        put_inputs(judgments.texts, instance, name, table.words[name])
    extra, problems = extra_of(table, {*taken, fields.get("input")})  # type: ignore[arg-type]
    judgments.problems += problems
    return stacked(parts, extra)


def _from_rows(table: Table, judgments: Judgments) -> tuple[Any, Any]:
    header = table.header
    places = numbers(words_of(table, "position"))
    criteria = [name for name in header if name not in _ROWS]
    judged = words_of(table, "judgement")
    apart = table.name.rpartition("/")[2].partition(".")[0]
    shared = {
        "row": table.rows,
        "worker": names_of(table, "worker"),
        "instance": words_of(table, "mr_id"),
        "system": names_of(table, "system"),
        # numbers of ratings start again in each file
        "page": [f"{apart}:{number}" for number in judged],
        "place": np.where(np.isnan(places), 0, places).astype(np.int64) - 1,
        "at": moments(words_of(table, "time")),
    }
    parts = []
    for name in criteria:
        words, values = _checked(table, name, judgments)
        parts.append({**shared, "value": values, "word": words, "criterion": name})
    extra, _ = extra_of(table, header)
    return stacked(parts, extra)


def _moments(table: Table, name: str | None) -> Any:
    return moments(words_of(table, name))


def _criterion(stem: str) -> str:
    stem = stem.strip("_ ")
    return _CRITERIA.get(stem.lower(), stem)


def _checked(table: Table, name: str, judgments: Judgments) -> tuple[Any, Any]:
    words, values, problems = answers(table, name)
    judgments.problems += problems
    return words, values


def _take_outputs(source: Source, judgments: Judgments) -> None:
    """Add the texts of a file outputs.csv beside: mr_id, system, mr, text."""
    if not {"mr_id", "system", "mr", "text"} <= set(header_of(source)):
        return
    table = table_of(source)
    instance = table.column("mr_id")
    put_inputs(judgments.texts, instance, "mr", table.words["mr"])
    put_outputs(judgments.texts, table.column("system"), instance, table.words["text"])
