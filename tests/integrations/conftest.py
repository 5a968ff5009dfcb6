"""Settings that libraries read when they are imported, and so before the tests that import them."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

# The Ray clusters of the tests have a token of their own, and none is left in the home of whoever runs them. Their
# processes get as much of a busy machine as the tests.
TOKEN = Path(tempfile.mkdtemp(prefix="smear-ray-")) / "token"
TOKEN.write_text(secrets.token_hex(), encoding="utf-8")
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(TOKEN), "RAY_worker_niceness": "0"}
