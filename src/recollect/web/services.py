"""What every answer draws on, made once for an app."""

import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Final

from recollect.pricing.prices import Prices
from recollect.web.changes import Changes
from recollect.web.choices import ChoiceKeeper
from recollect.web.opened import OpenedSessions
from recollect.web.security.keys import Keys
from recollect.web.settings import Settings
from recollect.web.shelf import Found, Shelf
from recollect.web.surveys import Surveys

AHEAD_SECONDS: Final = 0.3


class Services:
    """The parts of the running app that know something."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.keys = Keys(settings.port)
        self.shelf = Shelf()
        self.changes = Changes()
        self.opened = OpenedSessions()
        self.choices = ChoiceKeeper()
        self.surveys = Surveys(settings)
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="ahead")

    @cached_property
    def prices(self) -> Prices:
        """The prices that come with Recollect."""
        return Prices.load()

    def read_ahead(self, found: Found) -> None:
        """Read a session that somebody has seen the beginning of, while they look at that."""
        self._ahead.submit(self._read, found)

    def close(self) -> None:
        """Finish nothing more."""
        self._ahead.shutdown(wait=False, cancel_futures=True)

    def _read(self, found: Found) -> None:
        # The first screen is drawn meanwhile, on the same processor.
        time.sleep(AHEAD_SECONDS)
        with self.opened.use(found) as session:
            _ = session.turns, session.tool_calls
