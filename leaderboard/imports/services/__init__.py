"""Store ratings as rows of this site with `bring_in`; remove them with `take_back`."""
