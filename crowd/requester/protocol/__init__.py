"""The protocol's tables and checks: operations, names, limits, signatures, XML."""
