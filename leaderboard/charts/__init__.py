"""Charts shared by several pages, as SVG made on the server, without scripts."""
