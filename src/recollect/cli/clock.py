"""The current time, as used for relative dates and the current 5-hour block.

`RECOLLECT_NOW` overrides it, for reproducible screenshots and tests.
"""

import os
from datetime import UTC, datetime

from recollect.errors import UsageError

NOW_VARIABLE = "RECOLLECT_NOW"


def read_clock() -> datetime:
    """Return the current time in UTC."""
    stated = os.environ.get(NOW_VARIABLE)
    if not stated:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(stated)
    except ValueError:
        raise UsageError(
            f"{NOW_VARIABLE}: {stated!r} is not a valid time (try 2026-11-13T12:00:00Z)."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
