"""Puts the home guard into every Python process that a test starts; found through PYTHONPATH.

The process ends at once on a breach: an exception could be swallowed by the very code under test.
"""

import os
import sys

# The folder of this file is on the path by itself, so there is no package to import from.
from home_guard import (  # type: ignore[import-not-found]
    BREACH_EXIT_CODE,
    install,
    policy_from_environment,
)


def stop(message: str) -> None:
    """Say what was touched and end the process."""
    os.write(2, f"{message}\n".encode())
    os._exit(BREACH_EXIT_CODE)


try:
    install(policy_from_environment(), on_breach=stop)
except KeyError as missing:
    sys.exit(f"tests/guard is on the path, but {missing} is not in the environment")
