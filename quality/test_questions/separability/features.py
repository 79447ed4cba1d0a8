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


def blend_in(
    candidates: Sequence[Surface], items: Sequence[Surface], n: int, seed: int
) -> list[int]:
    """Choose tests that are like drawn real items, one like each.

    With the same seed, good and bad texts are chosen like the same items. So neither
    tests and items nor good and bad texts differ in mean, spread or combination of
    features, as far as there are candidates.

    Parameters
    ----------
    candidates : sequence of Surface
        Possible tests, as many as possible; at most one of an input is chosen.
    n : int
        Number of tests; the result is shorter if there are too few inputs.

    Returns
    -------
    list of int
        Places in `candidates`.
    """
    from scipy.optimize import linear_sum_assignment

    if not candidates or not items:
        return []
    rng = generator(seed_from("blend in", seed))
    order = np.concatenate(
        [rng.permutation(len(items)) for _ in range(n // len(items) + 1)]
    )
    features = surface_features([*candidates, *items])
    spread = features[len(candidates) :].std(axis=0)
    # A feature that no real item has is scaled by the candidates.
    spread = np.where(spread > 0, spread, features.std(axis=0))
    kept = spread > 0
    likeness = ["reference" in name or "published" in name for name in FEATURES]
    weight = np.where(likeness, WEIGHT_OF_LIKENESS, 1.0)[kept] ** 0.5
    scaled = features[:, kept] / spread[kept] * weight
    away = _distances(scaled[len(candidates) :][order[:n]], scaled[: len(candidates)])
    inputs: dict[str, list[int]] = {}
    for at, candidate in enumerate(candidates):
        inputs.setdefault(candidate.input_key or f"#{at}", []).append(at)
    best = [np.asarray(of)[away[:, of].argmin(axis=1)] for of in inputs.values()]
    cost = np.stack([away[np.arange(len(away)), of] for of in best], axis=1)
    targets, chosen = linear_sum_assignment(cost)
    return [int(best[of][target]) for target, of in zip(targets, chosen, strict=True)]


def _distances(ones: Floats, others: Floats) -> Floats:
    apart = np.clip(ones[:, None] - others[None], -FARTHEST, FARTHEST)
    return np.asarray((apart**2).sum(axis=2))
