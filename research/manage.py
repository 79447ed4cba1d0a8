#!/usr/bin/env python3
"""The command `genie-research` from a checkout."""

import sys
from pathlib import Path

# where Genie is not installed, the checkout has it
sys.path.append(str(Path(__file__).resolve().parent.parent))

from genie_research.command import main

if __name__ == "__main__":
    main()
