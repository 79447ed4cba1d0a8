"""Tables of pairs: their columns and their analysis."""
