"""Details of a board on request: systems, changes, comparisons of two."""
