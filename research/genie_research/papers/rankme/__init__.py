"""RankME (Novikova et al., NAACL 2018)."""

from __future__ import annotations
