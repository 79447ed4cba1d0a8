"""Libraries and models that several metrics run on."""
