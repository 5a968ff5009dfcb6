"""`python -m smear_table.cli`, the same as `smear`."""

import sys

from smear_table.cli import main

if __name__ == "__main__":
    sys.exit(main())
