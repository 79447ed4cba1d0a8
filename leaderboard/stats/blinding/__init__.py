"""Whether ratings depend on properties that workers should ignore: order, side, length, style."""
