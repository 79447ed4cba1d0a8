"""Studies of the method, and the tables of papers computed again: imports Genie, never imported by it."""
