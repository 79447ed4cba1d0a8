"""How well a script tells the test questions of shipped tasks from real items."""
