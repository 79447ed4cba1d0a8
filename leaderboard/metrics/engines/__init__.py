"""Libraries and models shared by several metrics."""
