"""Models of neural metrics: found on this machine, identified by their contents.

Nothing is ever downloaded: an operator puts a model's folder on the machine and names
it, or fills the Hugging Face cache and names model and revision. The metric of a missing
model is "not computed here", with the reason for staff.
"""

import hashlib
from functools import lru_cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

from genie.lib.errors import GenieError

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_FINGERPRINTED = {".json", ".safetensors", ".bin", ".txt", ".model", ".vocab"}
_BLOCK = 2**20


def lacking_library(*modules: str) -> str | None:
    """Return which library a neural metric lacks, or None.

    Parameters
    ----------
    *modules : str
        Top-level modules besides torch and transformers.

    Examples
    --------
    >>> lacking_library("no_such_library") is None
    False
    """
    needed = ("torch", "transformers", *modules)
    absent = [name for name in needed if find_spec(name) is None]
    if absent:
        return f"The extra [neural] is not installed: {', '.join(absent)} not found."
    try:
        version = installed_version("transformers")
    except PackageNotFoundError:
        return None
    if int(version.split(".")[0]) >= 5:
        # version 5 silently changed RoBERTa's scores and fails on empty texts
        return f"It needs transformers below version 5; {version} is installed."
    return None


def model_folder(name: str, revision: str = "") -> Path:
    """Return a folder with a configuration and weights.

    Parameters
    ----------
    name : str
        A folder, or a name of the Hugging Face hub with files in the local cache.
    revision : str, optional
        Commit, branch or tag of a hub name.

    Raises
    ------
    GenieError
        Code ``no-model``: no name was set, or the model is missing.
    """
    folder = cached_folder(name, revision)
    if not (folder / "config.json").is_file():
        raise GenieError(f"{folder} has no config.json.", code="no-model")
    # large models are split into numbered parts with an index
    if not any(
        (folder / one).is_file() or (folder / f"{one}.index.json").is_file()
        for one in _WEIGHTS
    ):
        raise GenieError(
            f"{folder} has no weights ({' or '.join(_WEIGHTS)}).", code="no-model"
        )
    return folder


def cached_folder(name: str, revision: str = "") -> Path:
    """Return a folder, or the local copy of a hub name; see `model_folder`.

    Raises
    ------
    GenieError
        Code ``no-model``.

    Examples
    --------
    >>> cached_folder("/no/such/folder")
    Traceback (most recent call last):
        ...
    genie.lib.errors.GenieError: There is no folder /no/such/folder.
    """
    if not name:
        raise GenieError("No model is set.", code="no-model")
    folder = Path(name)
    if not folder.is_dir():
        if folder.is_absolute() or name.startswith("."):
            raise GenieError(f"There is no folder {name}.", code="no-model")
        folder = _find_cached(name, revision)
    return folder.absolute()


def _find_cached(name: str, revision: str) -> Path:
    revision_words = f" at revision {revision}" if revision else ""
    missing = GenieError(
        f"{name}{revision_words} is neither a folder nor in the local cache of the "
        "Hugging Face hub. Models are never downloaded while metrics are computed.",
        code="no-model",
    )
    if find_spec("huggingface_hub") is None:
        raise missing
    hub = import_module("huggingface_hub")
    errors = import_module("huggingface_hub.errors")
    try:
        return Path(
            hub.snapshot_download(
                name, revision=revision or None, local_files_only=True
            )
        )
    except (errors.LocalEntryNotFoundError, errors.HFValidationError):
        raise missing from None


def fingerprint(*folders: Path) -> str:
    """Return twelve hexadecimal digits of the SHA-256 of a model's file names and contents.

    Reading a large model takes seconds, and is done once for unchanged files.

    Parameters
    ----------
    *folders : Path
        With configuration, vocabulary and weights; single files are accepted, too.
    """
    files = [
        path
        for folder in folders
        for path in (sorted(folder.iterdir()) if folder.is_dir() else [folder])
        if path.is_file() and (path == folder or path.suffix in _FINGERPRINTED)
    ]
    # the modification time is part of the cache's key: a replaced model is read again
    return _hash_files(tuple((path, path.stat().st_mtime_ns) for path in files))


@lru_cache(maxsize=8)
def _hash_files(files: tuple[tuple[Path, int], ...]) -> str:
    digest = hashlib.sha256()
    for path, _ in files:
        # names count, too: the same bytes are loaded differently under a different name
        digest.update(path.name.encode())
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    return digest.hexdigest()[:12]
