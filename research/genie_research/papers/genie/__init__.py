"""Genie (Khashabi et al., EMNLP 2022)."""

from __future__ import annotations
