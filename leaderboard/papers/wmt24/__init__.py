"""WMT24's ranking: means over domains, tests within them, ranks and clusters."""
