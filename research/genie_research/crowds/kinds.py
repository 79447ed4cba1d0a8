"""Kinds of workers of a simulated crowd.

A kind is a function of a random generator and a :class:`Work`; it returns the worker's
answers (any numbers; they are rounded to the scale) and the seconds that each took, in
the order of the work. A file of other kinds for `simulate-crowd --kinds` has dictionaries
of name to function, `HONEST` and `BAD`; one that is missing is this module's.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from quality.counts import Floats, Ints


@dataclass(frozen=True)
class Work:
    """One worker's items, in order.

    Attributes
    ----------
    truth : ndarray, shape (n,)
        What careful people answer on average, from 0 to 1; low for edited texts.
    test : ndarray of int, shape (n,)
        1 for a positive test question, -1 for a negative one, 0 for an ordinary item.
    words : ndarray of int, shape (n,)
        Length of the text.
    machine, partner : ndarray, shape (n,)
        What one language model answers, and what a pair of workers agreed on: the same
        for everyone, and for both of a pair, who meets the item.
    scale : ndarray, shape (n_levels,)
        The answers that can be given, ascending.
    """

    truth: Floats
    test: Ints
    words: Ints
    machine: Floats
    partner: Floats
    scale: Floats


Answers = tuple[Floats, Floats]
Kind = Callable[[np.random.Generator, Work], Answers]
_CENTER = 0.56


def seconds(rng: np.random.Generator, work: Work, pace: float) -> Floats:
    own = pace * np.exp(rng.normal(0, 0.25))
    noise = np.exp(rng.normal(0, 0.4, len(work.words)))
    return np.asarray(own * (3 + 0.35 * work.words) * noise)


def reader(
    level: float = 0.0,
    width: float = 1.0,
    scatter: float = 0.24,
    pace: float = 1.0,
    missed: float = 0.0,
) -> Kind:
    """Return a careful kind.

    Parameters
    ----------
    level, width, scatter : float
        How much higher it rates, the part of the scale that it uses, its noise.
    missed : float
        Share of edited texts that it takes for ordinary ones.
    """

    def kind(rng: np.random.Generator, work: Work) -> Answers:
        slips = (work.test < 0) & (rng.random(len(work.test)) < missed)
        noise = scatter * np.exp(rng.normal(0, 0.2)) * rng.normal(size=len(work.test))
        raw = np.where(slips, _CENTER, work.truth) - _CENTER + noise
        own = _CENTER + width * raw + level + rng.normal(0, 0.1)
        return own, seconds(rng, work, pace)

    return kind


def levels(pace: float, *shares: float) -> Kind:
    """Return a kind that draws from the scale, with these shares from the lowest on."""

    def kind(rng: np.random.Generator, work: Work) -> Answers:
        places = np.interp(
            np.linspace(0, 1, 5), np.linspace(0, 1, len(work.scale)), work.scale
        )
        return rng.choice(places, len(work.test), p=shares), seconds(rng, work, pace)

    return kind


def constant(rng: np.random.Generator, work: Work) -> Answers:
    level = rng.choice(work.scale[1:-1])
    return np.full(len(work.test), level), seconds(rng, work, 0.4)


def invert(rng: np.random.Generator, work: Work) -> Answers:
    own, times = reader()(rng, work)
    return 1 - own, times


def copier(scatter: float, follow: float) -> Kind:
    """Return a kind that copies a language model."""

    def kind(rng: np.random.Generator, work: Work) -> Answers:
        noise = rng.normal(0, scatter, len(work.test))
        own = 0.66 + follow * (work.machine - 0.66) + noise
        return own, seconds(rng, work, 0.8)

    return kind


def pair(rng: np.random.Generator, work: Work) -> Answers:
    return work.partner, seconds(rng, work, 0.8)


def clicker(rng: np.random.Generator, work: Work) -> Answers:
    own = levels(1.0, 0.0, 0.1, 0.2, 0.4, 0.3)(rng, work)[0]
    return own, 10 * np.exp(rng.normal(0, 0.05, len(own)))


def turner(rng: np.random.Generator, work: Work) -> Answers:
    with_care, without = reader()(rng, work), BAD["habit"](rng, work)
    late = np.arange(len(work.test)) >= 15
    answers, times = (
        np.where(late, *both) for both in zip(without, with_care, strict=True)
    )
    return answers, times


def alternate(rng: np.random.Generator, work: Work) -> Answers:
    own = np.where(np.arange(len(work.test)) % 2, 0.75, 0.5)
    return own, seconds(rng, work, 0.4)


def weak(rng: np.random.Generator, work: Work) -> Answers:
    """Answer independently, and right in 70% of the tests."""
    own = reader(scatter=0.45)(rng, work)[0]
    good = (work.test > 0) == (rng.random(len(own)) < 0.7)
    return np.where(work.test, np.where(good, 0.85, 0.15), own), seconds(rng, work, 1)


HONEST: dict[str, Kind] = {
    "careful": reader(),
    "strict": reader(level=-0.2),
    "lenient": reader(level=0.2),
    "fast": reader(pace=0.5),
    "non-native": reader(scatter=0.3, pace=1.5, missed=0.2),
    "narrow scale": reader(width=0.5),
}
BAD: dict[str, Kind] = {
    "constant": constant,
    "yes-sayer": levels(0.4, 0, 0, 0, 0.5, 0.5),
    "mid-scale": levels(0.5, 0, 0.15, 0.7, 0.15, 0),
    "random": levels(0.5, 0.2, 0.2, 0.2, 0.2, 0.2),
    "habit": levels(0.6, 0.1, 0, 0.2, 0.25, 0.45),
    "inverted": invert,
    "narrow copier": copier(0.04, 0.4),
    "scattering copier": copier(0.15, 1.0),
    "pair": pair,
    "clicker": clicker,
    "turner": turner,
    "alternating": alternate,
}
