"""WMT24's scores: means over domains."""
