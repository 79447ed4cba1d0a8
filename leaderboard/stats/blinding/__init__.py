"""Whether ratings depend on what workers should ignore: order, side, length, style."""
