"""The index. All SQL is here; import from this package or from seven of its modules.

`data_directory` locates the index. `text_conditions`, `text_queries` and `usage_queries` query it,
and `text_matches` has the results of text queries. `quick_totals` has the figures of a status line,
and `secret_rows` the positions of secrets. Everything else is internal to this package and
`recollect.sync`, which writes the index; an import contract enforces that. Names are imported on
first use, because every command needs only a few.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.store.catalog import FileRow
    from recollect.store.data_directory import (
        MIN_SQLITE_VERSION,
        SQLITE_VERSION,
        find_schema_version,
        is_sqlite_safe,
    )
    from recollect.store.database import IndexStatus, find_index_status, refuse_newer, run_query
    from recollect.store.derived_tables import StoredOutline
    from recollect.store.schema import DamagedIndex, NewerIndex
    from recollect.store.text_database import delete_texts, find_identity
    from recollect.store.text_rows import LAST_SECOND, IndexedFile

_MODULES = {
    "catalog": "FileRow",
    "data_directory": "MIN_SQLITE_VERSION SQLITE_VERSION find_schema_version is_sqlite_safe",
    "database": "IndexStatus run_query find_index_status refuse_newer",
    "derived_tables": "StoredOutline",
    "schema": "DamagedIndex NewerIndex",
    "text_database": "delete_texts find_identity",
    "text_rows": "IndexedFile LAST_SECOND",
}

__all__ = [
    "LAST_SECOND",
    "MIN_SQLITE_VERSION",
    "SQLITE_VERSION",
    "DamagedIndex",
    "FileRow",
    "IndexStatus",
    "IndexedFile",
    "NewerIndex",
    "StoredOutline",
    "delete_texts",
    "find_identity",
    "find_index_status",
    "find_schema_version",
    "is_sqlite_safe",
    "refuse_newer",
    "run_query",
]

__getattr__ = import_on_first_use(globals(), _MODULES)
