"""Words for estimates: names, methods and warnings."""

from leaderboard.stats.systems.estimates import FEW_WORKERS
from leaderboard.tasks.config import ADJUSTED, PLAIN, Z_SCORES

NAMES = {
    ADJUSTED: "Adjusted for workers",
    PLAIN: "This crowd’s plain mean",
    Z_SCORES: "Mean of z-scores per worker",
}
SCORE_IS = {
    ADJUSTED: (
        "The score is the mean that workers and instances like these would give: all "
        "systems are estimated together, so that no system gains from lenient workers."
    ),
    PLAIN: "The score is the plain mean over the instances, as this crowd rated them.",
    Z_SCORES: (
        "The score is the mean of ratings in standard deviations from each worker’s own "
        "mean, as WMT publishes it."
    ),
}
# A worker with more of the weight than this has a large influence.
_MUCH = 0.25


def warning_of_few(
    n_workers: int, effective: float | None, largest: float | None
) -> str:
    """Return a warning that a score may not hold for other workers; usually empty."""
    if not n_workers:
        return (
            "Workers unknown: nobody here knows who rated this system, so its interval and "
            "its rank leave workers out and cover instances only."
        )
    if n_workers < 2:
        return (
            "Only one worker rated this system. Nothing here says how another would rate it, "
            "so it shares its rank with every other system."
        )
    if effective is not None and effective < FEW_WORKERS:
        return (
            f"{n_workers:,} workers rated this system, with the weight of "
            f"{effective:.1f} equally busy ones: too few to say much about other workers."
        )
    if largest is not None and largest > _MUCH:
        return f"One worker has {100 * largest:.0f} % of the weight of this score."
    return ""
