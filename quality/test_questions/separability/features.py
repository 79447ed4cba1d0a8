"""Features of an item without reading it: shares, lengths, overlaps, places."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from genie.lib.seeds import generator, seed_from
from quality.test_questions.edits.edit import count_doubled, plain, words_of

Floats = NDArray[np.float64]
GRAM = 4
KEY_BYTES = 6


@dataclass(frozen=True)
class Surface:
    """The public data of an item, test question or not.

    Parameters
    ----------
    source : str, optional
        Its input, fields joined.
    references : tuple of str, optional
        Public references of the input.
    published : tuple of str, optional
        Public outputs for the input, such as those of systems on the board.
    input_key : str, optional
        The same for all items of an input.
    key : str, optional
        The item's public name.
    position : float, optional
        Its place in the campaign.
    listed : bool, optional
        Whether a public list names its input as a rated one.
    """

    text: str
    source: str = ""
    references: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    input_key: str = ""
    key: str = ""
    position: float = 0.0
    listed: bool = False


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@lru_cache(maxsize=256)
def _tokens(text: str) -> Counter[str]:
    return Counter(plain(text).split())


@lru_cache(maxsize=256)
def _grams(text: str) -> Counter[str]:
    letters = plain(text).replace(" ", "")
    return Counter(letters[i : i + GRAM] for i in range(len(letters) - GRAM + 1))


def _common(one: Counter[str], two: Counter[str]) -> float:
    return _share(2 * (one & two).total(), one.total() + two.total())


def _within(one: Counter[str], two: Counter[str]) -> float:
    return _share((one & two).total(), one.total())


def _most(text: str, others: Sequence[str]) -> float:
    own = _tokens(text)
    return max((_common(own, _tokens(other)) for other in others), default=0.0)


def _facts(text: str) -> Counter[str]:
    return Counter(
        word.text.casefold()
        for word in words_of(text)
        if word.is_number or (word.capital and not word.first)
    )


def _letters(text: str, test: Callable[[str], bool]) -> float:
    return _share(sum(test(letter) for letter in text), len(text))


def _is_mark(letter: str) -> bool:
    return not letter.isalnum() and not letter.isspace()


_OF_ONE: dict[str, Callable[[Surface], float]] = {
    "words": lambda s: float(len(plain(s.text).split())),
    "letters": lambda s: float(len(s.text)),
    "letters a word": lambda s: _share(len(s.text), len(s.text.split())),
    "different words": lambda s: _share(len(_tokens(s.text)), _tokens(s.text).total()),
    "doubled words": lambda s: float(count_doubled(words_of(s.text))),
    "capitals": lambda s: _letters(s.text, str.isupper),
    "digits": lambda s: _letters(s.text, str.isdigit),
    "punctuation": lambda s: _letters(s.text, _is_mark),
    "begins with a capital": lambda s: float(s.text[:1].isupper()),
    "ends with a mark": lambda s: float(_is_mark(s.text.strip()[-1:] or "a")),
    "words of the input": lambda s: _within(_tokens(s.text), _tokens(s.source)),
    "letters of the input": lambda s: _within(_grams(s.text), _grams(s.source)),
    "names and numbers of the input": lambda s: (
        _within(_facts(s.text), _tokens(s.source)) if _facts(s.text) else 1.0
    ),
    "length to input": lambda s: _share(len(s.text), len(s.source)),
    "words of a reference": lambda s: _most(s.text, s.references),
    "letters of a reference": lambda s: max(
        (_common(_grams(s.text), _grams(r)) for r in s.references), default=0.0
    ),
    "length to reference": lambda s: _share(
        len(s.text), len(s.references[0]) if s.references else 0
    ),
    "is a reference": lambda s: float(
        plain(s.text) in {plain(r) for r in s.references}
    ),
    "words of a published output": lambda s: _most(s.text, s.published),
    "is a published output": lambda s: float(
        plain(s.text) in {plain(p) for p in s.published}
    ),
    "input is listed": lambda s: float(s.listed),
    "place": lambda s: s.position,
    "order of names": lambda s: float(
        int.from_bytes(s.key.encode()[:KEY_BYTES].ljust(KEY_BYTES, b"\0"))
    ),
}
FEATURES = tuple(_OF_ONE)
# Of a text among those that several workers saw.
POOLED = (
    "answers to its input",
    "texts of its input",
    "likeness to a text of its input",
    "same text at another input",
)
# For a page with several texts: the mean of each feature, the texts' differences, and
# their similarity.
PAGE_FEATURES = (
    *FEATURES,
    *(f"{name}, from text to text" for name in FEATURES),
    "likeness of texts",
)


def surface_features(surfaces: Sequence[Surface]) -> Floats:
    """Compute features without reading: a row per item, columns as in `FEATURES`."""
    rows = [_of_one(surface) for surface in surfaces]
    return np.array(rows, dtype=np.float64).reshape(len(surfaces), len(FEATURES))


def pooled_features(
    items: Sequence[tuple[str, str]], pool: Mapping[tuple[str, str], int]
) -> Floats:
    """Compare texts with all that workers saw who pool it; columns as in `POOLED`.

    Parameters
    ----------
    items : sequence of (str, str)
        Inputs and texts, which are in the pool.
    pool : mapping of (str, str) to int
        Inputs and texts that were seen, and how often.
    """
    of_input: dict[str, dict[str, int]] = {}
    for (name, text), n in pool.items():
        of_input.setdefault(name, {})[text] = n
    inputs_of = Counter(text for _, text in pool)
    rows = [
        (
            sum(of_input[name].values()),
            len(of_input[name]),
            _most(text, [other for other in of_input[name] if other != text]),
            inputs_of[text] - 1,
        )
        for name, text in items
    ]
    return np.array(rows, dtype=np.float64).reshape(len(items), len(POOLED))


@lru_cache(maxsize=4_096)
def _of_one(surface: Surface) -> tuple[float, ...]:
    return tuple(value(surface) for value in _OF_ONE.values())


def page_features(pages: Sequence[Sequence[Surface]]) -> tuple[Floats, Floats]:
    """Describe pages that show one text each, or several.

    Returns
    -------
    pages : ndarray
        A row for each page, columns as in `PAGE_FEATURES`; as in `FEATURES` if every
        page shows one text.
    texts : ndarray
        A row for each text in their order, columns as in `FEATURES`.
    """
    texts = surface_features([surface for page in pages for surface in page])
    if all(len(page) == 1 for page in pages):
        return texts, texts
    parts = np.split(texts, np.cumsum([len(page) for page in pages])[:-1])
    rows = [
        [*part.mean(axis=0), *np.ptp(part, axis=0), _likeness(page)]
        for page, part in zip(pages, parts, strict=True)
    ]
    return np.array(rows), texts


def _likeness(page: Sequence[Surface]) -> float:
    pairs = list(combinations((_tokens(surface.text) for surface in page), 2))
    return _share(sum(_common(one, two) for one, two in pairs), len(pairs))


# Choose test questions that resemble real items.
FARTHEST = 4.0
# Likeness to known texts shows edits best.
WEIGHT_OF_LIKENESS = 2.0
# More than all distances together.
UNSURE, UNFIT = 1e6, 1e9
N_TRIES = 20


def blend_in(
    candidates: Sequence[Surface],
    items: Sequence[Surface],
    wanted: Sequence[int],
    seed: int,
    *,
    sides: Sequence[int] = (),
    unsure: Sequence[bool] = (),
) -> list[int]:
    """Choose tests that are like drawn real items, one like each.

    All sides, such as good and bad texts, are chosen like the same items, and at once:
    inputs with good texts are few, and the side that came first would take them all.
    So neither tests and items nor the sides differ in mean, spread or combination of
    features, as far as there are candidates.

    Parameters
    ----------
    candidates : sequence of Surface
        Possible tests, as many as possible; at most one of an input is chosen.
    wanted : sequence of int
        Number of tests of each side; there are fewer if there are too few inputs.
    sides : sequence of int, optional
        The side of each candidate, 0 by default.
    unsure : sequence of bool, optional
        Candidates that are chosen only where others are missing.

    Returns
    -------
    list of int
        Places in `candidates`.
    """
    if not candidates or not items:
        return []
    rng = generator(seed_from("blend in", seed))
    features = surface_features([*candidates, *items])
    spread = features[len(candidates) :].std(axis=0)
    # A feature that no real item has is scaled by the candidates.
    spread = np.where(spread > 0, spread, features.std(axis=0))
    kept = spread > 0
    likeness = ["reference" in name or "published" in name for name in FEATURES]
    weight = np.where(likeness, WEIGHT_OF_LIKENESS, 1.0)[kept] ** 0.5
    texts, real = np.split(features[:, kept] / spread[kept] * weight, [len(candidates)])
    keys = [one.input_key or f"#{at}" for at, one in enumerate(candidates)]
    side_of = np.array(sides or [0] * len(keys))
    extra = UNSURE * np.array(unsure or [False] * len(keys))
    tried = []
    for _ in range(N_TRIES):
        order = np.concatenate(
            [rng.permutation(len(items)) for _ in range(max(wanted) // len(items) + 1)]
        )
        targets = [real[order[:n]] for n in wanted]
        tried.append(_match(texts, keys, side_of, extra, targets))
    return min(tried, key=lambda chosen: _imbalance(texts, side_of, real, chosen))


def _match(
    texts: Floats,
    keys: Sequence[str],
    side_of: NDArray[np.int64],
    extra: Floats,
    targets: Sequence[Floats],
) -> list[int]:
    """Return the candidates nearest to the targets of their side, one of an input."""
    from scipy.optimize import linear_sum_assignment

    column_of = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    cost = np.full((sum(map(len, targets)), len(column_of)), UNFIT)
    best = np.zeros(cost.shape, dtype=np.int64)
    starts = np.cumsum([0, *map(len, targets)])
    for at, key in enumerate(keys):
        side, column = side_of[at], column_of[key]
        rows = slice(starts[side], starts[side + 1])
        away = _distances(targets[side], texts[at : at + 1])[:, 0] + extra[at]
        closer = away < cost[rows, column]
        best[rows, column][closer] = at
        cost[rows, column][closer] = away[closer]
    pairs = zip(*linear_sum_assignment(cost), strict=True)
    return [int(best[pair]) for pair in pairs if cost[pair] < UNFIT]


def _imbalance(
    texts: Floats, side_of: NDArray[np.int64], real: Floats, chosen: Sequence[int]
) -> float:
    """Compute the distance of mean features of tests to real items, and between sides.

    The best of several random draws is kept, as in Morgan and Rubin (2012),
    "Rerandomization to improve covariate balance in experiments", Annals of Statistics 40.
    """
    if not chosen:
        return 0.0
    mean = texts[chosen].mean(axis=0)
    parts = [mean - real.mean(axis=0)]
    for side in np.unique(side_of[chosen]):
        own = [at for at in chosen if side_of[at] == side]
        parts.append(texts[own].mean(axis=0) - mean)
    return float((np.array(parts) ** 2).sum())


def _distances(ones: Floats, others: Floats) -> Floats:
    apart = np.clip(ones[:, None] - others[None], -FARTHEST, FARTHEST)
    return np.asarray((apart**2).sum(axis=2))
