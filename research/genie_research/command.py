"""The command `genie-research`: studies and tables, beside the commands of `genie`."""

import os
from pathlib import Path

from genie import command


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie_research.settings")
    folder = Path(__file__).parent / "management" / "commands"
    names = [path.stem.replace("_", "-") for path in sorted(folder.glob("[a-z]*.py"))]
    command.main(
        "genie-research",
        f"usage: genie-research COMMAND, one of {', '.join(names)}\n"
        "All commands of `genie` work, too.\n",
    )
