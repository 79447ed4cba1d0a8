"""Genie (Khashabi et al., EMNLP 2022)."""
