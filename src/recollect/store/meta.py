"""What the index says about itself, by key."""

import apsw


def read_meta(connection: apsw.Connection, key: str) -> str | None:
    """The value kept under `key`."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else None


def write_meta(connection: apsw.Connection, key: str, value: str) -> None:
    """Keep `value` under `key`."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
