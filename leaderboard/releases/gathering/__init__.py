"""What goes into a release: the evidence of the public board, and no more."""

from __future__ import annotations
