"""WordNet from a folder of this machine, for METEOR's synonyms; never downloaded.

``make`` fetches WordNet 3.0, the edition that NLTK uses, into share/wordnet of the
virtual environment; Debian's packages ``wordnet-base`` and ``wordnet-sense-index`` put
it into /usr/share/wordnet. GENIE_WORDNET names another folder: theirs or the unpacked
``corpora/wordnet`` of NLTK's data.
"""

import io
import sys
import warnings
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from genie.lib import env

# In the order in which they are tried.
DEFAULT_FOLDERS = (Path(sys.prefix, "share", "wordnet"), Path("/usr/share/wordnet"))
_PARTS = ("noun", "verb", "adj", "adv")
_FILES = [f"{kind}.{part}" for part in _PARTS for kind in ("index", "data")] + [
    f"{part}.exc" for part in _PARTS
]


def wordnet_folder() -> Path:
    """Give the folder where WordNet should be.

    Returns
    -------
    Path
        GENIE_WORDNET; without it the first default folder that is complete, or the
        first of all when none is.

    Examples
    --------
    >>> wordnet_folder().is_absolute()
    True
    """
    if chosen := env.text("GENIE_WORDNET"):
        return Path(chosen).absolute()
    complete = (folder for folder in DEFAULT_FOLDERS if not lacking(folder))
    return next(complete, DEFAULT_FOLDERS[0])


def lacking(folder: Path) -> list[str]:
    """List the files that a WordNet folder should have and this one has not.

    Examples
    --------
    >>> lacking(Path("/no/such/folder"))[0]
    'index.noun'
    """
    return [name for name in _FILES if not (folder / name).is_file()]


class Synonyms:
    """NLTK's WordNet reader with a memory, as METEOR asks for the same words often."""

    def __init__(self, reader: Any) -> None:
        self.edition = str(reader.get_version())
        self.synsets = lru_cache(maxsize=2**16)(reader.synsets)


@lru_cache(maxsize=2)
def synonyms(folder: Path) -> Synonyms:
    """Open WordNet.

    Parameters
    ----------
    folder : Path
        Complete by `lacking`.

    Returns
    -------
    Synonyms
        What ``nltk.translate.meteor_score`` takes for a WordNet.

    Raises
    ------
    OSError
        When a file is not there.

    Examples
    --------
    >>> synonyms(Path("/no/such/folder"))
    Traceback (most recent call last):
        ...
    FileNotFoundError: No WordNet in /no/such/folder: index.noun is missing.
    """
    if missing := lacking(folder):
        raise FileNotFoundError(f"No WordNet in {folder}: {missing[0]} is missing.")
    # NLTK reads nothing outside the folders that it was told about
    paths = import_module("nltk.data").path
    if str(folder) not in paths:
        paths.append(str(folder))
    with warnings.catch_warnings():
        # it warns that only English is there, which is all that is asked for
        warnings.simplefilter("ignore")
        return Synonyms(_reader_class()(str(folder), None))


@lru_cache(maxsize=1)
def _reader_class() -> type[Any]:
    base = import_module("nltk.corpus.reader.wordnet").WordNetCorpusReader
    stream = import_module("nltk.data").SeekableUnicodeStreamReader

    class Reader(base):  # type: ignore[misc, valid-type]
        def open(self, file: str) -> Any:
            path = Path(str(self._root), file)
            # Debian leaves out the names of the 45 lexicographer's files; synonyms do
            # not depend on them, but NLTK wants to count them
            if file == "lexnames" and not path.is_file():
                lines = [
                    f"{number:02d}\tfile-{number:02d}\t1\n" for number in range(45)
                ]
                return io.StringIO("".join(lines))
            # from memory: NLTK never closes the files that it reads synsets from
            return stream(io.BytesIO(path.read_bytes()), self.encoding(file))

        def map_wn(self, version: str = "wordnet") -> None:
            # for other languages' WordNets, which are not used
            return None

    return Reader
