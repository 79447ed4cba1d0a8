"""The table of detectors of noisy workers: Genie's eight, then ours."""

from dataclasses import dataclass
from typing import Literal

from genie.lib import outside
from quality.detection.stats.beta_mixture import BetaMixture

Criterion = Literal["rate", "class"]


@dataclass(frozen=True)
class DetectorSpec:
    """A detector before it is fitted.

    Attributes
    ----------
    criterion : {"rate", "class"}
        The meaning of "noisy".
    n_components : int
        Components of the prior that is fixed or learned.
    prior : BetaMixture or None
        The fixed prior; None if it is learned.
    guarded : bool
        Whether the learned prior is guarded, see
        quality.detection.stats.detectors.guard.
    """

    slug: str
    title: str
    criterion: Criterion
    n_components: int
    prior: BetaMixture | None = None
    guarded: bool = False


_FIXED_1 = BetaMixture((1.0,), (4.0,), (1.0,))
_FIXED_2 = BetaMixture((0.05, 0.95), (0.5, 9.5), (4.5, 0.5))
_JEFFREYS = BetaMixture((1.0,), (0.5,), (0.5,))
_UNIFORM = BetaMixture((1.0,), (1.0,), (1.0,))

#: The rows of Genie's table 1, in its order, then ours.
DETECTORS: dict[str, DetectorSpec] = {
    spec.slug: spec
    for spec in (
        DetectorSpec("class-fixed-2", "class, fixed 2", "class", 2, _FIXED_2),
        DetectorSpec("class-learned-2", "class, learned 2", "class", 2),
        DetectorSpec("rate-jeffreys", "rate, Jeffreys", "rate", 1, _JEFFREYS),
        DetectorSpec("rate-uniform", "rate, uniform", "rate", 1, _UNIFORM),
        DetectorSpec("rate-fixed-1", "rate, fixed 1", "rate", 1, _FIXED_1),
        DetectorSpec("rate-learned-1", "rate, learned 1", "rate", 1),
        DetectorSpec("rate-fixed-2", "rate, fixed 2", "rate", 2, _FIXED_2),
        DetectorSpec("rate-learned-2", "rate, learned 2", "rate", 2),
        DetectorSpec("rate-guarded-2", "rate, guarded 2", "rate", 2, guarded=True),
    )
}

PAPER_DETECTORS: tuple[str, ...] = tuple(
    slug for slug, spec in DETECTORS.items() if not spec.guarded
)

for _where, _spec in outside.objects("detectors", DetectorSpec):
    if _spec.slug in DETECTORS:
        outside.refuse("detectors", _where, f"there is another {_spec.slug} already")
    else:
        DETECTORS[_spec.slug] = _spec

#: Never flags a flawless worker and never counts a right answer against a worker; the
#: default of those that know counts of test questions only.
DEFAULT_DETECTOR = "rate-guarded-2"
