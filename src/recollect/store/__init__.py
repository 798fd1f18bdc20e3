"""The index: the only SQL. Entered through the names here and six modules.

`data_directory` says where the index is; `text_conditions`, `text_queries` and `usage_queries` ask
it, `quick_totals` does so for a status line, and `secret_rows` says where secrets are. Everything
else is for this package and for `recollect.sync`, which writes the index; an import contract holds
that. Names are imported on first use, since every command begins with a few of them.
"""

from typing import TYPE_CHECKING

from recollect.lazy_names import import_on_first_use

if TYPE_CHECKING:
    from recollect.store.catalog import FileRow
    from recollect.store.database import open_for_reading, refuse_newer, snapshot
    from recollect.store.edit_outlines import StoredOutline
    from recollect.store.index_status import IndexStatus, find_index_status
    from recollect.store.integrity import DamagedIndex, NewerIndex, translate_errors
    from recollect.store.session_table import CallSummary
    from recollect.store.text_database import delete_texts, find_identity
    from recollect.store.text_rows import LAST_SECOND, IndexedFile, TextKind
    from recollect.store.versions import (
        MIN_SQLITE_VERSION,
        SQLITE_VERSION,
        find_schema_version,
        is_sqlite_safe,
    )

_MODULES = {
    "catalog": "FileRow",
    "database": "open_for_reading refuse_newer snapshot",
    "edit_outlines": "StoredOutline",
    "index_status": "IndexStatus find_index_status",
    "integrity": "DamagedIndex NewerIndex translate_errors",
    "session_table": "CallSummary",
    "text_database": "delete_texts find_identity",
    "text_rows": "IndexedFile LAST_SECOND TextKind",
    "versions": "MIN_SQLITE_VERSION SQLITE_VERSION find_schema_version is_sqlite_safe",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = [
    "LAST_SECOND",
    "MIN_SQLITE_VERSION",
    "SQLITE_VERSION",
    "CallSummary",
    "DamagedIndex",
    "FileRow",
    "IndexStatus",
    "IndexedFile",
    "NewerIndex",
    "StoredOutline",
    "TextKind",
    "delete_texts",
    "find_identity",
    "find_index_status",
    "find_schema_version",
    "is_sqlite_safe",
    "open_for_reading",
    "refuse_newer",
    "snapshot",
    "translate_errors",
]

__getattr__ = import_on_first_use(globals(), _MODULE_OF)
