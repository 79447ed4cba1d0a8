"""Dynamic Human Evaluation (Thorleiksdóttir et al., LREC 2022)."""
