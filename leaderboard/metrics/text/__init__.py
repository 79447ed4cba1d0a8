"""Words and word lists shared by several metrics."""
