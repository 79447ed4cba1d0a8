"""A judge's license for one task and criterion: its reasons, and its validity.

A license is a list of reasons, each of which holds or not; one that does not hold is
enough to refuse. It is granted on facts (model, prompt, scale, crowd), and is void once
one of them has changed, whatever the figures are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leaderboard.stats.clustered import clustered_mean
from leaderboard.stats.intervals import Interval
from leaderboard.stats.judges.alternative_annotator import (
    SCORES,
    Label,
    alternative_annotator_test,
)
from leaderboard.stats.judges.following import partial_association

Labels = Mapping[str, Label]


@dataclass(frozen=True)
class Beside:
    """A judge's fit to people, beside people's fit to each other.

    Parameters
    ----------
    judge, people : Interval
        Mean fit to the other people's labels, on the same instances: share of equal
        labels, or minus the root mean squared difference.
    gap : Interval
        Judge minus people. All cover people and instances.
    """

    judge: Interval
    people: Interval
    gap: Interval


@dataclass(frozen=True)
class Reason:
    name: str
    holds: bool
    words: str


@dataclass(frozen=True)
class Licence:
    """The verdict, with all reasons for and against it.

    Parameters
    ----------
    moved : list of str
        The facts that have changed since the license was granted, in words.
    """

    reasons: list[Reason]
    moved: list[str]

    @property
    def state(self) -> str:
        if self.moved:
            return "expired"
        return "licensed" if all(one.holds for one in self.reasons) else "not licensed"


def beside_people(
    people: Mapping[str, Labels], judge: Labels, *, score: str, seed: int
) -> Beside:
    """Compare a judge's fit to people with people's fit to each other.

    Parameters
    ----------
    people, judge, score
        As in `alternative_annotator_test`.

    Raises
    ------
    ValueError
        On fewer than two people or instances that share a label with the judge.

    Examples
    --------
    >>> people = {who: {str(i): i % 3 for i in range(20)} for who in "abc"}
    >>> found = beside_people(people, people["a"], score="accuracy", seed=1)
    >>> found.judge.estimate, found.gap.estimate
    (1.0, 0.0)
    """
    fits = _fits(people, [judge], score)
    names = {"person": [row[0] for row in fits], "instance": [row[1] for row in fits]}
    own = [row[2] for row in fits]
    told = [row[3][0] for row in fits]
    gap = [one - other for one, other in zip(told, own, strict=True)]
    found = [clustered_mean(each, names, seed=seed) for each in (told, own, gap)]
    return Beside(*found)


def _fits(
    people: Mapping[str, Labels], judges: Sequence[Labels], score: str
) -> list[tuple[str, str, float, list[float]]]:
    fit = SCORES[score]
    rows = []
    for person, labels in sorted(people.items()):
        for instance, label in sorted(labels.items()):
            others = [
                each[instance]
                for name, each in people.items()
                if name != person and instance in each
            ]
            if others and all(instance in judge for judge in judges):
                told = [fit(judge[instance], others) for judge in judges]
                rows.append((person, instance, fit(label, others), told))
    if len({row[0] for row in rows}) < 2 or len({row[1] for row in rows}) < 2:
        raise ValueError(
            "Two people and two instances that they and the judge share are needed."
        )
    return rows


def judge_licence(
    people: Mapping[str, Labels],
    judge: Labels,
    *,
    score: str,
    epsilon: float,
    seed: int,
    before: Labels | None = None,
    given_on: Mapping[str, str] | None = None,
    facts: Mapping[str, str] | None = None,
) -> Licence:
    """Decide whether a judge is licensed, with reasons.

    Parameters
    ----------
    people, judge, score, epsilon
        As in `alternative_annotator_test`.
    before : mapping of str to label, optional
        The judge's labels of the same instances when the license was granted.
    given_on, facts : mapping of str to str, optional
        The facts then and now: model, prompt, scale, crowd.

    Returns
    -------
    Licence
        It needs a passed alternative annotator test, a fit to people that is surely no
        worse than people's to each other by more than epsilon (a share of people's own
        distance for numbers), an association with people within systems and instances
        that is surely above 0, and no change of that fit since it was granted.

    References
    ----------
    Calderon, Reichart and Dror (2025), The Alternative Annotator Test, section 3;
    Piaggio et al. (2012), JAMA 308 (non-inferiority: the whole interval counts).

    Examples
    --------
    >>> people = {who: {str(i): i % 3 for i in range(40)} for who in "abc"}
    >>> good = judge_licence(people, people["a"], score="accuracy", epsilon=0.2, seed=1)
    >>> good.state
    'licensed'
    >>> judge_licence(
    ...     people, people["a"], score="accuracy", epsilon=0.2, seed=1,
    ...     given_on={"model": "m-1"}, facts={"model": "m-2"},
    ... ).moved
    ['model: m-1, now m-2']
    """
    test = alternative_annotator_test(people, judge, score=score, epsilon=epsilon)
    reasons = [
        Reason(
            "alternative annotator test",
            test.passed,
            f"winning rate {test.winning_rate:.2f} of {len(test.people)} people, "
            f"advantage {test.advantage_probability:.2f}",
        )
    ]
    fit = beside_people(people, judge, score=score, seed=seed)
    margin = epsilon * (1.0 if score == "accuracy" else abs(fit.people.estimate))
    reasons.append(
        Reason(
            "agreement",
            fit.gap.low >= -margin,
            f"{_words(fit.judge)} with people, {_words(fit.people)} among people; "
            f"gap {_words(fit.gap)}, allowed -{margin:.2f}",
        )
    )
    reasons.append(_follows(people, judge, score=score, seed=seed))
    if before is not None:
        reasons.append(drift(people, judge, before, score=score, seed=seed))
    return Licence(reasons, _moved(given_on or {}, facts or {}))


def _follows(
    people: Mapping[str, Labels], judge: Labels, *, score: str, seed: int
) -> Reason:
    found = partial_association(people, judge, numbers=score != "accuracy", seed=seed)
    words = (
        "labels of the judge or of people do not vary within systems and instances"
        if found is None
        else f"partial correlation with people {_words(found)}, needed above 0"
    )
    holds = found is not None and found.low > 0
    return Reason("within systems and instances", holds, words)


def drift(
    people: Mapping[str, Labels],
    judge: Labels,
    before: Labels,
    *,
    score: str,
    seed: int,
) -> Reason:
    """Check whether the judge's fit to people has changed.

    Parameters
    ----------
    people, judge, score
        As in `alternative_annotator_test`.
    before : mapping of str to label
        The judge's labels of the same instances then.

    Returns
    -------
    Reason
        Holds if the 95% interval of the change of fit contains 0.

    Examples
    --------
    >>> people = {who: {str(i): i % 3 for i in range(20)} for who in "abc"}
    >>> same = drift(people, people["a"], people["a"], score="accuracy", seed=1)
    >>> same.holds, same.words[:32]
    (True, '0 % of labels changed since; fit')
    """
    fits = _fits(people, [judge, before], score)
    shift = clustered_mean(
        [now - then for *_, (now, then) in fits],
        {"person": [row[0] for row in fits], "instance": [row[1] for row in fits]},
        seed=seed,
    )
    both = sorted(set(judge) & set(before))
    changed = sum(judge[one] != before[one] for one in both) / len(both)
    return Reason(
        "drift",
        shift.contains(0.0),
        f"{100 * changed:.0f} % of labels changed since; fit to people moved by "
        f"{_words(shift)}",
    )


def _moved(given_on: Mapping[str, str], facts: Mapping[str, str]) -> list[str]:
    return [
        f"{name}: {was}, now {facts.get(name, 'not said')}"
        for name, was in sorted(given_on.items())
        if facts.get(name) != was
    ]


def _words(one: Interval) -> str:
    return f"{one.estimate:.2f} [{one.low:.2f}, {one.high:.2f}]"
