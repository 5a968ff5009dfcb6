"""`python -m smear_web`."""

import sys

from smear_web.server import main

if __name__ == "__main__":
    sys.exit(main())
