"""`python -m smear_env.transcript record|check|show`."""

import sys

from smear_env.transcript.cli import main

sys.exit(main())
