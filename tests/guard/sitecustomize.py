"""Install the home guard in every Python process that a test starts; found through PYTHONPATH.

The process exits at once on a breach: an exception could be swallowed by the code under test.
"""

import os
import sys

# Only the folder of this file is on the path, so there is no package to import from.
from home_guard import BREACH_EXIT_CODE, install, policy_from_environment  # type: ignore[import-not-found]


def stop(message: str) -> None:
    """Report what was touched and exit."""
    os.write(2, f"{message}\n".encode())
    os._exit(BREACH_EXIT_CODE)


try:
    install(policy_from_environment(), on_breach=stop)
except KeyError as missing:
    sys.exit(f"tests/guard is on the path, but {missing} is not in the environment")
