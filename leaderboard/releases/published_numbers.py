import math
from dataclasses import dataclass

# The order of summation differs from that at publication.
TOLERANCE = 1e-9

# The reason why ratings of a banned worker do not count.
EXCLUDED = "worker excluded"

Value = float | str | bool | None


@dataclass(frozen=True)
class Number:
    """A published number, or word, beside the recomputed one.

    `what` is the object and the field; `tolerance` is relative and absolute.
    """

    file: str
    what: str
    published: Value
    computed: Value
    tolerance: float = TOLERANCE

    @property
    def same(self) -> bool:
        # a word, a truth value or None has no tolerance
        if not (_is_number(self.published) and _is_number(self.computed)):
            return self.published == self.computed
        return math.isclose(
            float(self.published or 0),
            float(self.computed or 0),
            rel_tol=self.tolerance,
            abs_tol=self.tolerance,
        )

    def __str__(self) -> str:
        return (
            f"{self.file}, {self.what}: {self.published!r} was published, but "
            f"{self.computed!r} was computed."
        )


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
