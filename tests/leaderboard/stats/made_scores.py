"""People's scores and two metrics', made by arithmetic, with the values of others' code.

The recorded values were computed once from these tables with the definitions of
mt-metrics-eval (its stats, tau_optimization and pce modules) and scipy 1.17.
"""

import numpy as np


def made_scores():
    i, j = np.mgrid[0:7, 0:40]
    people = ((5 * i + 3 * j + i * j) % 5).astype(float) + 0.5 * (i > 3)
    first = ((13 * i + 17 * j + i * j * j) % 29) / 10 + 0.6 * people
    second = np.rint(((11 * i + 7 * j + i * i * j) % 23) / 4 + 0.8 * people)
    people[(3 * i + j) % 11 == 0] = np.nan
    return people, first, second


def shaken(scores):
    i, j = np.mgrid[0:7, 0:40]
    return scores + 0.1 * np.sin(1 + 40 * i + j)


RECORDED = {
    ("first", "instance"): {
        "pearson": 0.6241399657660077,
        "spearman": 0.5860238208774546,
        "tau-b": 0.47611661109678083,
        "tau-eq": 0.37714285714285717,
        "acc-eq": 0.6885714285714288,
    },
    ("first", "system"): {
        "pearson": 0.7105049204708741,
        "spearman": 0.6999383621612553,
        "tau-b": 0.5526369177567808,
        "tau-eq": 0.14322485751057182,
        "acc-eq": 0.5716124287552858,
    },
    ("second", "instance"): {
        "pearson": 0.5100102130866053,
        "spearman": 0.46014444121143494,
        "tau-b": 0.3849653442842185,
        "tau-eq": 0.19904761904761903,
        "acc-eq": 0.5995238095238097,
    },
    ("second", "system"): {
        "pearson": 0.6560955758461136,
        "spearman": 0.6231994689434888,
        "tau-b": 0.5209584836746711,
        "tau-eq": 0.14161917019059875,
        "acc-eq": 0.5708095850952993,
    },
}
# accuracy and epsilon after tie calibration
CALIBRATED = {
    ("first", "instance"): (0.6885714285714288, 0.0),
    ("first", "system"): (0.580462094747812, 0.4),
}
AT_EPSILON_HALF = {"tau-b": 0.5208084705906054, "acc-eq": 0.5647619047619049}
# gaps filled with 1; 1,000 swaps, seed 4. The first metric is shaken by `shaken`: its
# tenths make exact ties of sums, which single precision, used there, breaks at random
SOFT = {"first": 0.9224285714285714, "second": 0.9090476190476191}
SOFT_WITH_GAPS = 0.9138095238095238
# p-values of 4,000 (systems 16,000) random swaps of a loop, first above second
SWAPPED = {"pearson": 0.034, "tau-b": 0.07025, "acc-eq": 0.00225}
SWAPPED_SYSTEMS = {"pearson": 0.016875, "spearman": 0.9678125, "tau-b": 0.9710625}
