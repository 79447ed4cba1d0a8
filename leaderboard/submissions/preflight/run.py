"""All checks on one submission."""

from collections.abc import Sequence

from leaderboard.submissions.preflight.base import PreflightWarning, Texts, all_checks


def preflight(
    predictions: list[str],
    references: list[list[str]],
    sources: list[str],
    *,
    target_language: str,
    source_language: str,
    earlier: Sequence[tuple[str, list[str]]] = (),
    seed: int,
) -> list[PreflightWarning]:
    """Check a submission for mistakes that would waste people's work.

    Parameters
    ----------
    predictions : list of str, shape (n,)
        In the task's order.
    references : list of list of str, shape (n, variable)
        May be empty lists.
    sources : list of str, shape (n,) or (0,)
        Input texts; may be empty.
    earlier : sequence of (name, list of str), optional
        Predictions of other submissions.
    seed : int
        Of the samples drawn above 2,000 instances.

    Returns
    -------
    list of PreflightWarning
        At most one per check, in the order of their codes, ``misaligned-ids`` first.

    Raises
    ------
    ValueError
        If the inputs have different lengths.

    Examples
    --------
    >>> warnings = preflight(
    ...     ["It rains.", ""], [["It is raining."], ["It snows."]], [],
    ...     target_language="en", source_language="de", seed=1)
    >>> [warning.code for warning in warnings]
    ['empty-predictions']
    """
    n = len(predictions)
    sources = sources or [""] * n
    if len(references) != n or len(sources) != n:
        raise ValueError("Predictions, references and sources must be aligned.")
    if n == 0:
        return []
    texts = Texts(
        predictions,
        references,
        sources,
        target_language,
        source_language,
        earlier,
        seed,
    )
    results = [check().look(texts) for check in all_checks().values()]
    warnings = [warning for warning in results if warning is not None]
    # sorting is stable: the others keep the order of their codes
    return sorted(warnings, key=lambda warning: warning.code != "misaligned-ids")
