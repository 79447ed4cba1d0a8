"""Two crowds that rated the same systems: their results, and a test of one population."""
