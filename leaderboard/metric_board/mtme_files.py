"""A task's scores as a test set of mt-metrics-eval, which its `EvalSet` reads; pure.

References
----------
google-research/mt-metrics-eval, README, "File organization and naming convention".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from leaderboard.metric_board.exports import safe_name, seg_score, sys_score

REFERENCE = "refA"
Values = Sequence[float | None]


@dataclass(frozen=True)
class Scorer:
    """People on one criterion, or a metric, with scores of systems and segments.

    Parameters
    ----------
    per_segment : mapping of str to sequence
        By system, in the order of the segments; empty without segment scores.
    overall : mapping of str to float or None
        By system.
    """

    name: str
    per_segment: Mapping[str, Values]
    overall: Mapping[str, float | None]
    reads_references: bool = False


@dataclass(frozen=True)
class DataSet:
    """A test set without its scores.

    Parameters
    ----------
    name, languages : str
        Folder, and the pair as in "de-en".
    documents : sequence of str
        Document of each segment, in order.
    sources, references : sequence of str
        One text per segment; empty if the license forbids sharing texts.
    outputs : mapping of str to sequence of str
        By system.
    """

    name: str
    languages: str
    documents: Sequence[str]
    sources: Sequence[str] = ()
    references: Sequence[str] = ()
    outputs: Mapping[str, Sequence[str]] = field(default_factory=dict)


def data_set(
    about: DataSet, people: Sequence[Scorer], metrics: Sequence[Scorer]
) -> Iterator[tuple[str, str]]:
    top, pair = about.name, about.languages
    yield f"{top}/documents/{pair}.docs", _documents(about.documents)
    if about.sources:
        yield f"{top}/sources/{pair}.txt", _lines(about.sources)
        for system, texts in sorted(about.outputs.items()):
            yield f"{top}/system-outputs/{pair}/{system}.txt", _lines(texts)
    if about.references:
        yield f"{top}/references/{pair}.{REFERENCE}.txt", _lines(about.references)
    for one in people:
        yield from _scores(f"{top}/human-scores/{pair}.{safe_name(one.name)}", one)
    for one in metrics:
        read = REFERENCE if one.reads_references else "src"
        path = f"{top}/metric-scores/{pair}/{safe_name(one.name)}-{read}"
        yield from _scores(path, one)


def _scores(path: str, one: Scorer) -> Iterator[tuple[str, str]]:
    if one.per_segment:
        yield f"{path}.seg.score", seg_score(one.per_segment)
    yield f"{path}.sys.score", sys_score(one.overall)


def _documents(documents: Sequence[str]) -> str:
    runs = [name for name, _ in groupby(documents)]
    # mt-metrics-eval reads each stretch of segments as a separate document
    torn = len(set(runs)) < len(runs)
    named = [
        f"{safe_name(name)}-{number}" if torn else safe_name(name)
        for number, (name, run) in enumerate(groupby(documents), start=1)
        for _ in run
    ]
    return "".join(f"all\t{name}\n" for name in named)


def _lines(texts: Sequence[str]) -> str:
    return "".join(" ".join(text.split()) + "\n" for text in texts)
