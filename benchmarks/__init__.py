import sys
from pathlib import Path

# some measure what only research uses
sys.path.append(str(Path(__file__).resolve().parent.parent / "research"))
