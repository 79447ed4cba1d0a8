"""Direct assessment as WMT publishes it: scores, tests, wins and clusters."""
