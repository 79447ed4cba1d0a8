"""Two crowds that rated the same systems: their results, and whether they are one population."""
