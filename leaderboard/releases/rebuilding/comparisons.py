from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from leaderboard.evaluation.models.comparison import Comparison
from leaderboard.evaluation.selectors.comparison_labels import (
    Answer,
    AnswerShare,
    decide,
    for_a,
    known_labels,
    label_of,
    rule_for,
    share_columns,
    votes_are_final,
    with_balanced_sides,
)
from leaderboard.releases import bundle
from leaderboard.releases.bundle import Record
from leaderboard.releases.published_numbers import Number, Value
from leaderboard.stats.stopping.sequential import Decision

State = Comparison.State
TABLE, PAIRS, VOTES = "comparisons", "comparison_pairs", "comparison_votes"


def compared_numbers(
    folder: Path, share: Callable[[Sequence[Answer]], AnswerShare | None]
) -> Iterator[Number | str]:
    pairs, votes = (
        bundle.Groups(folder, name, ["comparison"]) for name in (PAIRS, VOTES)
    )
    unknown = {pk for (pk,) in pairs.keys() | votes.keys()}
    not_kept = 0
    for row in bundle.iter_table(folder, TABLE):
        pk = row["comparison"]
        unknown -= {pk}
        if row["votes_kept"]:
            yield from _comparison(row, pairs.rows(pk), votes.rows(pk), share)
        else:
            not_kept += 1
    for pk in sorted(unknown):
        yield Number(f"{TABLE}.jsonl", f"comparison {pk}, is there", False, True)
    if not_kept:
        yield f"the counted votes were not stored at the end ({not_kept} comparisons)"


def _comparison(
    row: Record,
    pairs: list[Record],
    votes: list[Record],
    share: Callable[[Sequence[Answer]], AnswerShare | None],
) -> Iterator[Number]:
    pairs = sorted(pairs, key=lambda pair: pair["position"])
    counted: dict[int, dict[str, float]] = defaultdict(dict)
    for vote in votes:
        if vote["counted"]:
            counted[vote["position"]][vote["worker"]] = vote["vote"]
    for index, pair in enumerate(pairs):
        name = f"comparison {row['comparison']}, position of a pair"
        yield Number(f"{PAIRS}.jsonl", name, pair["position"], index)
    yield from _votes(row, pairs, votes)
    labels = [
        label_of(
            row["strategy"],
            row["n_workers"],
            list(counted[pair["position"]].values()),
            last=votes_are_final(row["state"]),
        )
        for pair in pairs
    ]
    known = known_labels(labels, [list(counted[pair["position"]]) for pair in pairs])
    decision = decide(rule_for(row["rule"], row["delta"]), *known)
    if row["sides_balanced"]:
        slots = [pair["slot_of_a"] for pair in pairs]
        decision = with_balanced_sides(decision, labels, slots)
    yield from _decision(row, decision, len(known[0]))
    yield from _answers(row, pairs, labels, votes, share)
    yield from _pairs(row, pairs, labels)
    numbers = {
        "n_votes": sum(len(values) for values in counted.values()),
        "n_pairs": len(pairs),
        "n_waves": 1 + max((pair["wave"] for pair in pairs), default=-1),
    }
    for name, number in numbers.items():
        yield _number(row, name, number)


def _votes(
    row: Record, pairs: Sequence[Record], votes: Sequence[Record]
) -> Iterator[Number]:
    slots = {pair["position"]: pair["slot_of_a"] for pair in pairs}
    for vote in votes:
        position = vote["position"]
        name = f"comparison {row['comparison']}, pair {position}, {vote['worker']}"
        known = position in slots
        yield Number(f"{VOTES}.jsonl", f"{name}, among the pairs", True, known)
        if known:
            computed = for_a(slots[position], vote["answered"])
            yield Number(f"{VOTES}.jsonl", f"{name}, vote", vote["vote"], computed)


def _decision(row: Record, decision: Decision, n: int) -> Iterator[Number]:
    state = str(State.DECIDED if decision.side != "undecided" else State.UNDECIDED)
    if row["state"] == State.STOPPED:
        state = str(State.STOPPED)
    numbers: dict[str, Value] = {
        "state": state,
        "better": decision.side if state == State.DECIDED else "",
        "n_labels": decision.n,
        "estimate": decision.estimate if decision.n else None,
        "low": decision.low,
        "high": decision.high,
        "anytime_valid": decision.anytime_valid,
        "n_labels_in": n,
    }
    for name, number in numbers.items():
        yield _number(row, name, number)


def _answers(
    row: Record,
    pairs: Sequence[Record],
    labels: Sequence[float | None],
    votes: Sequence[Record],
    share: Callable[[Sequence[Answer]], AnswerShare | None],
) -> Iterator[Number]:
    known = [
        p["position"]
        for p, label in zip(pairs, labels, strict=True)
        if label is not None
    ]
    read = set(known[: row["n_labels"]])
    found = share(
        [
            (vote["worker"], vote["position"], vote["vote"], vote["on"])
            for vote in votes
            if vote["counted"] and vote["position"] in read
        ]
    )
    for name, computed in share_columns(found).items():
        yield _number(row, name, computed)


def _pairs(
    row: Record, pairs: Sequence[Record], labels: Sequence[float | None]
) -> Iterator[Number]:
    n = 0
    for pair, label in zip(pairs, labels, strict=True):
        name = f"comparison {row['comparison']}, pair {pair['position']}"
        yield Number(f"{PAIRS}.jsonl", f"{name}, label", pair["label"], label)
        used = label is not None and n < row["n_labels"]
        yield Number(f"{PAIRS}.jsonl", f"{name}, used", pair["used"], used)
        n += label is not None


def _number(row: Record, name: str, computed: Value) -> Number:
    subject = f"comparison {row['comparison']}, {name}"
    return Number(f"{TABLE}.jsonl", subject, row[name], computed)
