"""``python -m immigrate`` is ``immigrate``."""

import sys

from immigrate.cli import main

if __name__ == "__main__":
    sys.exit(main())
