"""What every answer draws on, made once for an app.

Asking the index as it is: another process keeps it level, and no answer waits for that.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import cached_property
from typing import Final, TypeVar

from recollect.pricing.prices import Prices
from recollect.store import open_for_reading, snapshot, translate_errors
from recollect.store.data_directory import INDEX_NAME
from recollect.store.usage_queries import UsageQueries
from recollect.usage.ledger_access import UsageLedger, count_in_memory
from recollect.web.indexer_process import IndexerProcess
from recollect.web.middleware import Keys
from recollect.web.refresher import RefreshTask
from recollect.web.session_cache import HealthCache, SessionCache
from recollect.web.session_catalog import ChangeFeed, ChoiceCache, FoundSession, SessionCatalog
from recollect.web.settings import Settings

AHEAD_SECONDS: Final = 0.3
REBUILD_SECONDS: Final = 2.0
"""How long an answer waits for a full-text index that proved to be damaged."""


class Services:
    """The parts of the running app that know something."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.keys = Keys(settings.port)
        self.catalog = SessionCatalog()
        self.changes = ChangeFeed()
        task = RefreshTask(settings.roots, settings.data_directory, settings.shows_errors)
        self.indexer = IndexerProcess(self.catalog, task, self.changes.publish)
        self.opened = SessionCache()
        self.choices = ChoiceCache()
        self.surveys = HealthCache(settings)
        self._ahead = ThreadPoolExecutor(1, thread_name_prefix="ahead")

    @cached_property
    def prices(self) -> Prices:
        """The prices that come with Recollect."""
        return Prices.load()

    def rebuild_texts(self) -> None:
        """Have the full-text index, which is gone, built again; wait a moment for that."""
        self.catalog.lose_texts()
        self.indexer.index_texts()
        self.catalog.wait_for_texts(REBUILD_SECONDS)

    def read_ahead(self, found: FoundSession) -> None:
        """Read a session that somebody has seen the beginning of, while they look at that."""
        self._ahead.submit(self._read, found)

    def close(self) -> None:
        """Finish nothing more."""
        self._ahead.shutdown(wait=False, cancel_futures=True)

    def _read(self, found: FoundSession) -> None:
        # The first screen is drawn meanwhile, on the same processor.
        time.sleep(AHEAD_SECONDS)
        with self.opened.use(found) as session:
            _ = session.turns, session.tool_calls


T = TypeVar("T")


def query_ledger(services: Services, question: Callable[[UsageLedger], T]) -> T:
    """The answer of the ledger; where there is no index, that of the files."""
    settings = services.settings
    connection = open_for_reading(settings.data_directory)
    if connection is None:
        queries = count_in_memory(list(services.catalog.snapshot.transcripts.values()))
        return question(UsageLedger(queries, settings.roots))
    path = settings.data_directory / INDEX_NAME
    with translate_errors(path), closing(connection), snapshot(connection):
        return question(UsageLedger(UsageQueries(connection), settings.roots))
