"""What the loops over neural models share: batches of like length, and what is kept.

A model takes as long for a short text as for the longest one of its batch, and most of
the time of a metric is spent on texts that it has seen: references, once per system.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from genie.lib import env

_MEGABYTE = 2**20


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Cut texts into batches, longest first: too long a one fails at the start.

    Parameters
    ----------
    lengths : sequence of int
        Tokens of each text.
    size : int
        Texts of a batch.

    Yields
    ------
    list of int
        Positions in `lengths`.

    Examples
    --------
    >>> list(by_length([3, 9, 1], 2))
    [[1, 0], [2]]
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for start in range(0, len(order), size):
        yield order[start : start + size]


class Kept:
    """Vectors of texts that come again, the latest used, up to a number of bytes.

    Parameters
    ----------
    megabytes : int
        Of the vectors together.

    Examples
    --------
    >>> Kept(1).get("a reference") is None
    True
    """

    def __init__(self, megabytes: int) -> None:
        self.room = megabytes * _MEGABYTE
        self._vectors: OrderedDict[str, Any] = OrderedDict()

    def get(self, text: str) -> Any | None:
        """Give what was kept of a text, or None."""
        if text in self._vectors:
            self._vectors.move_to_end(text)
        return self._vectors.get(text)

    def put(self, text: str, vectors: Any) -> None:
        """Keep a tensor; those that were used longest ago go when room runs out."""
        if text in self._vectors:
            return
        # a view would hold all of its batch in memory
        self._vectors[text] = vectors.clone()
        self.room -= vectors.nbytes
        while self.room < 0:
            self.room += self._vectors.popitem(last=False)[1].nbytes


def kept_vectors() -> Kept:
    """Make room for references, as much as GENIE_NEURAL_KEPT_MB says.

    Returns
    -------
    Kept
        Empty; one belongs to one model.

    Examples
    --------
    >>> kept_vectors().room
    536870912
    """
    return Kept(env.integer("GENIE_NEURAL_KEPT_MB", 512, minimum=0))


def placed(model: Any, half: str = "float16") -> tuple[Any, str, str]:
    """Put a model where it is computed, in half precision if that is a GPU.

    Parameters
    ----------
    half : str, optional
        Which half precision it bears: T5 overflows in float16.

    Returns
    -------
    tuple of model, device and precision
        The last one empty for single precision.

    Examples
    --------
    >>> placed(None)  # doctest: +SKIP
    (BertModel(...), 'cuda', 'float16')
    """
    torch = import_module("torch")
    if not torch.cuda.is_available():
        return model.eval(), "cpu", ""
    if env.flag("GENIE_NEURAL_HALF", True):
        model = model.to(getattr(torch, half))
    else:
        half = ""
    return model.to("cuda").eval(), "cuda", half


def said(precision: str) -> str:
    """Write a precision for a signature; the single one is what nobody mentions.

    Parameters
    ----------
    precision : str
        As `placed` gives it.

    Examples
    --------
    >>> said("float16"), said("")
    ('precision:float16|', '')
    """
    return f"precision:{precision}|" if precision else ""
