"""Whether ratings depend on what workers should not see: order, side, length, style."""
