"""A release's tables as Parquet, converted from JSONL and back by DuckDB.

The engine (extra `parquet`) works in a separate process, which streams from file to
file in some hundred megabytes: in a worker of the queue, this memory would never be
freed.
"""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError
from genie.lib.formats import check_available, engine
from genie.lib.queue import lifeline

_TYPES = {
    "BIGINT": """
        submission rank_first rank_last cluster n_instances n_workers
        n_excluded_workers seed n_resamples n_questions n_correct comparison a b n_labels
        n_labels_in n_votes n_pairs n_waves wave_size max_pairs all_pairs position wave
        joint n_workers_each per_page n_judgements place other wins ties losses
        sample_rank page n_people n_judge campaign run call part sample attempts n_calls n_answered n_invalid
        expected_cents most_cents approved_cents input_tokens output_tokens
    """,
    "DOUBLE": """
        mean low high value answered weight
        p_noisy estimate answers_share answers_low answers_high delta all_pairs_delta
        label vote agreement agreement_low agreement_high p_above tolerance input_price output_price factor spent_cents
        seconds plain_mean plain_low plain_high explained labels_saved
    """,
    "BOOLEAN": """
        simulated ranks_partial counts provisional is_mean noisy anytime_valid
        votes_kept sides_balanced used counted with_references whole ratios
        standing
    """,
    "DOUBLE[]": "per_instance",
    "JSON": """
        links details fields references marks definition criteria
        values reasons facts moved models fields_sent beside errors judges
    """,
}
#: The type of each column by name, unless declared; all others are strings.
TYPES = {column: kind for kind, names in _TYPES.items() for column in names.split()}
# Rows held before writing: fewer if they are long.
_MOST_ROWS, _BYTES_AT_ONCE = 20_480, 8 << 20
# Memory for reading: rows of a whole book each need more.
_LITTLE, _MUCH = "256MB", "1GB"
_LEAST_OBJECT, _MOST_OBJECT = 1 << 20, 1 << 30
_OF_KIND = {
    "integer": "BIGINT",
    "number": "DOUBLE",
    "object": "JSON",
    "text": "VARCHAR",
    "true or false": "BOOLEAN",
}


def write_parquet(folder: Path, tables: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Write each table's JSONL as Parquet; raise GenieError ``no-parquet`` on failure."""
    # imported late: the engine's process has no use for models
    from leaderboard.evaluation.result_columns import columns_of

    types = {}
    for name, columns in tables:
        known = TYPES | {c.name: _OF_KIND[c.kind] for c in columns_of("release", name)}
        types[name] = {column: known.get(column, "VARCHAR") for column in columns}
    _apart("write", str(folder), json.dumps(types))


@contextmanager
def as_json_lines(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder with the tables of a release's Parquet as JSONL."""
    with tempfile.TemporaryDirectory(prefix="genie-tables-") as place:
        _apart("read", str(folder), place)
        yield Path(place)


def _apart(*words: str) -> None:
    check_available()
    if lifeline.start([sys.executable, "-m", __name__, *words]).wait():
        raise GenieError(
            "DuckDB could not write the tables as Parquet. The log has its error "
            "message.",
            code="no-parquet",
        )


def _write(folder: Path, tables: dict[str, dict[str, str]]) -> None:
    with engine(folder) as connection:
        for name, types in tables.items():
            source, target = (folder / f"{name}.{end}" for end in ("jsonl", "parquet"))
            # the texts of an instance may be a book
            with source.open("rb") as lines:
                longest = max(map(len, lines), default=1)
            n = min(max(_BYTES_AT_ONCE // longest, 1), _MOST_ROWS)
            rows = connection.read_json(
                str(source),
                format="newline_delimited",
                columns=types,
                maximum_object_size=min(max(2 * longest, _LEAST_OBJECT), _MOST_OBJECT),
            )
            rows.write_parquet(str(target), compression="zstd", row_group_size=n)


def _read(folder: Path, place: Path) -> None:
    with engine(place) as connection:
        for source in sorted(folder.glob("*.parquet")):
            target = str(place / f"{source.stem}.jsonl").replace("'", "''")
            copy = f"COPY (FROM read_parquet($1)) TO '{target}' (FORMAT json)"
            _within_memory(connection, copy, [str(source)])


def _within_memory(connection: Any, statement: str, given: list[str]) -> None:
    import duckdb

    try:
        connection.execute(f"SET memory_limit = '{_LITTLE}'")
        connection.execute(statement, given)
    except duckdb.OutOfMemoryException:
        connection.execute(f"SET memory_limit = '{_MUCH}'")
        connection.execute(statement, given)


if __name__ == "__main__":
    lifeline.hold_on()
    if sys.argv[1] == "write":
        _write(Path(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        _read(Path(sys.argv[2]), Path(sys.argv[3]))
