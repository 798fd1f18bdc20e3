"""The tables of the index, and the two versions that say whether it can be used.

`SCHEMA_VERSION` changes with the tables, `DATA_VERSION` with what is put into them. An index with
older data is brought up to date file by file, and what it knows of vanished files stays; one with
older tables is emptied first. A newer one is left alone: the program that made it may be in use.
"""

from recollect.records.tokens import CLASSES
from recollect.store.versions import DATA_VERSION as DATA_VERSION  # noqa: PLC0414 - handed on
from recollect.store.versions import SCHEMA_VERSION as SCHEMA_VERSION  # noqa: PLC0414

NO_HOUR = -(2**40)
NO_MODEL = 0
"""What `sums` has for what is not known: a key cannot be NULL."""

FIGURES = (*CLASSES, "messages", "cost", "unpriced")
"""What is added up of messages: `cost` is of those whose price is known, others are `unpriced`."""

_CLASSES = ",\n    ".join(f"{name} INTEGER NOT NULL" for name in CLASSES)
_FIGURES = ",\n    ".join(f"{name} INTEGER NOT NULL" for name in FIGURES)

TABLES = f"""
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

-- One row a transcript. `position` is how far it can be taken up again, always the start of a line.
-- `crc` is that of the texts, which nothing else would show to be damaged.
CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    session_id TEXT NOT NULL,
    agent_id TEXT,
    agent_type TEXT,
    began INTEGER,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    position INTEGER NOT NULL,
    head_hash BLOB NOT NULL,
    tail_hash BLOB NOT NULL,
    is_racy INTEGER NOT NULL,
    is_gone INTEGER NOT NULL,
    crc INTEGER NOT NULL
);

-- Texts that repeat on thousands of messages, stored once.
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE,
    crc INTEGER NOT NULL
);

-- One row a message and file: the union of its lines there. Copies of a message in other files are
-- rows too. `late_5m` and `late_1h` are cache writes that only the split by lifetime tells of.
-- `usage` is JSON, and there only where tokens and terms do not tell the cost.
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    {_CLASSES},
    late_5m INTEGER NOT NULL,
    late_1h INTEGER NOT NULL,
    usage BLOB,
    cost INTEGER,
    time INTEGER,
    is_sidechain INTEGER NOT NULL,
    is_copy INTEGER NOT NULL,
    position INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    request_id TEXT,
    model INTEGER,
    branch INTEGER,
    version INTEGER,
    entrypoint INTEGER,
    cwd INTEGER,
    tools INTEGER,
    terms INTEGER,
    counted INTEGER NOT NULL
);
CREATE INDEX messages_by_key ON messages (message_id);
CREATE INDEX messages_by_file ON messages (file_id);

-- The messages whose counted figures are not those of their own row, because a copy in another
-- file has the larger ones or the earlier time.
CREATE TABLE corrections (
    message INTEGER PRIMARY KEY,
    {_CLASSES},
    cost INTEGER,
    time INTEGER,
    tools INTEGER
);

-- What counts, by hour, file and circumstances: what reports read, so that they stay quick.
CREATE TABLE hours (
    file_id INTEGER NOT NULL,
    hour INTEGER,
    model INTEGER,
    branch INTEGER,
    version INTEGER,
    entrypoint INTEGER,
    cwd INTEGER,
    tools INTEGER,
    {_FIGURES}
);
CREATE INDEX hours_by_file ON hours (file_id);

-- The same by hour and model only, over all files: enough for reports by time, and as many rows
-- however many files there are.
CREATE TABLE sums (
    hour INTEGER NOT NULL,
    model INTEGER NOT NULL,
    {_FIGURES},
    PRIMARY KEY (hour, model)
) WITHOUT ROWID;

-- What went wrong with a file, until it is read without trouble.
CREATE TABLE problems (
    path TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) WITHOUT ROWID;
"""

TABLE_NAMES = frozenset("meta files names messages corrections hours sums problems".split())
