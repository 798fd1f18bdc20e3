"""Asking the index as it is: another process keeps it level, and no answer waits for that."""

from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from recollect.store.database import open_for_reading, snapshot
from recollect.store.failures import translate_errors
from recollect.store.place import INDEX_NAME
from recollect.store.usage_queries import Ledger
from recollect.usage.loading import Books, open_books
from recollect.usage.opening import count_in_memory
from recollect.web.services import Services

T = TypeVar("T")


def ask_books(services: Services, question: Callable[[Books], T]) -> T:
    """The answer of the ledger; where there is no index, that of the files."""
    settings = services.settings
    connection = open_for_reading(settings.data_directory)
    if connection is None:
        ledger = count_in_memory(list(services.shelf.known.transcripts.values()))
        return question(open_books(ledger, settings.roots))
    path = settings.data_directory / INDEX_NAME
    with translate_errors(path), closing(connection), snapshot(connection):
        return question(open_books(Ledger(connection), settings.roots))
