PRAGMA page_size=8192;
BEGIN TRANSACTION;
DROP TABLE IF EXISTS corrections;
CREATE TABLE corrections (
    message INTEGER PRIMARY KEY,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    cost INTEGER,
    time INTEGER,
    tools INTEGER
);
DROP TABLE IF EXISTS files;
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
INSERT INTO files VALUES(1,'/home/ada/.claude/projects/-home-ada-app/5b0e7c1a-0000-4000-8000-000000000001.jsonl','-home-ada-app','session','5b0e7c1a-0000-4000-8000-000000000001',NULL,NULL,1772445600000,1,11,2235,1772445600000000000,2235,X'6825758612B266219678525D',X'6825758612B266219678525D',0,1,141048665);
INSERT INTO files VALUES(2,'/home/ada/.claude/projects/-home-ada-app/5b0e7c1a-0000-4000-8000-000000000002.jsonl','-home-ada-app','session','5b0e7c1a-0000-4000-8000-000000000002',NULL,NULL,1772445600000,1,12,2926,1772445600000000000,2926,X'8CEA1980632556A7BA42BEFA',X'8CEA1980632556A7BA42BEFA',0,1,485447107);
DROP TABLE IF EXISTS hours;
CREATE TABLE hours (
    file_id INTEGER NOT NULL,
    hour INTEGER,
    model INTEGER,
    branch INTEGER,
    version INTEGER,
    entrypoint INTEGER,
    cwd INTEGER,
    tools INTEGER,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    relayed INTEGER NOT NULL,
    client_priced INTEGER NOT NULL
);
INSERT INTO hours VALUES(1,492346,1,2,3,NULL,4,5,100,20,1000,50,0,0,1,1088,0,0,0);
INSERT INTO hours VALUES(2,492346,1,2,3,NULL,4,8,100,40,1000,50,0,0,1,1388,0,0,0);
INSERT INTO hours VALUES(2,492346,7,2,3,NULL,4,8,100,33,1000,50,0,0,1,2138,0,0,0);
CREATE INDEX hours_by_file ON hours (file_id);
DROP TABLE IF EXISTS messages;
CREATE TABLE messages (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    late_5m INTEGER NOT NULL,
    late_1h INTEGER NOT NULL,
    usage BLOB,
    cost INTEGER,
    client_cost INTEGER,
    time INTEGER,
    is_sidechain INTEGER NOT NULL,
    is_copy INTEGER NOT NULL,
    is_relayed INTEGER NOT NULL,
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
INSERT INTO messages VALUES(1,1,100,20,1000,50,0,0,0,0,NULL,1088,NULL,1772445660000,0,0,0,347,'msg_01AAAAAAAAAAAAAAAAAAAAAA','req_01AAAAAAAAAAAAAAAAAAAAAA',1,2,3,NULL,4,5,6,1);
INSERT INTO messages VALUES(2,1,100,30,1000,50,0,0,0,0,NULL,2062,NULL,1772445780000,0,0,0,1544,'msg_01BBBBBBBBBBBBBBBBBBBBBB','req_01BBBBBBBBBBBBBBBBBBBBBB',7,2,3,NULL,4,8,6,0);
INSERT INTO messages VALUES(3,2,100,20,1000,50,0,0,0,0,NULL,1088,NULL,1772445660000,0,0,0,347,'msg_01AAAAAAAAAAAAAAAAAAAAAA','req_01AAAAAAAAAAAAAAAAAAAAAA',1,2,3,NULL,4,5,6,0);
INSERT INTO messages VALUES(4,2,100,33,1000,50,0,0,0,0,NULL,2138,NULL,1772445780000,0,0,0,1544,'msg_01BBBBBBBBBBBBBBBBBBBBBB','req_01BBBBBBBBBBBBBBBBBBBBBB',7,2,3,NULL,4,8,6,1);
INSERT INTO messages VALUES(5,2,100,40,1000,50,0,0,0,0,NULL,1388,NULL,1772445840000,0,0,0,2235,'msg_01CCCCCCCCCCCCCCCCCCCCCC','req_01CCCCCCCCCCCCCCCCCCCCCC',1,2,3,NULL,4,8,6,1);
CREATE INDEX messages_by_file ON messages (file_id);
CREATE INDEX messages_by_key ON messages (message_id);
DROP TABLE IF EXISTS meta;
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO meta VALUES('carried','yes');
INSERT INTO meta VALUES('data','5');
INSERT INTO meta VALUES('hours','3 1485257');
INSERT INTO meta VALUES('listings','1');
INSERT INTO meta VALUES('prices','d5276f68');
INSERT INTO meta VALUES('program','0.1.0');
INSERT INTO meta VALUES('schema','4');
INSERT INTO meta VALUES('tables','1378284490');
DROP TABLE IF EXISTS names;
CREATE TABLE names (
    id INTEGER PRIMARY KEY,
    text TEXT NOT NULL UNIQUE,
    crc INTEGER NOT NULL
);
INSERT INTO names VALUES(1,'claude-sonnet-4-5',206462578);
INSERT INTO names VALUES(2,'main',543141723);
INSERT INTO names VALUES(3,'2.1.0',2460555865);
INSERT INTO names VALUES(4,'/home/ada/app',1972188826);
INSERT INTO names VALUES(5,'Bash',256952456);
INSERT INTO names VALUES(6,'||',78081852);
INSERT INTO names VALUES(7,'claude-opus-4-5',2313018972);
INSERT INTO names VALUES(8,'',2288073234);
DROP TABLE IF EXISTS problems;
CREATE TABLE problems (
    path TEXT PRIMARY KEY,
    reason TEXT NOT NULL
) WITHOUT ROWID;
DROP TABLE IF EXISTS sessions;
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    inode INTEGER,
    size INTEGER,
    mtime_ns INTEGER,
    titles_hash TEXT,
    title_file TEXT,
    session_id TEXT,
    project TEXT,
    modified REAL,
    activity REAL,
    created TEXT,
    last_active TEXT,
    cwd TEXT,
    title TEXT,
    first_prompt TEXT,
    first_prompt_time TEXT,
    git_branch TEXT,
    version TEXT,
    tag TEXT,
    is_subagent INTEGER,
    parent_id TEXT,
    forked_from TEXT,
    continued_in TEXT,
    first_reply_id TEXT,
    models TEXT,
    message_count INTEGER,
    counted_inode INTEGER,
    counted_size INTEGER,
    counted_mtime_ns INTEGER,
    all_models TEXT,
    all_messages INTEGER,
    turn_count INTEGER,
    error_count INTEGER,
    compaction_count INTEGER,
    compaction_summary TEXT,
    copied_tokens INTEGER,
    client_cost_usd REAL
);
INSERT INTO sessions VALUES(1,'/home/ada/.claude/projects/-home-ada-app/5b0e7c1a-0000-4000-8000-000000000001.jsonl',0,2235,1772445600000000000,'','','5b0e7c1a-0000-4000-8000-000000000001','-home-ada-app',1772445600.0,1772445600.0,'2026-03-02T10:00:00.000Z','2026-03-02T10:03:00.000Z','/home/ada/app','Sort the list','Sort the list','2026-03-02T10:00:00.000Z','main','2.1.0',NULL,0,NULL,NULL,NULL,'msg_01AAAAAAAAAAAAAAAAAAAAAA','["claude-sonnet-4-5","claude-opus-4-5"]',3,0,2235,1772445600000000000,'["claude-sonnet-4-5","claude-opus-4-5"]',3,1,0,0,NULL,0,NULL);
INSERT INTO sessions VALUES(2,'/home/ada/.claude/projects/-home-ada-app/5b0e7c1a-0000-4000-8000-000000000002.jsonl',0,2926,1772445600000000000,'','','5b0e7c1a-0000-4000-8000-000000000002','-home-ada-app',1772445600.0,1772445600.0,'2026-03-02T10:00:00.000Z','2026-03-02T10:04:00.000Z','/home/ada/app','Sort the list','Sort the list','2026-03-02T10:00:00.000Z','main','2.1.0',NULL,0,NULL,NULL,NULL,'msg_01AAAAAAAAAAAAAAAAAAAAAA','["claude-sonnet-4-5","claude-opus-4-5"]',4,0,2926,1772445600000000000,'["claude-sonnet-4-5","claude-opus-4-5"]',4,1,0,0,NULL,0,NULL);
DROP TABLE IF EXISTS sums;
CREATE TABLE sums (
    hour INTEGER NOT NULL,
    model INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    web_searches INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    relayed INTEGER NOT NULL,
    client_priced INTEGER NOT NULL,
    PRIMARY KEY (hour, model)
) WITHOUT ROWID;
INSERT INTO sums VALUES(492346,1,200,60,2000,100,0,0,2,2476,0,0,0);
INSERT INTO sums VALUES(492346,7,100,33,1000,50,0,0,1,2138,0,0,0);
DROP TABLE IF EXISTS tool_calls;
CREATE TABLE tool_calls (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    status TEXT NOT NULL,
    started REAL,
    duration_ms REAL,
    PRIMARY KEY (session, number)
) WITHOUT ROWID;
INSERT INTO tool_calls VALUES(1,0,'toolu_01A','Bash','success',1772445660.0,60000.0);
INSERT INTO tool_calls VALUES(2,0,'toolu_01A','Bash','success',1772445660.0,60000.0);
pragma user_version=4;
COMMIT TRANSACTION;
