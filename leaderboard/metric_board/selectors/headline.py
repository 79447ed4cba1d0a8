"""Summary sentences of a metric board, from the stored snapshot alone."""

from leaderboard.metric_board.selectors.snapshot import (
    STATISTICS,
    Cell,
    Shown,
    Statistic,
)

# Used if people cannot be measured by the statistic that metrics are ranked by.
_OF_PEOPLE = ("pairwise-accuracy", "calibrated", "kendall")
_MOST_NAMED = 2


def headline(shown: Shown) -> str:
    """Return which metric agrees best with people, how certainly, and the level of chance."""
    if shown.board is None or not shown.lines:
        return ""
    if shown.too_few_to_rank:
        return (
            f"{shown.n_systems} systems are too few to show which metric agrees with "
            f"{judges(shown)}."
        )
    by, best = STATISTICS[shown.by], shown.lines[0]
    cell = best.cells.get(by.slug, Cell())
    if cell.value is None:
        return f"{by.label} is not defined for these systems."
    what = "systems" if by.level == "system" else "outputs"
    chance = by.chance
    if chance is not None and (cell.low is None or cell.low <= chance):
        return (
            f"{best.label} comes first, but may agree with {judges(shown)} no better "
            f"than chance: {_in_words(by, cell, shown)}."
        )
    return (
        f"{best.label} ranks {what} most like {judges(shown)}{_tie_words(shown)}: "
        f"{_in_words(by, cell, shown)}."
    )


def judges(shown: Shown) -> str:
    simulated = shown.board is not None and shown.board.simulated
    return "simulated annotators" if simulated else "people"


def _in_words(by: Statistic, cell: Cell, shown: Shown) -> str:
    words = f"{by.label[0].lower()}{by.label[1:]}" if " " in by.label else by.label
    text = f"{words} {short(cell.value)}, {_interval(cell)}, {shown.n_systems} systems"
    return text if by.chance is None else f"{text}; chance is {short(by.chance)}"


def _interval(cell: Cell) -> str:
    if cell.low is None or cell.high is None:
        return "no interval"
    return f"95% interval {short(cell.low)} to {short(cell.high)}"


def _tie_words(shown: Shown) -> str:
    best = shown.lines[0]
    tied = [
        line.label
        for line in shown.lines[1:]
        if best.cluster is not None and line.cluster == best.cluster
    ]
    if not tied:
        return ""
    more = len(tied) - _MOST_NAMED
    named = tied if more <= 1 else [*tied[:_MOST_NAMED], f"{more} others"]
    listed = ", ".join(named[:-1])
    return (
        f", tied with {listed} and {named[-1]}" if listed else f", tied with {named[0]}"
    )


def short(value: float | None) -> str:
    """Return a number as papers print it: two decimals, no leading zero."""
    text = f"{abs(value or 0.0):.2f}"
    sign = "−" if value is not None and float(text) and value < 0 else ""
    return sign + (text[1:] if text.startswith("0.") and float(text) else text)


def person_sentence(shown: Shown) -> str:
    person = shown.person
    if person is None:
        return ""
    slugs = [slug for slug in (shown.by, *_OF_PEOPLE) if slug in person.cells]
    slug = next((s for s in slugs if person.cells[s].value is not None), None)
    if slug is None:
        return ""
    by, cell = STATISTICS[slug], person.cells[slug]
    whom = "simulated annotator" if judges(shown) != "people" else "worker"
    words = f"{by.label[0].lower()}{by.label[1:]}" if " " in by.label else by.label
    return (
        f"One {whom} against the others: {words} {short(cell.value)}, "
        f"{_interval(cell)}, the average of {person.n_raters} with a median of "
        f"{person.n_outputs:,.0f} outputs{_beside(by, cell, shown)}."
    )


def _beside(by: Statistic, person: Cell, shown: Shown) -> str:
    if shown.too_few_to_rank or not shown.lines:
        return ""
    best = shown.lines[0]
    metric = best.cells.get(by.slug, Cell())
    if None in (metric.low, metric.high, person.low):
        return ""
    # a person's few ratings are noisier, which the sentence must mention
    scored = f"; {best.label}, which scored all,"
    if (metric.low or 0) > (person.high or 0):
        return f"{scored} is above"
    if (metric.high or 0) < (person.low or 0):
        return f"{scored} is below"
    return f"{scored} does not clearly differ"


def williams_sentence(shown: Shown) -> str:
    test = shown.williams
    if test is None:
        return ""
    label = {line.slug: line.label for line in shown.lines}
    better = "correlates" if test.p <= 0.05 else "does not correlate significantly"
    p = "< .001" if test.p < 0.001 else f"= {test.p:.3f}".replace("0.", ".")
    return (
        f"{label[test.better]} {better} better with {judges(shown)} than the next metric, "
        f"{label[test.next]} (Pearson, Williams’ test, one-sided p {p}, {test.n} systems)."
    )
