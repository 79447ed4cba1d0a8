"""mt-metrics-eval: a test set's human scores, one line per system and segment."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from genie.lib.errors import GenieError
from leaderboard.imports.readers.choosing import chosen, one_of
from leaderboard.imports.readers.item_fields import number_of
from leaderboard.imports.readers.judgments import (
    Judgments,
    Problem,
    Texts,
    from_rows,
)
from leaderboard.imports.readers.layout import NOT_MINE, Choice, Layout, Look
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.test_sets import Segment, is_canary, segments_of

# "en-de.mqm.seg.score", with a prefix before the language pair
_NAME = re.compile(
    r"(?P<set>(?:.*[-_.])?(?P<pair>[a-z]{2,3}-[a-z]{2,3}))\.(?P<score>.+)\.(?P<level>seg|sys)"
)
# The files do not contain raters, or their number.
NOBODY = "consensus"
_ALL = "all"


class MTMetricsEval(Layout):
    """Human scores of systems and segments, without raters."""

    slug = "mt-metrics-eval"
    title = "mt-metrics-eval (segment and system scores)"
    files = (
        "PAIR.NAME.seg.score (system, score or None; a line a segment), beside them"
        " PAIR.NAME.sys.score, PAIR.docs, sources, references and system-outputs"
    )
    tried_on = "seven files of WMT23 English-German; texts on examples of our own"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        files = [source for source in sources if _is_scores(source)]
        if not files:
            return NOT_MINE
        names = sorted({_name(source)["score"] for source in files})
        asked = (_sets(files), _scores(files))
        # Beside rows of single raters, these are only their averages.
        share = len(files) / len([s for s in sources if s.head] or files)
        return Look(0.6 + 0.35 * share, f"segment scores: {', '.join(names)}", asked)

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        files = [source for source in sources if _is_scores(source)]
        if not files:
            raise GenieError(
                "There is no file named as en-de.mqm.seg.score.", code="no-scores"
            )
        of = chosen(choices, "set", _sets(files).options)
        files = [source for source in files if _name(source)["set"] == of]
        wanted = chosen(choices, "scores", _scores(files).options, _ALL)
        files = [s for s in files if wanted in (_ALL, _name(s)["score"])]
        pair = _name(files[0])["pair"]
        segments = segments_of(sources, pair)
        made = Judgments(cls.slug, from_rows([]))
        listed: list[dict[str, Any]] = []
        for source in files:
            number = list(sources).index(source)
            listed += _rows(source, number, segments, made.problems)
        made.rows = from_rows(listed)
        _tell(made, segments, files[0].name)
        made.documents = {one.instance: one.document for one in segments}
        made.domains = {one.instance: one.domain for one in segments if one.domain}
        made.languages = (pair.partition("-")[0], pair.partition("-")[2])
        made.texts = _texts(sources, pair, segments)
        made.published = _published(sources, {_name(s)["score"] for s in files}, of)
        return made


def _name(source: Source) -> re.Match[str]:
    found = _NAME.fullmatch(source.stem)
    if not found:
        raise ValueError(source.name)
    return found


def _is_scores(source: Source, level: str = "seg") -> bool:
    found = _NAME.fullmatch(source.stem) if source.ending == "score" else None
    return found is not None and found["level"] == level


def _sets(files: Sequence[Source]) -> Choice:
    names = sorted({_name(source)["set"] for source in files})
    return one_of("set", "Which test set and pair of languages?", names)


def _scores(files: Sequence[Source]) -> Choice:
    names = sorted({_name(source)["score"] for source in files})
    question = "Which scores? Of all, each becomes a criterion."
    return Choice("scores", question, (_ALL, *names), found=_ALL)


def _rows(
    source: Source, file: int, segments: Sequence[Segment], problems: list[Problem]
) -> list[dict[str, Any]]:
    """Read one file; the n-th line of a system is the n-th segment."""
    lines = _lines(source, problems)
    instances = _instances(source, [system for _, system, _ in lines], segments)
    common = {"file": file, "worker": NOBODY, "criterion": _name(source)["score"]}
    rows = []
    seen: dict[str, int] = {}
    for number, system, word in lines:
        at = seen[system] = seen.get(system, -1) + 1
        value = number_of(word)
        if math.isnan(value) and word != "None":
            what = f"{word!r} is neither a number nor None."
            problems.append(Problem(source.name, number, "score", what))
        segment = instances[at]
        if math.isnan(value) or segment is None:
            continue
        about = {"row": number, "system": system, "value": value, "word": word}
        where = {"instance": segment.instance, "document": segment.document}
        rows.append({**common, **about, **where})
    return rows


def _lines(source: Source, problems: list[Problem]) -> list[tuple[int, str, str]]:
    found = []
    for number, line in enumerate(source.lines(), 1):
        if not line.strip() or (number == 1 and is_canary(line)):
            continue
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) == 2:
            found.append((number, cells[0].strip(), cells[1].strip()))
            continue
        what = f"It has {len(cells)} columns, not system and score: put it right."
        problems.append(Problem(source.name, number, "", what))
    return found


def _instances(
    source: Source, systems: Sequence[str], segments: Sequence[Segment]
) -> list[Segment | None]:
    """Return the segment of each line of a system; None for a canary's."""
    counts = set(Counter(systems).values())
    if len(counts) > 1:
        raise GenieError(
            f"{source.name} has {min(counts):,} to {max(counts):,} lines for its"
            " systems: a line must stand for every segment.",
            code="uneven-scores",
        )
    n = next(iter(counts), 0)
    if not segments:
        return [Segment(str(number), "") for number in range(1, n + 1)]
    # the documents may begin with a canary, which is a separate segment
    if n not in (len(segments), len(segments) + 1):
        raise GenieError(
            f"{source.name} has {n:,} lines a system, and the documents are of"
            f" {len(segments):,} segments: give the .docs file of this test set.",
            code="uneven-scores",
        )
    return [None] * (n - len(segments)) + list(segments)


