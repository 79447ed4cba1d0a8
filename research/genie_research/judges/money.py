"""The value of a judge's labels in people's labels."""

from collections.abc import Mapping

import numpy as np

from genie.lib.interval import Interval
from leaderboard.stats.clustered import clustered_mean
from leaderboard.stats.intervals import Floats
from leaderboard.stats.judges.validation import Label


def share_saved(
    people: Mapping[str, Mapping[str, Label]],
    judge: Mapping[str, Label],
    *,
    numbers: bool,
    seed: int,
    folds: int = 10,
) -> Interval:
    """Estimate the share of people's labels that a judge's labels replace.

    Parameters
    ----------
    people, judge : mapping
        As in `alternative_annotator_test`.
    numbers : bool
        Whether to estimate the mean of numbers; else the share of each label.
    folds : int
        Parts of the instances, at least 2.

    Returns
    -------
    Interval
        Of one minus the ratio of squared errors with the judge and without, one label
        of a person at a time, on instances left out: with very many more instances
        rated by the judge, people's labels could be fewer by this share for the same
        precision. Negative if the judge predicts nothing and costs a little. Covers
        people and instances.

    Raises
    ------
    ValueError
        On fewer labels than folds, one person and instance only, or a label that is no
        number although `numbers` is true.

    Notes
    -----
    The variance of PPI++ with unlimited predictions is that of the residuals. For
    labels without an order, squared errors are added up over the shares of all labels
    (Brier's score); a judge's label predicts the mean of people's on instances with this
    label, with one label's worth of the overall mean mixed in.

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++, section 6.
    """
    rows = [
        (person, instance, label)
        for person, labels in sorted(people.items())
        for instance, label in sorted(labels.items())
        if instance in judge
    ]
    names = sorted({instance for _, instance, _ in rows})
    if len(names) < max(folds, 2):
        raise ValueError(
            f"The judge shares {len(names)} instances with people: too few."
        )
    part = np.random.default_rng(seed).permutation(len(names)) % folds
    fold_of = dict(zip(names, part.tolist(), strict=True))
    fold = np.array([fold_of[instance] for _, instance, _ in rows])
    wanted = _code_labels([label for *_, label in rows], numbers)
    told = _code_labels([judge[instance] for _, instance, _ in rows], numbers)
    errors = np.zeros((2, len(rows)))
    for number in range(folds):
        out = fold == number
        if out.any():
            errors[:, out] = _left_out(wanted, told, out, numbers)
    with_judge, without = errors
    if not without.sum() > 0:
        raise ValueError(
            "All people's labels are the same, so a judge cannot save any."
        )
    share = 1 - with_judge.sum() / without.sum()
    # a ratio of sums, as a mean of each label's influence
    moves = share + ((1 - share) * without - with_judge) / without.mean()
    factors = {
        "person": [person for person, *_ in rows],
        "instance": [instance for _, instance, _ in rows],
    }
    return clustered_mean(moves, factors, seed=seed)


def _code_labels(labels: list[Label], numbers: bool) -> Floats:
    if numbers:
        return np.array([[float(label)] for label in labels])
    _, codes = np.unique([str(label) for label in labels], return_inverse=True)
    return np.asarray(np.eye(int(codes.max()) + 1)[codes])


def _left_out(
    wanted: Floats, told: Floats, out: np.ndarray, numbers: bool
) -> tuple[Floats, Floats]:
    level = wanted[~out].mean(axis=0)
    known, asked = told[~out], told[out]
    if numbers:
        centre = known.mean(axis=0)
        weight = np.linalg.lstsq(known - centre, wanted[~out] - level, rcond=1e-10)[0]
        foretold = level + (asked - centre) @ weight
    else:
        sums = known.T @ wanted[~out] + level
        foretold = asked @ (sums / (known.sum(axis=0) + 1)[:, None])
    return (
        ((wanted[out] - foretold) ** 2).sum(axis=1),
        ((wanted[out] - level) ** 2).sum(axis=1),
    )
