"""Loops shared by neural models: batches of texts of similar length, and stored vectors.

A model takes as long for a short text as for the longest one of its batch, and metrics
spend most of their time on texts that come again: references, once per system.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any

from genie.lib import env

_MEGABYTE = 2**20


def by_length(lengths: Sequence[int], size: int) -> Iterator[list[int]]:
    """Yield batches of positions, longest texts first, so that a too long one fails early.

    Parameters
    ----------
    lengths : sequence of int
        Tokens of each text.
    size : int
        Texts per batch.

    Examples
    --------
    >>> list(by_length([3, 9, 1], 2))
    [[1, 0], [2]]
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    for start in range(0, len(order), size):
        yield order[start : start + size]


class Kept:
    """Cache of texts' vectors with a limit in megabytes; the least recently used are dropped."""

    def __init__(self, megabytes: int) -> None:
        self.room = megabytes * _MEGABYTE
        self._vectors: OrderedDict[str, Any] = OrderedDict()

    def get(self, text: str) -> Any | None:
        if text in self._vectors:
            self._vectors.move_to_end(text)
        return self._vectors.get(text)

    def put(self, text: str, vectors: Any) -> None:
        if text in self._vectors:
            return
        # a view would keep its whole batch in memory
        self._vectors[text] = vectors.clone()
        self.room -= vectors.nbytes
        while self.room < 0:
            self.room += self._vectors.popitem(last=False)[1].nbytes


def kept_vectors() -> Kept:
    """Create an empty cache of GENIE_NEURAL_KEPT_MB megabytes, for one model.

    Examples
    --------
    >>> kept_vectors().room
    536870912
    """
    return Kept(env.integer("GENIE_NEURAL_KEPT_MB", 512, minimum=0))


def placed(model: Any, half: str = "float16") -> tuple[Any, str, str]:
    """Move a model to its device, in half precision on a GPU.

    Parameters
    ----------
    half : str, optional
        Half precision to use: T5 overflows in float16.

    Returns
    -------
    tuple of model, device and precision
        The last one empty for single precision.
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
    """Return the signature's part for a precision of `placed`; empty for single precision.

    Examples
    --------
    >>> said("float16"), said("")
    ('precision:float16|', '')
    """
    return f"precision:{precision}|" if precision else ""
