#!/usr/bin/env python
"""`python manage.py …`: the same commands as the installed `swarmui …`."""

from swarmui.cli import main

if __name__ == "__main__":
    main()
