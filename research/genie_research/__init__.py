"""Studies of the method, and recomputed tables of papers: imports Genie, which never imports it."""
