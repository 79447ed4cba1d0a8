"""Features of an item without reading it: shares, lengths, overlaps, places."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from genie.lib.seeds import generator, seed_from
from quality.test_questions.edits.edit import doubled, plain, words_of

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
    position, created : float, optional
        Its place in the campaign, and its time of creation.
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
    created: float = 0.0
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
    "doubled words": lambda s: float(doubled(words_of(s.text))),
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
    "time": lambda s: s.created,
    "order of names": lambda s: float(
        int.from_bytes(s.key.encode()[:KEY_BYTES].ljust(KEY_BYTES, b"\0"))
    ),
}
FEATURES = (*_OF_ONE, "same text elsewhere", "same input elsewhere")
# For a page with several texts: the mean of each feature, the texts' differences, and
# their similarity.
PAGE_FEATURES = (
    *FEATURES,
    *(f"{name}, from text to text" for name in FEATURES),
    "likeness of texts",
)


def surface_features(surfaces: Sequence[Surface]) -> Floats:
    """Compute features without reading: a row per item, columns as in `FEATURES`.

    `surfaces` are all items of a campaign including test questions, because repeated
    texts and inputs are counted among them.
    """
    texts = Counter(plain(surface.text) for surface in surfaces)
    inputs = Counter(surface.input_key for surface in surfaces if surface.input_key)
    rows = [
        [
            *_of_one(surface),
            float(texts[plain(surface.text)] - 1),
            float(max(0, inputs[surface.input_key] - 1)),
        ]
        for surface in surfaces
    ]
    return np.array(rows, dtype=np.float64).reshape(len(surfaces), len(FEATURES))


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


# Choose test questions that together resemble real items.
FARTHEST = 4.0
# One of the best two is chosen, so that a different seed gives different tests.
N_BEST = 2


def blend_in(
    candidates: Sequence[Surface],
    items: Sequence[Surface],
    n: int,
    seed: int,
    *,
    taken: Collection[str] = (),
    chosen: Sequence[Surface] = (),
) -> list[int]:
    """Choose tests whose surface is distributed as that of real items.

    Kernel herding: one after another, choose the candidate with which the means and
    mean squares of all features are closest to those of the real items. So the choice
    favors edited texts that have moved away from public ones but were closer before.

    Parameters
    ----------
    candidates : sequence of Surface
        Possible tests, as many as possible; at most one of an input is chosen.
    n : int
        Number of tests; the result is shorter if there are too few inputs.
    taken : collection of str, optional
        Inputs (`input_key`) that may not be used.
    chosen : sequence of Surface, optional
        Tests that are already chosen: the new ones resemble real items with them.

    Returns
    -------
    list of int
        Places in `candidates`.

    References
    ----------
    Chen, Welling and Smola (2010), "Super-samples from kernel herding", UAI.
    """
    free = [k for k, c in enumerate(candidates) if c.input_key not in taken]
    if not free or not items:
        return []
    rows = surface_features([*(candidates[k] for k in free), *items, *chosen])
    first, last = len(free), len(free) + len(items)
    features, before, wanted = _moments(rows[:first], rows[last:], rows[first:last])
    keys = [candidates[k].input_key or f"#{k}" for k in free]
    return [free[k] for k in _herded(features, before, wanted, keys, n, seed)]


def _moments(
    candidates: Floats, chosen: Floats, items: Floats
) -> tuple[Floats, Floats, Floats]:
    """Standardize by the real items and add squares; also return the target."""
    spread = items.std(axis=0)
    # A feature that no real item has is scaled by the candidates.
    spread = np.where(spread > 0, spread, candidates.std(axis=0))
    kept = spread > 0
    scaled = [
        np.clip(
            (rows[:, kept] - items[:, kept].mean(axis=0)) / spread[kept],
            -FARTHEST,
            FARTHEST,
        )
        for rows in (candidates, chosen, items)
    ]
    of_tests, of_chosen, of_items = (np.hstack([rows, rows**2 / 2]) for rows in scaled)
    return of_tests, of_chosen, of_items.mean(axis=0)


def _herded(
    features: Floats,
    before: Floats,
    wanted: Floats,
    inputs: Sequence[str],
    n: int,
    seed: int,
) -> list[int]:
    rng = generator(seed_from("blend in", seed))
    keys = np.array(inputs)
    left = np.ones(len(inputs), dtype=bool)
    total = before.sum(axis=0)
    chosen = list[int]()
    while len(chosen) < n and left.any():
        where = np.flatnonzero(left)
        means = (total + features[where]) / (len(before) + len(chosen) + 1)
        away = ((means - wanted) ** 2).sum(axis=1)
        best = where[np.argsort(away, kind="stable")[:N_BEST]]
        one = int(best[rng.integers(len(best))])
        chosen.append(one)
        total += features[one]
        left &= keys != keys[one]
    return chosen
