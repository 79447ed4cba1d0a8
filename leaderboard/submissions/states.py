"""The states of a human evaluation and its submission, as pages and the API name them."""

from collections.abc import Collection
from datetime import timedelta

from django.db import models
from django.utils.translation import gettext_lazy


class State(models.TextChoices):
    REQUESTED = "REQUESTED", gettext_lazy("awaiting approval")
    DECLINED = "DECLINED", gettext_lazy("declined")
    APPROVED = "APPROVED", gettext_lazy("approved")
    ANNOTATING = "ANNOTATING", gettext_lazy("collecting ratings")
    ANNOTATED = "ANNOTATED", gettext_lazy("ratings complete")
    SCORED = "SCORED", gettext_lazy("scored")
    DECIDED = "DECIDED", gettext_lazy("decided")
    UNDECIDED = "UNDECIDED", gettext_lazy("inconclusive")
    STOPPED = "STOPPED", gettext_lazy("stopped")
    WITHDRAWN = "WITHDRAWN", gettext_lazy("withdrawn")


LEGAL: dict[str, frozenset[str]] = {
    State.REQUESTED: frozenset({State.APPROVED, State.DECLINED, State.WITHDRAWN}),
    State.DECLINED: frozenset({State.APPROVED, State.WITHDRAWN}),
    # back to the request if its submission is withdrawn
    State.APPROVED: frozenset({State.ANNOTATING, State.STOPPED, State.REQUESTED}),
    State.ANNOTATING: frozenset(
        {State.ANNOTATED, State.DECIDED, State.UNDECIDED, State.STOPPED}
    ),
    State.ANNOTATED: frozenset({State.SCORED, State.STOPPED}),
    # staff stopped it without publishing a partial result; they may do so later
    State.STOPPED: frozenset({State.ANNOTATING, State.ANNOTATED}),
    State.SCORED: frozenset(),
    State.DECIDED: frozenset(),
    State.UNDECIDED: frozenset(),
    State.WITHDRAWN: frozenset(),
}


def state_on_pages(asked: str | None) -> str:
    """Return what a measured submission shows; `asked` is its evaluation's state."""
    return "MEASURED" if asked in {None, "", State.REQUESTED} else str(asked)


def states_behind(shown_states: Collection[str]) -> list[str]:
    return [state for state in State.values if state_on_pages(state) in shown_states]


# The strategy's method for the next step by state; without an entry, staff decide or it
# is over. Published results are kept up to date.
STEPS: dict[str, str] = {
    State.APPROVED: "launch",
    State.ANNOTATING: "collect",
    State.ANNOTATED: "score",
    State.SCORED: "publish",
}
# How long its team can restore a withdrawn submission.
WAY_BACK = timedelta(days=1)
# No worker is asked any more.
OVER = frozenset(
    {
        State.DECLINED,
        State.SCORED,
        State.DECIDED,
        State.UNDECIDED,
        State.STOPPED,
        State.WITHDRAWN,
    }
)
