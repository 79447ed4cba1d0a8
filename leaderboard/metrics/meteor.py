"""METEOR as NLTK computes it."""

import io
import sys
import warnings
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from genie.lib import env
from leaderboard.metrics.base import Batch, Metric, MetricOutput, n_references, versions

# Words and word lists shared by several metrics.

# WordNet from a local folder, for METEOR's synonyms; never downloaded.
#
# ``make`` fetches WordNet 3.0, the edition that NLTK uses, into share/wordnet of the
# virtual environment; Debian's packages ``wordnet-base`` and ``wordnet-sense-index`` install
# it in /usr/share/wordnet. GENIE_WORDNET selects a different folder: such a one or the
# unpacked ``corpora/wordnet`` of NLTK's data.
# In the order of search.
DEFAULT_FOLDERS = (Path(sys.prefix, "share", "wordnet"), Path("/usr/share/wordnet"))
_PARTS = ("noun", "verb", "adj", "adv")
_FILES = [f"{kind}.{part}" for part in _PARTS for kind in ("index", "data")] + [
    f"{part}.exc" for part in _PARTS
]


def wordnet_folder() -> Path:
    """Return the folder of WordNet, which may be incomplete.

    It is GENIE_WORDNET if set, else the first complete default folder, or the first of all
    if none is complete.
    """
    if chosen := env.text("GENIE_WORDNET"):
        return Path(chosen).absolute()
    complete = (folder for folder in DEFAULT_FOLDERS if not missing_files(folder))
    return next(complete, DEFAULT_FOLDERS[0])


def missing_files(folder: Path) -> list[str]:
    """Return the names of the files that are missing in a WordNet folder."""
    return [name for name in _FILES if not (folder / name).is_file()]


class Synonyms:
    """NLTK's WordNet reader with a cache, because METEOR looks up the same words often."""

    def __init__(self, reader: Any) -> None:
        self.edition = str(reader.get_version())
        self.synsets = lru_cache(maxsize=2**16)(reader.synsets)


@lru_cache(maxsize=2)
def synonyms(folder: Path) -> Synonyms:
    """Open WordNet for ``nltk.translate.meteor_score``, from a folder without `lacking` files.

    Raises
    ------
    OSError
        If a file is missing.

    Examples
    --------
    >>> synonyms(Path("/no/such/folder"))
    Traceback (most recent call last):
        ...
    FileNotFoundError: No WordNet in /no/such/folder: index.noun is missing.
    """
    if missing := missing_files(folder):
        raise FileNotFoundError(f"No WordNet in {folder}: {missing[0]} is missing.")
    # NLTK reads only from folders on its path
    paths = import_module("nltk.data").path
    if str(folder) not in paths:
        paths.append(str(folder))
    with warnings.catch_warnings():
        # it warns that only English is available, which is all that METEOR needs
        warnings.simplefilter("ignore")
        return Synonyms(_reader_class()(str(folder), None))


@lru_cache(maxsize=1)
def _reader_class() -> type[Any]:
    base = import_module("nltk.corpus.reader.wordnet").WordNetCorpusReader
    stream = import_module("nltk.data").SeekableUnicodeStreamReader

    class Reader(base):  # type: ignore[misc, valid-type]
        def open(self, file: str) -> Any:
            path = Path(str(self._root), file)
            # Debian omits the names of the 45 lexicographer's files; synonyms do not
            # need them, but NLTK counts them
            if file == "lexnames" and not path.is_file():
                lines = [
                    f"{number:02d}\tfile-{number:02d}\t1\n" for number in range(45)
                ]
                return io.StringIO("".join(lines))
            # from memory, because NLTK never closes the files that it reads synsets from
            return stream(io.BytesIO(path.read_bytes()), self.encoding(file))

        def map_wn(self, version: str = "wordnet") -> None:
            # only needed for other languages' WordNets, which are not used
            return None

    return Reader


class Meteor(Metric):
    """METEOR (NLTK): exact, stem and synonym matches of words, and their order.

    Mean over instances, times 100; the best reference counts. Words are what stands
    between white space, in lower case. This is NLTK's METEOR, not the METEOR 1.5 of the
    Java program, which is ten and more points away; and NLTK's own changed: until 3.6.2
    words matched by stem were matched again as synonyms, and since 3.6.5 synonyms are
    looked up by stem, so few are found. Numbers compare only with the same version. An
    exact copy of m words gets 100 - 50 / m³. English only.

    Parameters
    ----------
    alpha, beta, gamma : float, optional
        Weight of recall, shape and weight of the penalty for scattered matches.

    References
    ----------
    Banerjee and Lavie (2005), "METEOR: An Automatic Metric for MT Evaluation with
    Improved Correlation with Human Judgments", section 2.2. Lavie and Agarwal (2007),
    WMT, section 2.
    """

    slug = "meteor"
    label = "METEOR (NLTK)"
    version = versions(1, "nltk")
    higher_is_better = True
    range = (0.0, 100.0)
    cost = "heavy"
    piece = 5_000
    paper = "Banerjee and Lavie 2005"

    def __init__(
        self, *, alpha: float = 0.9, beta: float = 3.0, gamma: float = 0.5
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.gamma = gamma

    def available(self) -> str | None:
        if find_spec("nltk") is None:
            return "The library nltk is not installed."
        folder = wordnet_folder()
        if missing_files(folder):
            return (
                f"{folder} does not contain a complete WordNet. Run `make setup`, "
                "install Debian's wordnet-base and wordnet-sense-index, or set "
                "GENIE_WORDNET to its folder."
            )
        return None

    def _measure(self, batch: Batch) -> MetricOutput:
        wordnet = synonyms(wordnet_folder())
        values = 100.0 * np.array(
            [
                self._score(prediction, references, wordnet)
                for prediction, references in zip(
                    batch.predictions, batch.references, strict=True
                )
            ],
            dtype=np.float64,
        )
        return MetricOutput(
            overall=float(values.mean()),
            per_instance=values,
            signature=(
                f"nrefs:{n_references(batch)}|multi:max|case:lower|tok:space|"
                f"alpha:{self.alpha}|beta:{self.beta}|gamma:{self.gamma}|stem:porter|"
                f"wordnet:{wordnet.edition}|agg:mean|version:{self.version}"
            ),
        )

    def _score(
        self, prediction: str, references: Sequence[str], wordnet: Synonyms
    ) -> float:
        from nltk.translate.meteor_score import meteor_score

        return float(
            meteor_score(
                [reference.split() for reference in references],
                prediction.split(),
                stemmer=stemmer(),
                wordnet=wordnet,
                alpha=self.alpha,
                beta=self.beta,
                gamma=self.gamma,
            )
        )


class _Stemmer:
    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer

        # texts repeat words: each is stemmed once
        self.stem = lru_cache(maxsize=2**18)(PorterStemmer().stem)


@lru_cache(maxsize=1)
def stemmer() -> _Stemmer:
    return _Stemmer()
