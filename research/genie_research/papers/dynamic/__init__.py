"""Dynamic Human Evaluation (Thorleiksdóttir et al., LREC 2022)."""

from __future__ import annotations
