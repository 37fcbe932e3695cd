import sys

from notekeeper.cli import main

sys.exit(main())
