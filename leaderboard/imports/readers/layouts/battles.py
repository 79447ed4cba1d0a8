"""Battles: two models answer a question, and a vote decides, as in Chatbot Arena."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from genie.lib.errors import GenieError
from leaderboard.imports.readers.judgments import Judgments, Problem, Role, frame
from leaderboard.imports.readers.layout import NOT_MINE, Layout, Look
from leaderboard.imports.readers.names import moments
from leaderboard.imports.readers.people import is_program
from leaderboard.imports.readers.preferred import outcomes
from leaderboard.imports.readers.sources import Source
from leaderboard.imports.readers.tables import Table, extra_of, header_of, table_of
from leaderboard.imports.readers.taking import (
    SAME_THING,
    put_inputs,
    put_outputs,
    say_blanks,
    say_doubles,
    stacked,
    words_of,
)

# Three columns of 0 and 1 instead of a winner.
_THREE = ("winner_model_a", "winner_model_b", "winner_tie")
_JUDGES = ("judge", "judge_hash", "user", "user_id", "annotator", "worker")
_SESSIONS = ("evaluation_session_id", "session_id")
_QUESTIONS = ("question_id", "conversation_id", "id", "battle_id")
_TIMES = ("tstamp", "timestamp", "created_at")
# One of these distinguishes a log of battles from other tables with two models.
_SIGNS = frozenset(
    (
        "conversation_a",
        "anony",
        "tstamp",
        "judge_hash",
        "turn",
        "conv_metadata",
        *_SESSIONS,
        *_THREE,
    )
)
_TEXTS = (
    "conversation_a", "conversation_b", "full_conversation", "prompt", "response_a",
    "response_b",
)  # fmt: skip


class Battles(Layout):
    """One line a vote: model_a, model_b, who won, and mostly the conversations."""

    slug = "battles"
    title = "Battles (Chatbot Arena)"
    files = (
        "JSON, JSON Lines, CSV or Parquet with model_a, model_b and winner, or winner_model_a, "
        "winner_model_b and winner_tie"
    )
    tried_on = "examples of our own of the five releases' forms"

    @classmethod
    def look(cls, sources: Sequence[Source]) -> Look:
        found = [header for s in sources if _is_mine(header := header_of(s))]
        if not found:
            return NOT_MINE
        signs = ", ".join(name for name in found[0] if name in _SIGNS)
        return Look(0.95, f"columns model_a, model_b, winner, and {signs}")

    @classmethod
    def read(cls, sources: Sequence[Source], choices: Mapping[str, Any]) -> Judgments:
        import pandas as pd

        judgments = Judgments(cls.slug, frame({}))
        parts, extras = [], []
        for number, source in enumerate(sources):
            if not _is_mine(header_of(source)):
                sentence = "has no columns of battles and was not read."
                judgments.problems.append(
                    Problem(source.name, 0, "", sentence, fatal=False)
                )
                continue
            table = table_of(source)
            judgments.problems += table.problems
            rows, extra = _rows(table, judgments)
            parts.append(rows.assign(file=number))
            extras.append(extra)
        if not sum(map(len, parts)):
            raise GenieError("There is no vote that can be read.", code="no-rows")
        judgments.rows = pd.concat(parts, ignore_index=True)
        judgments.extra = pd.concat(extras, ignore_index=True).fillna("")
        say_doubles(judgments, sources[0].name, (*SAME_THING, "other"))
        return judgments


def _is_mine(header: Sequence[str]) -> bool:
    names = set(header)
    won = "winner" in names or set(_THREE) <= names
    return {"model_a", "model_b"} <= names and won and bool(names & _SIGNS)


def _one_of(table: Table, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in table.header), None)


def _rows(table: Table, judgments: Judgments) -> tuple[Any, Any]:
    first, second = table.column("model_a"), table.column("model_b")
    judgments.problems += say_blanks(table, ("model_a", "model_b"))
    words = _winners(table)
    values = outcomes(list(words), list(first), list(second))
    instances = _instances(table, judgments)
    judge, session = _one_of(table, _JUDGES), _one_of(table, _SESSIONS)
    workers = words_of(table, judge)
    time = _one_of(table, _TIMES)
    bad = np.isnan(values) | (first == second) | (second == "")
    for i in np.flatnonzero(bad):
        what = (
            f"{words[i][:40]!r} is no winner that is known: the vote is left out."
            if np.isnan(values[i])
            else "compares no two different models."
        )
        judgments.problems.append(
            Problem(table.name, int(table.rows[i]), "winner", what)
        )
    if judge is None:
        sentence = "No column says who voted" + (
            f": {session} groups the votes of one session."
            if session
            else ": votes of one person cannot be told to be so."
        )
        judgments.problems.append(Problem(table.name, 0, "", sentence, fatal=False))
    part = {
        "row": table.rows,
        "role": _roles(table, list(workers)),
        "worker": workers,
        "instance": instances,
        "system": first,
        "other": second,
        # a word that is no outcome is no vote
        "value": np.where(bad, np.nan, values),
        "word": np.where(bad, "", words),
        # model_a was on the left
        "place": 0,
        "page": words_of(table, session),
        "document": [judgments.documents.get(one, "") for one in instances],
        "at": moments(words_of(table, time)),
    }
    _take_texts(table, instances, judgments)
    used = {
        "model_a",
        "model_b",
        "winner",
        judge,
        session,
        time,
        *_QUESTIONS,
        *_THREE,
        *_TEXTS,
    }
    extra, problems = extra_of(table, [name for name in used if name])
    judgments.problems += problems
    return stacked([part], extra)


def _winners(table: Table) -> Any:
    if "winner" in table.header:
        return table.column("winner")
    said = [
        [word in ("1", "1.0", "true", "True") for word in table.column(name)]
        for name in _THREE
    ]
    names = ("model_a", "model_b", "tie")
    return np.array(
        [
            names[marks.index(True)] if sum(marks) == 1 else "not one of three"
            for marks in (list(marks) for marks in zip(*said, strict=True))
        ],
        dtype=object,
    )


def _instances(table: Table, judgments: Judgments) -> Any:
    name = _one_of(table, _QUESTIONS)
    if name is None:
        return np.array([f"{table.name}:{row}" for row in table.rows], dtype=object)
    questions = table.column(name)
    if "turn" not in table.header or len(set(questions)) == len(questions):
        return questions
    turns = table.column("turn")
    made = [f"{q}/{turn}" for q, turn in zip(questions, turns, strict=True)]
    judgments.documents.update(zip(made, questions, strict=True))
    return np.array(made, dtype=object)


def _roles(table: Table, workers: Sequence[str]) -> list[str]:
    roles = [
        (Role.PREDICTION if is_program(worker) else Role.JUDGMENT).value
        for worker in workers
    ]
    if "anony" in table.header:
        shown = [word.lower() in ("false", "0") for word in table.column("anony")]
        roles = [
            Role.NAMES_SHOWN.value if seen and role == Role.JUDGMENT.value else role
            for role, seen in zip(roles, shown, strict=True)
        ]
    return roles


def _take_texts(table: Table, instances: Sequence[str], judgments: Judgments) -> None:
    texts, unread = judgments.texts, 0
    for side in ("a", "b"):
        systems = table.column(f"model_{side}")
        if f"conversation_{side}" in table.header:
            found = [
                _conversation(word) for word in table.words[f"conversation_{side}"]
            ]
        elif {"prompt", f"response_{side}"} <= set(table.header):
            asked, said = table.words["prompt"], table.words[f"response_{side}"]
            found = [_turns(a, s) for a, s in zip(asked, said, strict=True)]
        else:
            continue
        unread += sum(one is None for one in found)
        pairs = [one or ("", "") for one in found]
        put_inputs(texts, instances, "prompt", [asked for asked, _ in pairs])
        put_outputs(texts, systems, instances, [said for _, said in pairs])
    if unread:
        sentence = (
            f"Conversations that cannot be read, whose texts are left out: {unread:,}."
        )
        judgments.problems.append(Problem(table.name, 0, "", sentence, fatal=False))


def _conversation(word: str) -> tuple[str, str] | None:
    messages = _json(word)
    if not isinstance(messages, list) or not messages:
        return None
    said: list[tuple[str, str]] = []
    for message in messages:
        if not isinstance(message, dict):
            return None
        said.append((str(message.get("role", "")), _content(message.get("content"))))
    first, rest = said[0], said[1:]
    return first[1], _joined(rest)


def _turns(asked: str, said: str) -> tuple[str, str]:
    prompts, responses = _json(asked), _json(said)
    if not isinstance(prompts, list) or not isinstance(responses, list):
        return asked, said
    pairs = zip([*prompts[1:], None], responses, strict=False)
    rest = []
    for prompt, response in pairs:
        rest.append(("assistant", _content(response)))
        if prompt is not None:
            rest.append(("user", _content(prompt)))
    return _content(prompts[0] if prompts else ""), _joined(rest)


def _joined(messages: Sequence[tuple[str, str]]) -> str:
    if len(messages) == 1:
        return messages[0][1]
    return "\n\n".join(f"{role}: {text}" for role, text in messages)


def _content(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(
            str(part.get("text") or f"[{part.get('type', 'part')}]")
            if isinstance(part, dict)
            else str(part)
            for part in value
        )
    return "" if value is None else str(value)


def _json(word: str) -> object:
    try:
        return json.loads(word)
    except (ValueError, RecursionError):
        return None
