"""The engine that reads and writes Parquet: DuckDB, of the extra `parquet`."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from genie.lib.errors import GenieError

_SETTINGS = {
    # it may run in a worker of the queue, next to others
    "threads": "1",
    "memory_limit": "1GB",
    # files are read once
    "enable_external_file_cache": "false",
    # no downloads
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_MAGIC = b"PAR1"


def available() -> bool:
    return find_spec("duckdb") is not None


def is_parquet(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def check_available() -> None:
    """Refuse with ``no-parquet``, and how to install it, if the engine is missing."""
    if not available():
        raise GenieError(
            "Parquet needs DuckDB: install Genie with its extra, "
            "pip install 'genie-leaderboards[parquet]'.",
            code="no-parquet",
        )


def engine(folder: Path | None = None) -> Any:
    """Open a connection, or refuse with ``no-parquet``; large data goes into `folder`."""
    check_available()
    import duckdb

    spare = {"temp_directory": str(folder)} if folder else {}
    connection = duckdb.connect(config={**_SETTINGS, **spare})
    connection.execute("SET enable_progress_bar = false")
    return connection