def _tell(made: Judgments, segments: Sequence[Segment], name: str) -> None:
    sentence = (
        "Nobody knows who gave these scores: what differs between people cannot be"
        " computed, and intervals cover other segments only."
    )
    made.problems.append(Problem(name, 0, "", sentence, fatal=False))
    if not segments:
        sentence = (
            "There is no .docs file: segments are numbered by their lines, and which"
            " belong to one document is not known."
        )
        made.problems.append(Problem(name, 0, "", sentence, fatal=False))


def _published(
    sources: Sequence[Source], scores: set[str], test_set: str
) -> dict[str, float]:
    found = {}
    for source in sources:
        if not _is_scores(source, "sys"):
            continue
        name = _name(source)
        if name["set"] != test_set or name["score"] not in scores:
            continue
        for line in source.lines():
            system, _, word = line.strip().partition("\t")
            value = number_of(word)
            if not math.isnan(value):
                found[f"{name['score']}/{system}"] = value
    return found


def _texts(sources: Sequence[Source], pair: str, segments: Sequence[Segment]) -> Texts:
    texts = Texts()
    for source in sources:
        folder, _, name = source.name.rpartition("/")
        if source.ending != "txt":
            continue
        lines = source.lines()
        if segments and len(lines) == len(segments) + 1:
            lines = lines[1:]
        named = [one.instance for one in segments] or [
            str(number) for number in range(1, len(lines) + 1)
        ]
        if len(lines) != len(named):
            continue
        at = dict(zip(named, lines, strict=True))
        if folder.endswith("sources") and source.stem == pair:
            texts.inputs = {key: {"source": line} for key, line in at.items()}
        elif folder.endswith("references") and name.startswith(f"{pair}."):
            for key, line in at.items():
                texts.references.setdefault(key, []).append(line)
        elif folder.endswith(f"system-outputs/{pair}"):
            texts.outputs |= {(source.stem, key): line for key, line in at.items()}
    return texts
