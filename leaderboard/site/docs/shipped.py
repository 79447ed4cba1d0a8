import shlex
from typing import NamedTuple

from leaderboard.tasks.config.task import TaskConfig
from leaderboard.tasks.readers import all_readers
from leaderboard.tasks.services.fitting import usable
from leaderboard.tasks.shipped import FOLDER, data_of, definition


class Source(NamedTuple):
    """The content and name of the folder for ``--source``."""

    steps: tuple[str, ...]
    words: str = "DIR"


# Each step is one instruction. The texts belong to third parties and are not included.
_SOURCES = {
    "anlg": Source(
        (
            "From the data set's page below, download the data of αNLG and take `test.jsonl` "
            "(with `test-labels.lst`, where hypotheses stand there as `hyp1` and `hyp2`).",
        )
    ),
    "arc-da": Source(
        (
            "From the data set's page below, download ARC-DA, unpack it, and name the "
            "folder that holds `test.jsonl`.",
        )
    ),
    "wmt19-de-en": Source(
        (
            "Download WMT's test sets: "
            "https://data.statmt.org/wmt19/translation-task/test.tgz",
            "Unpack them and name the folder `sgm`, which holds "
            "`newstest2019-deen-src.de.sgm` and `newstest2019-deen-ref.en.sgm`.",
        )
    ),
    "wmt21-de-en": Source(
        (
            "From WMT's repository "
            "https://github.com/wmt-conference/wmt21-news-systems take "
            "`xml/newstest2021.de-en.all.xml` and put it into a folder of its own.",
            "Or write `ids.txt`, `source.txt` and `reference.A.txt`, one segment a line, "
            "and leave out `--reader`.",
        ),
        "DIR --reader wmt-xml",
    ),
    "xsum": Source(
        (
            "The data set's page below says how the articles are collected. Write them to "
            "`test.jsonl`, an object a line.",
        )
    ),
}


class ShippedTask(NamedTuple):
    config: TaskConfig
    brings_texts: bool
    steps: tuple[str, ...]
    layout: str
    command: str


def shipped() -> list[ShippedTask]:
    """Return all tasks: first those with included texts, then the others."""
    found = [task(path.parent.name) for path in FOLDER.glob("*/task.toml")]
    return sorted(found, key=lambda one: (not one.brings_texts, one.config.slug))


def names() -> list[str]:
    return sorted(path.parent.name for path in FOLDER.glob("*/task.toml"))


def task(slug: str) -> ShippedTask:
    config = usable(slug, definition(slug))
    source = _SOURCES.get(slug, Source(()))
    brings = data_of(slug) is not None
    words = [] if brings else ["--source", *shlex.split(source.words)]
    return ShippedTask(
        config,
        brings,
        source.steps,
        all_readers()[config.release.reader].layout,
        shlex.join(["genie", "load-task", slug, *words]),
    )
