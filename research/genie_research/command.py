"""The command `genie-research`: studies and tables, beside the commands of `genie`."""

import os
import sys
from pathlib import Path

from genie import command


def main() -> None:
    """Run the command named by the arguments; without any, list those of research."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "genie_research.settings")
    if len(sys.argv) > 1:
        command.main()
        return
    folder = Path(__file__).parent / "management" / "commands"
    names = [path.stem.replace("_", "-") for path in sorted(folder.glob("[a-z]*.py"))]
    sys.stdout.write(f"usage: genie-research COMMAND, one of {', '.join(names)}\n")
