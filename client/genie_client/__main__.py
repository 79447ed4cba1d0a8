from __future__ import annotations

from genie_client.command import main

if __name__ == "__main__":
    raise SystemExit(main())
