"""Two crowds that judged the same systems: what each says, and whether they are one."""
