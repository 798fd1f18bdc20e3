"""The time that "now", "in 5 days" and the current 5-hour block go by.

`RECOLLECT_NOW` sets it, for screenshots and tests that should come out the same every day.
"""

import os
from datetime import UTC, datetime

from recollect.errors import UsageError

NOW_VARIABLE = "RECOLLECT_NOW"


def read_clock() -> datetime:
    """The present moment in UTC."""
    stated = os.environ.get(NOW_VARIABLE)
    if not stated:
        return datetime.now(UTC)
    try:
        moment = datetime.fromisoformat(stated)
    except ValueError:
        raise UsageError(
            f"{NOW_VARIABLE} is {stated!r}: write it like 2026-11-13T12:00:00Z."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
