"""Studies of the method, and recomputed tables of papers. Genie never imports it."""
