"""RankME (Novikova et al., NAACL 2018)."""
