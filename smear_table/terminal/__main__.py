"""`python -m smear_table.terminal`."""

import sys

from smear_table.terminal.start import main

if __name__ == "__main__":
    sys.exit(main())
