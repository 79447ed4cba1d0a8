"""Words and word lists that several metrics share."""
