"""Marks submitted with a system's outputs, shown on the pages that ask about it.

Test questions have them as well, or their absence would reveal them: a text keeps the
marks in the beginning and the end that it shares with the system's own output.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from crowd.hits.selectors.questions import BY, PREFILLED
from crowd.hits.services.build import ItemSpec
from leaderboard.designs.base import content_key
from leaderboard.submissions.models.submission import Prediction, Submission

Span = Mapping[str, Any]


class Specified(Protocol):
    @property
    def spec(self) -> ItemSpec: ...


S = TypeVar("S", bound=Specified)


class Brought:
    def __init__(self, submission: Submission) -> None:
        rows = Prediction.objects.filter(submission=submission, spans__isnull=False)
        slug = submission.task.slug
        self._of: dict[str, tuple[str, list[Span]]] = {}
        self._by = ""
        for name, text, marks in rows.order_by("pk").values_list(
            "instance__instance_id", "text", "spans"
        ):
            brought: dict[str, Any] = marks or {}
            self._of[content_key(slug, name)] = (text, brought["spans"])
            self._by = self._by or brought["by"]

    def into(self, items: Sequence[S]) -> list[S]:
        if not self._of:
            return list(items)
        return [self._into(item) for item in items]

    def _into(self, item: S) -> S:
        spec = item.spec
        text, spans = self._of.get(spec.content_key, ("", []))
        marks = carried(spans, text, str(spec.data.get("prediction", "")))
        data = {**spec.data, PREFILLED: marks, BY: self._by}
        changed: S = replace(item, spec=replace(spec, data=data))  # type: ignore[type-var]
        return changed


def carried(spans: Sequence[Span], old: str, new: str) -> list[Span]:
    """Return the marks of `old` within the prefix and suffix shared with `new`.

    Spans have ``start`` and ``end`` in characters, or ``missing``, which stay.

    Examples
    --------
    >>> marks = [{"start": 0, "end": 3}, {"start": 4, "end": 7}, {"start": 8, "end": 11}]
    >>> carried(marks, "One two six", "One three six")
    [{'start': 0, 'end': 3}, {'start': 10, 'end': 13}]
    """
    if old == new:
        return list(spans)
    before = _alike(old, new)
    most = min(len(old), len(new)) - before
    after = min(_alike(old[::-1], new[::-1]), most)
    moved = len(new) - len(old)
    kept = []
    for span in spans:
        if "start" not in span or span["end"] <= before:
            kept.append(span)
        elif span["start"] >= len(old) - after:
            kept.append(
                {**span, "start": span["start"] + moved, "end": span["end"] + moved}
            )
    return kept


def _alike(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
