"""Clusters of systems from many comparisons."""

import numpy as np
import numpy.typing as npt


def significance_clusters(estimates: npt.ArrayLike, better: npt.ArrayLike) -> list[int]:
    """Cut the ranking between systems if all above the cut beat all below it.

    Parameters
    ----------
    estimates : array_like, shape (s,)
        Higher is better, no NaN.
    better : array_like of bool, shape (s, s)
        Entry i, j: system i is significantly better than system j.

    Returns
    -------
    list of int
        Cluster of each system in the order given, 1 being the best. Systems of one
        cluster do not all differ; two of them may.

    References
    ----------
    Bojar et al. (2016), Findings of WMT16, section 3.4 (clusters); Novikova, Dušek and
    Rieser (2018), RankME, table 4.

    Examples
    --------
    >>> beats = [[False, False, True], [False, False, True], [False, False, False]]
    >>> significance_clusters([0.8, 0.7, 0.1], beats)
    [1, 1, 2]
    """
    scores = np.asarray(estimates, dtype=np.float64)
    wins = np.asarray(better, dtype=bool)
    if scores.ndim != 1 or wins.shape != (len(scores), len(scores)):
        raise ValueError("Each pair of systems needs one entry: who is better.")
    if np.isnan(scores).any():
        raise ValueError("An estimate is NaN; cluster only systems with a score.")
    if (wins & wins.T).any():
        raise ValueError("Two systems cannot each be better than the other.")
    order = np.argsort(-scores, kind="stable")
    wins = wins[np.ix_(order, order)]
    clusters = np.empty(len(scores), dtype=int)
    current = 1
    for position, system in enumerate(order):
        # all pairs across the cut, as in WMT: one unsure pair keeps a cluster
        # together
        if position and wins[:position, position:].all():
            current += 1
        clusters[system] = current
    return [int(c) for c in clusters]
