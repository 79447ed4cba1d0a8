"""Files in the form of other tools' and studies': how much of each is read as a table.

`genuine/README.md` describes them. Half of them stay packed until the reader is done.
"""

from functools import partial

from leaderboard.files import Unreadable, unpack
from leaderboard.tables import read_table
from tests.nets.conftest import FILES

SEEN = FILES / "genuine" / "seen"


def _lines():
    for path in sorted(SEEN.rglob("*.*")):
        if not path.is_file() or path.name == "case.json":
            continue
        for file in unpack(path.name, partial(path.open, "rb")):
            try:
                table = read_table(file)
            except Unreadable as error:
                found = error.code
            else:
                codes = sorted({problem.code for problem in table.problems})
                size = f"{len(table.columns)} columns, {len(table.numbers)} rows"
                found = "; ".join([size, *codes])
            yield f"{path.relative_to(SEEN).as_posix()}: {found}\n"


def test_files_of_other_tools_are_read_as_tables(net):
    net("genuine.txt", "".join(_lines()))
