"""Charts that several pages share, as SVG made on the server; no script draws anything."""
