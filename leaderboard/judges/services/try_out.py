"""A judge tried on a few texts of one's own: no database, no task, nothing stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crowd.scales.base import Scale
from leaderboard.judges import scripted
from leaderboard.judges.answers import read
from leaderboard.judges.endpoint import Asker, Lost, TurnedAway, named
from leaderboard.judges.models import Judge
from leaderboard.judges.prompt import texts_of
from leaderboard.judges.selectors.requests import Request, request_for


@dataclass(frozen=True)
class Tried:
    """What a judge said of one row: ratings, or why there are none."""

    values: Mapping[str, float]
    reasons: Mapping[str, str]
    problem: str = ""


def requests_of_rows(
    judge: Judge,
    rows: Iterable[Mapping[str, Any]],
    *,
    questions: Mapping[str, str],
    scale: type[Scale],
    instructions: str,
) -> list[Request]:
    """Write a request for each row; `output` is what is judged, other keys the input."""
    found = []
    for row in rows:
        fields = [
            {"label": name, "text": text}
            for name, text in row.items()
            if name != "output"
        ]
        texts = texts_of({"fields": fields, "prediction": row["output"]})
        found.append(request_for(judge, instructions, questions, texts, scale))
    return found


def send(
    judge: Judge, requests: Sequence[Request], scale: type[Scale]
) -> Iterable[Tried]:
    """Send them one after the other, once each."""
    ask = None
    if not judge.scripted:
        endpoint = named(judge.definition["endpoint"])
        ask = Asker(endpoint, timeout=judge.timeout_seconds, at_once=1)
    try:
        for request in requests:
            yield _one(judge, ask, request, scale)
    finally:
        if ask:
            ask.close()


def _one(
    judge: Judge, ask: Asker | None, request: Request, scale: type[Scale]
) -> Tried:
    try:
        if ask is None:
            text = scripted.answer(
                judge.definition["model"], request.questions, request.texts, scale
            )
        else:
            reply = ask.ask(request.body, request.sha256)
            if reply.refusal:
                raise ValueError(f"refused: {reply.refusal}")
            text = reply.text
        said = read(text, request.questions, scale)[""]
    except (TurnedAway, Lost, ValueError) as error:
        return Tried({}, {}, str(error))
    return Tried(said.values, said.reasons)
