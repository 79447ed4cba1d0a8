"""WMT's crowdsourced direct assessment: one row per rating, with quality control."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen
from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.names import Floats, numbers
from leaderboard.imports.readers.sources import Source

if TYPE_CHECKING:
    import pandas as pd

_Z_NAME = re.compile(r"ad-([a-z]{2,3})([a-z]{2})-good-stnd(-redup)?")
_RAW_NAME = re.compile(r"ratings-([a-z]{2,3})-([a-z]{2,3})")
_Z_COLUMNS = [
    "HITId",
    "WorkerId",
    "Input.src",
    "Input.trg",
    "Input.item",
    "hit",
    "sys_id",
    "rid",
    "type",
    "sid",
    "score",
    "time",
]
_RAW_COLUMNS = ["hit", "worker", "system", "rid", "type", "segment", "raw", "seconds"]
_SAME = dict(zip(("HITId", "WorkerId", "sys_id", "rid", "type", "sid", "score", "time"),
                 _RAW_COLUMNS, strict=True))  # fmt: skip
_ROLES = {
    "SYSTEM": Role.JUDGMENT,
    "REPEAT": Role.REPEATED,
    "REF": Role.REFERENCE,
    "BAD_REF": Role.PLANTED,
}
_CRITERIA = {"ad": "adequacy", "fl": "fluency"}
# Of z times the standard deviation: both were printed with seven digits.
_CLOSE = 0.01


class WmtDa(Layout):
    """Files of direct assessment as WMT publishes them, for one language pair."""

    slug = "wmt-da"
    title = "WMT direct assessment (crowd)"
    files = (
        "ad-XXYY-good-stnd.csv (z scores), worker-mean-sd-XX-YY.csv to get the raw ones "
        "back, or ratings-XX-YY.csv (raw); .gz or not"
    )
    tried_on = "WMT22 into English: seven pairs, 187,734 rows"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        found = _files(sources)
        if not found:
            return NOT_MINE
        pairs = sorted({pair for pair, _ in found})
        kinds = [kind for kind in ("raw", "z") if any(k == kind for _, k in found)]
        return Look(
            0.98,
            f"columns of direct assessment, {len(pairs)} pairs of languages",
            (
                Choice(
                    "pair", "Which pair of languages?", tuple(pairs),
                    pairs[0] if len(pairs) == 1 else "", needed=len(pairs) > 1,
                ),
                Choice(
                    "values", "The scores as given (raw), or standardised (z)?",
                    ("raw", "z"), kinds[0],
                ),
            ),
        )  # fmt: skip

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        """Read one pair; raw scores if possible, unless z is asked for."""
        found = _files(sources)
        pair = chosen(choices, "pair", sorted({pair for pair, _ in found}))
        files = {kind: number for (p, kind), number in found.items() if p == pair}
        moments = _worker_moments(sources, pair)
        # an unreadable file is an error, and does not change the numbers silently
        beside = any(s.stem == f"worker-mean-sd-{pair}" for s in sources)
        usual = "raw" if "raw" in files or beside else "z"
        values = chosen(choices, "values", ("raw", "z"), usual)
        kind = values if values in files else "z"
        if kind not in files or (kind != values and not moments):
            missing = "worker-mean-sd" if kind in files else "ad-...-good-stnd"
            raise GenieError(
                f"For {values} scores of {pair}, add the file {missing}.",
                code="no-file",
            )
        number = files[kind]
        table, problems = _table(sources[number], kind)
        scores = numbers(table["raw"].to_numpy())
        if kind != values:
            scores, more = _raw(scores, table, moments, sources[number].name)
            problems += more
        judgments = _judgments(table, scores, number, sources, problems)
        judgments.standardised = values == "z"
        if values == "raw":
            criteria = judgments.rows["criterion"].unique()
            judgments.scales = dict.fromkeys(map(str, criteria), "0 to 100")
        judgments.languages = tuple(pair.split("-"))  # type: ignore[assignment]
        return judgments


def _files(sources: Sequence[Source]) -> dict[tuple[str, str], int]:
    """Return the files of ratings: (pair, "z" or "raw") -> number of the source."""
    found: dict[tuple[str, str], int] = {}
    for number, source in enumerate(sources):
        z, raw = _Z_NAME.fullmatch(source.stem), _RAW_NAME.fullmatch(source.stem)
        if not (z or raw) and len(sources) > 1:
            continue  # other files are not opened
        first, *rest = [*source.lines(2), ""][:2]
        if first.split() == _Z_COLUMNS:
            cells = rest[0].split()
            pair = "-".join(cells[2:4]) if len(cells) > 3 else ""
            pair = "-".join(z.groups()[:2]) if z else pair
            if pair:
                found.setdefault((pair, "z"), number)
        elif first.strip().split(",") == _RAW_COLUMNS:
            pair = "-".join(raw.groups()) if raw else "unknown-unknown"
            found.setdefault((pair, "raw"), number)
    return found


def _table(source: Source, kind: str) -> tuple[pd.DataFrame, list[Problem]]:
    import pandas as pd

    columns = _Z_COLUMNS if kind == "z" else _RAW_COLUMNS
    # The header has blanks between its names, the rows have tabs.
    cut = str.split if kind == "z" else (lambda line: line.strip().split(","))
    cells, numbered, problems = [], [], []
    for row, line in enumerate(source.lines()[1:], 2):
        parts = cut(line)
        if len(parts) == len(columns):
            cells.append(parts)
            numbered.append(row)
        elif line.strip():
            sentence = f"has {len(parts)} cells instead of {len(columns)}."
            problems.append(Problem(source.name, row, "", sentence))
    if not cells:
        raise GenieError(f"{source.name} has no rows.", code="no-rows")
    table = pd.DataFrame(dict(zip(columns, zip(*cells, strict=True), strict=True)))
    if kind == "z":
        table = table.drop(columns="hit").rename(columns=_SAME)
    return table.assign(row=numbered), problems


def _worker_moments(
    sources: Sequence[Source], pair: str
) -> dict[str, tuple[float, float]]:
    found = {}
    for source in sources:
        if source.stem != f"worker-mean-sd-{pair}":
            continue
        for line in source.lines()[1:]:
            worker, *rest = line.split(",")
            mean, sd = [*numbers(rest), np.nan, np.nan][:2]
            found[worker] = (float(mean), float(sd))
    return found


def _raw(
    z: Floats,
    table: pd.DataFrame,
    moments: Mapping[str, tuple[float, float]],
    name: str,
) -> tuple[Floats, list[Problem]]:
    """Undo the standardization; raw scores are whole numbers."""
    unknown = (np.nan, np.nan)
    mean, sd = np.array([moments.get(w, unknown) for w in table["worker"]]).T
    raw = z * sd + mean
    whole = np.round(raw)
    raw = np.where(np.abs(raw - whole) < _CLOSE, whole, raw)
    lost = sorted(set(table["worker"][np.isnan(mean * sd)]))
    sentence = "has no mean and standard deviation in worker-mean-sd: no raw scores."
    return raw, [Problem(name, 0, worker, sentence) for worker in lost]


def _judgments(
    table: pd.DataFrame,
    scores: Floats,
    number: int,
    sources: Sequence[Source],
    problems: list[Problem],
) -> Judgments:
    kinds = table["type"]
    roles = kinds.map({kind: role.value for kind, role in _ROLES.items()})
    name = sources[number].name
    for i in np.flatnonzero(roles.isna()):
        sentence = f"{kinds[i]!r} is none of {', '.join(_ROLES)}; the row is left out."
        problems.append(Problem(name, int(table["row"][i]), "type", sentence))
    for i in np.flatnonzero(np.isnan(scores)):
        sentence = f"{table['raw'][i]!r} gives no score; the row is left out."
        problems.append(Problem(name, int(table["row"][i]), "score", sentence))
    good = (roles.notna() & ~np.isnan(scores)).to_numpy()
    kept = table[good].reset_index(drop=True)
    items = kept.get("Input.item")
    rows = frame(
        {
            "file": number,
            "row": kept["row"].to_numpy(),
            "role": roles[good].tolist(),
            "worker": kept["worker"].tolist(),
            "instance": kept["segment"].tolist(),
            "system": kept["system"].tolist(),
            "criterion": "adequacy"
            if items is None
            else items.replace(_CRITERIA).tolist(),
            "value": scores[good],
            "word": kept["raw"].tolist(),
            "page": kept["hit"].tolist(),
            "document": kept["rid"].tolist(),
        }
    )
    documents = dict(zip(kept["segment"], kept["rid"], strict=True))
    extra = _extra(kept, sources)
    told = "holds the time of a whole HIT on each of its rows: no times of judgments."
    problems.append(Problem(name, 0, "time", told, fatal=False))
    return Judgments(
        WmtDa.slug,
        rows,
        (Role.JUDGMENT, Role.REPEATED),
        extra,
        problems,
        documents=documents,
    )


def _extra(kept: pd.DataFrame, sources: Sequence[Source]) -> pd.DataFrame:
    extra = kept[["type", "seconds"]].rename(columns={"seconds": "hit_seconds"})
    for source in sources:
        if source.stem == "ad-trk-stats" and source.ending == "class":
            pairs = [line.split() for line in source.lines()]
            verdicts = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
            extra["worker_class"] = kept["worker"].map(verdicts).fillna("")
    return extra
