"""A release's tables as Parquet, written from their JSONL by DuckDB (extra `parquet`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from genie.lib.formats.parquet import engine

_TYPES = {
    "BIGINT": """
        submission rank_first rank_last cluster n_instances n n_workers
        n_excluded_workers seed n_resamples n_questions n_correct comparison a b n_labels
        n_labels_in n_votes n_pairs n_waves wave_size max_pairs all_pairs position wave
        joint n_workers_each per_page n_judgements place skill_cluster other wins ties
        losses sample_rank
    """,
    "DOUBLE": """
        mean low high low_50 high_50 effective_workers largest_share value answered weight
        p_noisy estimate answers_share answers_low answers_high delta all_pairs_delta label
        vote agreement agreement_low agreement_high skill skill_low skill_high strength
        strength_low strength_high p_above
    """,
    "BOOLEAN": """
        simulated ranks_partial counts provisional asked is_mean noisy anytime_valid
        votes_kept sides_balanced used counted
    """,
    "DOUBLE[]": "per_instance",
    "JSON": "links histogram estimates details fields references",
}
#: The type of each column, by its name; all others hold words.
TYPES = {column: kind for kind, names in _TYPES.items() for column in names.split()}
# How many rows the engine holds before it writes them.
_ROWS_AT_ONCE = 20_480
_LEAST_OBJECT, _MOST_OBJECT = 1 << 20, 1 << 30


def write_parquet(folder: Path, tables: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Write a Parquet file beside each table's JSONL, with the same rows in their order.

    Parameters
    ----------
    folder : Path
    tables : iterable of (str, sequence of str)
        Name and columns of each.

    Raises
    ------
    GenieError
        ``no-parquet`` where the engine is not installed.
    """
    with engine(folder) as connection:
        for name, columns in tables:
            source, target = (folder / f"{name}.{end}" for end in ("jsonl", "parquet"))
            types = {column: TYPES.get(column, "VARCHAR") for column in columns}
            rows = connection.read_json(
                str(source),
                format="newline_delimited",
                columns=types,
                maximum_object_size=_longest(source),
            )
            rows.write_parquet(
                str(target), compression="zstd", row_group_size=_ROWS_AT_ONCE
            )


def _longest(path: Path) -> int:
    """Give room for the longest line; an instance's texts may be a book."""
    with path.open("rb") as lines:
        longest = max(map(len, lines), default=0)
    return min(max(2 * longest, _LEAST_OBJECT), _MOST_OBJECT)
