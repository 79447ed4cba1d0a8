#!/usr/bin/env python3
from genie.command import main

if __name__ == "__main__":
    main()
