"""A site after years of use: filled in bulk, then asked what its people ask."""
