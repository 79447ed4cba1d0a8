"""What is said of preferences that are adjusted for covariates."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AdjustedLine:
    """A system's strength, were all texts equal in the covariates."""

    system: str
    estimate: float
    low: float
    high: float
    rank_low: int
    rank_high: int
    cluster: int


@dataclass(frozen=True)
class EffectLine:
    """Log-odds of being preferred for `unit` more of a covariate, all else equal."""

    covariate: str
    unit: float
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class AdjustedLines:
    """Strengths of preferences adjusted for covariates, best first, and their effects."""

    systems: tuple[AdjustedLine, ...]
    effects: tuple[EffectLine, ...]
    left_out: tuple[str, ...]
    covers: str
    notes: tuple[str, ...]
