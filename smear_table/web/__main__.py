"""`python -m smear_table.web`."""

import sys

from smear_table.web.server import main

if __name__ == "__main__":
    sys.exit(main())
