"""Tests of recollect.cli.commands.usage_command, through the program."""

import json
import os
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest

from recollect import __version__
from recollect.demo import CLAUDE_DIRECTORY
from recollect.documents.usage_groups import Group
from recollect.store.data_directory import INDEX_NAME, SCHEMA_VERSION
from recollect.store.schema import load_checksums
from tests.process import Finished, RunRecollect, run_python
from tests.usage.transcripts import (
    FIRST,
    HAIKU,
    SECOND,
    agent_path,
    reply,
    session_path,
    write_lines,
)

TIP = "To see a sample report: recollect usage --demo\n"
NOT_FOR_WARM_ANSWERS = (
    *(f"recollect.reader.{name}" for name in ("transcript_reader", "usage_reader")),
    "recollect.pricing",
    "recollect.session.session",
    "recollect.library",
    "recollect.sync.sync_engine",
    "recollect.store.replaced_indexes",
    "hashlib",
    "json",
    "multiprocessing",
    "rich",
    "shutil",
    "statistics",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A Claude directory with two sessions, a subagent, a resume copy and a model of no price."""
    root = tmp_path / "claude"
    cached = {"cache_read_input_tokens": 123_456, "cache_creation_input_tokens": 7_890}
    write_lines(
        session_path(root, FIRST),
        reply("a", usage={"output_tokens": 1}),
        reply("a", usage={"output_tokens": 81_000, **cached}, tools=("Bash",)),
        reply("b", timestamp="2026-11-16T09:00:00Z", usage=cached),
        {"type": "cost-state", "sessionId": FIRST, "totalCostUSD": 2.5},
    )
    write_lines(
        agent_path(root, FIRST, "x1"),
        reply("c", model=HAIKU, isSidechain=True, usage={"input_tokens": 1_500_000}),
    )
    write_lines(
        session_path(root, SECOND, "-w-lib"),
        reply("a", requestId=None, timestamp="2026-11-18T09:00:00Z"),
        reply("d", model="glm-4.6", cwd="/w/lib", timestamp="2026-11-18T09:00:00Z"),
    )
    return root


def usage(run: RunRecollect, root: Path, *words: str, **env: str) -> Finished:
    """Run the command on a root, with days in UTC."""
    return run("usage", *words, "--claude-dir", str(root), "--timezone", "UTC", env=env)


GOLDEN = {
    "60": """\
Usage by day. Costs are a list-price estimate, not a bill.
Times are in UTC.

Day         Msgs  Input  Output  Write    Read     Cost
2026-11-15     2   1.5M   81.1K   7.9K  123.5K    $3.18
2026-11-16     1     10     100   7.9K  123.5K    $0.07
2026-11-18     1     10     100      0       0  unknown
Total          4   1.5M   81.3K  15.8K  246.9K  ≥ $3.25

1 message without a known price: glm-4.6 1. Costs with ≥
leave them out; see docs/pricing.md to add a price.
""",
    "80": """\
Usage by day. Costs are a list-price estimate, not a bill. Times are in UTC.

Day         Messages      Input  Output  Cache write  Cache read     Cost
2026-11-15         2  1,500,010  81,100        7,890     123,456    $3.18
2026-11-16         1         10     100        7,890     123,456    $0.07
2026-11-18         1         10     100            0           0  unknown
Total              4  1,500,030  81,300       15,780     246,912  ≥ $3.25

1 message without a known price: glm-4.6 1. Costs with ≥ leave them out; see
docs/pricing.md to add a price.
""",
    "120": """\
Usage by day. Costs are a list-price estimate, not a bill. Times are in UTC.

Day         Messages      Input  Output  Cache write  Cache read     Cost
2026-11-15         2  1,500,010  81,100        7,890     123,456    $3.18  ████████████████████████
2026-11-16         1         10     100        7,890     123,456    $0.07  ▍
2026-11-18         1         10     100            0           0  unknown
Total              4  1,500,030  81,300       15,780     246,912  ≥ $3.25

1 message without a known price: glm-4.6 1. Costs with ≥ leave them out; see docs/pricing.md to \
add a price.
""",
}


@pytest.mark.parametrize("columns", GOLDEN)
def test_the_report_fits_the_terminal(
    run_recollect: RunRecollect, root: Path, columns: str
) -> None:
    """The default is by day, and COLUMNS sets the width."""
    result = usage(run_recollect, root, COLUMNS=columns)
    assert result == Finished(0, GOLDEN[columns], "")


def test_json_has_the_documented_shape(run_recollect: RunRecollect, root: Path) -> None:
    """Figures have their full names, and an unknown cost is null."""
    result = usage(run_recollect, root, "project", "--breakdown", "--json", "--until", "2026-11")
    figures = {
        "messages": 3,
        "input_tokens": 1_500_020,
        "output_tokens": 81_200,
        "cache_read_tokens": 246_912,
        "cache_write_5m_tokens": 15_780,
        "cache_write_1h_tokens": 0,
        "web_search_requests": 0,
        "cost_usd": 3.250862,
        "unpriced_messages": 0,
    }
    unpriced = {
        **dict.fromkeys(figures, 0),
        "messages": 1,
        "input_tokens": 10,
        "output_tokens": 100,
        "cost_usd": None,
        "unpriced_messages": 1,
    }
    document = json.loads(result.stdout)
    models = document["rows"][0].pop("models")
    assert (result.code, result.stderr) == (0, "")
    assert document == {
        "schema": "recollect.usage/1",
        "group": "project",
        "timezone": "UTC",
        "cost_basis": "list-price estimate",
        "since": None,
        "until": "2026-11-30",
        "rows": [
            {"key": "/w/app", **figures},
            {"key": "/w/lib", **unpriced, "models": [{"model": "glm-4.6", **unpriced}]},
        ],
        "omitted_rows": 0,
        "totals": {
            name: number if name == "cost_usd" else number + (unpriced[name] or 0)
            for name, number in figures.items()
        },
        "unpriced_models": {"glm-4.6": 1},
    }
    assert [model["model"] for model in models] == ["claude-opus-5-5", HAIKU]


@pytest.mark.parametrize("group", list(Group))
def test_every_group_adds_up(run_recollect: RunRecollect, root: Path, group: Group) -> None:
    """The figures of the rows add up to the totals, in every group."""
    document = json.loads(usage(run_recollect, root, group.value, "--json").stdout)
    for name, total in document["totals"].items():
        parts = [row[name] for row in document["rows"] if row[name] is not None]
        assert (name, round(sum(parts), 6)) == (name, total)


def test_sessions_can_be_compared_with_the_client(run_recollect: RunRecollect, root: Path) -> None:
    """Rows of sessions have project and days, and on request the client's total."""
    result = usage(run_recollect, root, "session", "--client-cost", "--json")
    facts = [
        {
            name: row.get(name)
            for name in (
                "key",
                "project",
                "first_day",
                "last_day",
                "client_cost_usd",
                "difference_usd",
            )
        }
        for row in json.loads(result.stdout)["rows"]
    ]
    assert facts == [
        {
            "key": FIRST,
            "project": "/w/app",
            "first_day": "2026-11-15",
            "last_day": "2026-11-16",
            "client_cost_usd": 2.5,
            "difference_usd": -0.750862,
        },
        {
            "key": SECOND,
            "project": "/w/lib",
            "first_day": "2026-11-18",
            "last_day": "2026-11-18",
            "client_cost_usd": None,
            "difference_usd": None,
        },
    ]


def test_sessions_have_the_titles_that_lists_show(run_recollect: RunRecollect, root: Path) -> None:
    """Immediately, and the current ones; a deleted session keeps its title."""

    def list_titles() -> dict[str, str | None]:
        rows = json.loads(usage(run_recollect, root, "session", "--json").stdout)["rows"]
        return {row["key"]: row["title"] for row in rows}

    path = session_path(root, SECOND, "-w-lib")
    with path.open("a") as file:
        file.write(json.dumps({"type": "custom-title", "customTitle": "Fill the pond"}) + "\n")
    assert list_titles() == {FIRST: None, SECOND: "Fill the pond"}
    with path.open("a") as file:
        file.write(json.dumps({"type": "custom-title", "customTitle": "Drain the pond"}) + "\n")
    assert list_titles() == {FIRST: None, SECOND: "Drain the pond"}
    listed = run_recollect("list", "--claude-dir", str(root), "--json").stdout
    assert "Drain the pond" in [each["title"] for each in json.loads(listed)["sessions"]]
    path.unlink()
    assert list_titles() == {FIRST: None, SECOND: "Drain the pond"}
    shown = usage(run_recollect, root, "session").stdout.splitlines()
    assert [line for line in shown if line.startswith("  ")] == ["  Drain the pond"]


def test_the_sessions_of_the_demo_have_titles(run_recollect: RunRecollect) -> None:
    """They are counted without an index; a list of the same files has the same titles."""
    rows = json.loads(run_recollect("usage", "session", "--demo", "--json").stdout)["rows"]
    listed = run_recollect("list", "--claude-dir", str(CLAUDE_DIRECTORY), "--json").stdout
    titles = {each["id"]: each["title"] for each in json.loads(listed)["sessions"]}
    assert {row["key"]: row["title"] for row in rows} == {
        row["key"]: titles[row["key"]] for row in rows
    }
    assert any(row["title"] for row in rows)


def test_the_first_rows_of_a_report(run_recollect: RunRecollect) -> None:
    """The number of omitted rows is shown, and the total includes them."""
    lines = run_recollect("usage", "session", "--demo", "-n", "2").stdout.splitlines()
    whole = run_recollect("usage", "session", "--demo").stdout.splitlines()
    assert lines == [*whole[:7], "… and 6 more", whole[-1]]
    document = json.loads(run_recollect("usage", "--demo", "-n", "1", "--json").stdout)
    every = json.loads(run_recollect("usage", "--demo", "--json").stdout)
    assert (document["rows"], document["totals"]) == (every["rows"][:1], every["totals"])


def test_the_current_block_is_projected(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A message from a minute ago makes a current block with a burn rate."""
    now = datetime.now(UTC) - timedelta(minutes=1)
    stamp = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    write_lines(session_path(tmp_path, FIRST), reply("m", timestamp=stamp))
    document = json.loads(usage(run_recollect, tmp_path, "block", "--json").stdout)
    (row,) = document["rows"]
    current = document["current_block"]
    assert (row["start"], current["key"]) == (row["key"], row["key"])
    assert row["key"] == now.strftime("%Y-%m-%dT%H:00:00Z")
    assert 200 <= current["remaining_minutes"] <= 300
    assert current["projected_tokens"] > 110 * 30


def test_explanations_name_every_line(run_recollect: RunRecollect, root: Path) -> None:
    """The lines of a session that were counted or not, with their positions."""
    result = usage(run_recollect, root, "explain", SECOND[:8], "--json")
    document = json.loads(result.stdout)
    path = session_path(root, SECOND, "-w-lib")
    lines = [(line["status"], line["file"], line["note"]) for line in document["lines"]]
    assert (result.code, result.stderr) == (0, "")
    assert lines == [
        ("copy", str(path), f"copy of {session_path(root, FIRST)}:0"),
        ("counted", str(path), ""),
    ]
    assert (document["totals"]["messages"], document["not_counted"]) == (1, {"copy": 1})


def test_explanations_end_with_their_sum(run_recollect: RunRecollect, root: Path) -> None:
    """The total is below the lines."""
    result = usage(run_recollect, root, "explain", "2026-11-18", COLUMNS="80")
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[-4:] == [
        "",
        "Counted: 1 message, 10 input, 100 output, 0 cache write and 0 cache read tokens,",
        "unknown.",
        "Not counted: 1 copied message.",
    ]


def test_a_day_is_explained_as_it_is_reported(run_recollect: RunRecollect, root: Path) -> None:
    """The sums of an explanation equal the report."""
    report = json.loads(usage(run_recollect, root, "--json").stdout)
    for row in report["rows"]:
        key = row.pop("key")
        explained = json.loads(usage(run_recollect, root, "explain", key, "--json").stdout)
        assert explained["totals"] == row


def test_the_demo_needs_no_index(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """`--demo` writes nothing to the data directory."""
    data = tmp_path / "data"
    result = run_recollect("usage", "--demo", env={"RECOLLECT_DATA_DIR": str(data)})
    assert (result.code, result.stderr, data.exists()) == (0, "", False)
    assert result.stdout.splitlines()[-1].startswith("Total             53  ")


def test_default_roots_are_counted(run_recollect: RunRecollect, root: Path) -> None:
    """Without arguments the user's own Claude directory is counted."""
    result = run_recollect("usage", "--json", env={"CLAUDE_CONFIG_DIR": str(root)})
    assert json.loads(result.stdout)["totals"]["messages"] == 4


def test_what_is_gone_still_counts(run_recollect: RunRecollect, root: Path) -> None:
    """Counted usage stays, even if nothing is left on disk."""
    before = usage(run_recollect, root, "--json")
    for path in root.rglob("*.jsonl"):
        path.unlink()
    assert usage(run_recollect, root, "--json") == before


def test_a_data_directory_that_cannot_be_written(
    run_recollect: RunRecollect, root: Path, tmp_path: Path
) -> None:
    """The result is the same, with one warning about why it took longer."""
    (tmp_path / "file").write_text("in the way")
    data = str(tmp_path / "file" / "data")
    plain = usage(run_recollect, root)
    result = usage(run_recollect, root, RECOLLECT_DATA_DIR=data)
    assert (result.code, result.stdout) == (0, plain.stdout)
    first, last = result.stderr.splitlines()
    assert first.startswith(f"recollect: Cannot create the data directory {data}: ")
    assert last == (
        "Counted from existing files; transcripts that Claude Code has deleted are missing."
    )


@pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() == 0, reason="nothing can be forbidden to this user"
)
def test_a_transcript_that_cannot_be_read(run_recollect: RunRecollect, root: Path) -> None:
    """All others are counted; the unreadable one is named and sets the exit code, every time."""
    path = session_path(root, SECOND, "-w-lib")
    path.chmod(0)
    for _ in range(2):
        result = usage(run_recollect, root, "--json")
        assert (result.code, json.loads(result.stdout)["totals"]["messages"]) == (4, 3)
        assert result.stderr.startswith(f"recollect: Not counted: {path}: ")


@pytest.mark.parametrize("words", [(), ("session",), ("block",), ("project", "--since", "2026")])
def test_a_warm_answer_loads_little(
    run_recollect: RunRecollect, root: Path, words: tuple[str, ...]
) -> None:
    """When nothing changed, no reader, prices or slow module of Python is loaded."""
    usage(run_recollect, root, *words)
    command = ("usage", *words, "--claude-dir", str(root))
    # A limit of columns would take the module that finds them.
    unlimited = {"COLUMNS": ""}
    result = run_python("-X", "importtime", "-m", "recollect", *command, env=unlimited)
    loaded = set(re.findall(r"^import time:.*\| +(\S+)$", result.stderr, flags=re.MULTILINE))
    assert (result.code, "recollect.usage.reports" in loaded) == (0, True)
    assert sorted(name for name in loaded if name.startswith(NOT_FOR_WARM_ANSWERS)) == []


PRICES = """\
[[prices]]
model = "glm-4.6"
input = 1
output = 2
"""


def find_cost(result: Finished) -> float | None:
    """Return the total of a report in JSON."""
    assert (result.code, result.stderr) == (0, "")
    cost: float | None = json.loads(result.stdout)["totals"]["cost_usd"]
    return cost


def test_prices_of_ones_own(run_recollect: RunRecollect, root: Path, tmp_path: Path) -> None:
    """By option or environment; without them the bundled ones apply again."""
    file = tmp_path / "prices.toml"
    file.write_text(PRICES, encoding="utf-8")
    command = ("model", "--model", "glm", "--json")
    assert find_cost(usage(run_recollect, root, *command)) is None
    assert find_cost(usage(run_recollect, root, *command, "--prices", str(file))) == 0.00021
    assert find_cost(usage(run_recollect, root, *command, RECOLLECT_PRICES=str(file))) == 0.00021
    assert find_cost(usage(run_recollect, root, *command, RECOLLECT_PRICES="")) is None


def test_explanations_show_prices_of_ones_own(
    run_recollect: RunRecollect, root: Path, tmp_path: Path
) -> None:
    """Those used for the costs."""
    file = tmp_path / "prices.toml"
    file.write_text(PRICES, encoding="utf-8")
    words = ("explain", "2026-11-18", "--json", "--prices", str(file))
    document = json.loads(usage(run_recollect, root, *words).stdout)
    prices = [(used["model"], used["input"], used["output"]) for used in document["prices"]]
    assert prices == [("glm-4.6", 1.0, 2.0)]
    assert document["totals"]["cost_usd"] == 0.00021


def test_a_price_file_with_a_mistake_is_refused(
    run_recollect: RunRecollect, root: Path, tmp_path: Path
) -> None:
    """Before anything is counted, with the reason."""
    file = tmp_path / "prices.toml"
    missing = usage(run_recollect, root, "--prices", str(file))
    reason = "No such file or directory"
    told = f"recollect: Cannot read the price file {file}: {reason}.\n"
    assert missing == Finished(2, "", told)
    file.write_text("prices = 3", encoding="utf-8")
    wrong = usage(run_recollect, root, "--prices", str(file))
    assert (wrong.code, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith(f"recollect: Invalid price file {file}: ")


@pytest.mark.parametrize("command", [("usage",), ("index",), ("list",), ("search", "word")])
def test_the_index_of_a_newer_program_is_refused(
    run_recollect: RunRecollect, root: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """By every command that needs it, with the three options that the user has."""
    data = tmp_path / "own"
    env = {"RECOLLECT_DATA_DIR": str(data)}
    run_recollect("index", "--claude-dir", str(root), env=env)
    load_checksums()
    connection = apsw.Connection(str(data / INDEX_NAME))
    connection.execute("PRAGMA user_version = 99")
    connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema'")
    connection.execute("UPDATE meta SET value = '9.8.7' WHERE key = 'program'")
    connection.close()
    result = run_recollect(*command, "--claude-dir", str(root), env=env)
    assert (result.code, result.stdout) == (5, "")
    assert result.stderr == (
        f"recollect: The index {data / INDEX_NAME} was created by Recollect 9.8.7 (schema 99), and "
        f"this is Recollect {__version__} (schema {SCHEMA_VERSION}). Use that version; or start "
        "over with `recollect index --rebuild`, which moves that index to index.newer.db; or set "
        "RECOLLECT_DATA_DIR to another directory.\n"
    )
    rebuilt = run_recollect("index", "--rebuild", "--claude-dir", str(root), env=env)
    assert (rebuilt.code, rebuilt.stderr) == (0, "")
    assert (data / "index.newer.db").exists()


@pytest.mark.parametrize("words", [("--project", "nowhere"), ("--since", "2027")])
def test_nothing_that_fits_is_nothing_found(
    run_recollect: RunRecollect, root: Path, words: tuple[str, ...]
) -> None:
    """The report is empty but valid, and the exit code is 3."""
    result = usage(run_recollect, root, *words, "--json")
    document = json.loads(result.stdout)
    assert (result.code, result.stderr, document["rows"]) == (3, "", [])
    assert document["totals"]["cost_usd"] == 0
    assert usage(run_recollect, root, *words).stdout.splitlines()[-1] == "No usage in this range."


def test_no_root_is_reported_with_a_tip(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """The searched directories are listed, with a tip to try the demo."""
    environment = {"CLAUDE_CONFIG_DIR": str(tmp_path / "missing")}
    assert run_recollect("usage", env=environment) == Finished(
        3,
        "",
        f"recollect: No Claude Code data found. Looked in:\n  {tmp_path / 'missing'}\n"
        "Use --claude-dir to specify the directory that contains `projects`, "
        f"or set CLAUDE_CONFIG_DIR to it.\n{TIP}",
    )


def test_no_transcript_is_reported_with_a_tip(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A directory without transcripts counts as nothing found, and no index is created."""
    data = tmp_path / "data"
    root = tmp_path / "claude"
    root.mkdir()
    message = f"recollect: No sessions yet. Looked in:\n  {root / 'projects'}\n{TIP}"
    result = usage(run_recollect, root, RECOLLECT_DATA_DIR=str(data))
    assert (result, data.exists()) == (Finished(3, "", message), False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--demo",), "Use only one of --claude-dir and --demo."),
        (("explain",), "Specify what to explain, as in `recollect usage explain 2026-11-15`."),
        (("day", "x"), "Only `explain` takes a TARGET: `recollect usage explain 2026-11-15`."),
        (
            ("explain", "x", "--since", "7d"),
            "--since cannot be used with `explain`.",
        ),
        (
            ("explain", "x", "--client-cost"),
            "--client-cost cannot be used with `explain`.",
        ),
        (("cause", "-n", "3"), "--limit cannot be used with `cause`."),
        (("--client-cost",), "--client-cost works only with `recollect usage session`."),
    ],
)
def test_words_that_do_not_go_together(
    run_recollect: RunRecollect, root: Path, words: tuple[str, ...], message: str
) -> None:
    """Conflicting options are rejected before anything is read."""
    assert usage(run_recollect, root, *words) == Finished(2, "", f"recollect: {message}\n")


def test_a_wrong_date_is_refused(run_recollect: RunRecollect, root: Path) -> None:
    """An invalid date is an error with examples of valid ones."""
    result = usage(run_recollect, root, "--since", "soon")
    message = (
        "'soon' is not a valid date (try 2026-11-15, 2026-11, 2026, today, yesterday, 7d, 2w or "
        "12h)."
    )
    assert result == Finished(2, "", f"recollect: {message}\n")


def test_an_unknown_group_is_refused(run_recollect: RunRecollect, root: Path) -> None:
    """The message lists the groups that exist."""
    result = usage(run_recollect, root, "decade")
    assert (result.code, result.stderr.splitlines()[-1]) == (2, "Try `recollect usage --help`.")


@pytest.mark.parametrize(
    ("environment", "is_bold"),
    [({"FORCE_COLOR": "1"}, True), ({"NO_COLOR": "1"}, False), ({}, False)],
)
def test_colours_are_asked_for(
    run_recollect: RunRecollect, root: Path, environment: dict[str, str], is_bold: bool
) -> None:
    """A pipe gets none unless they are forced."""
    assert ("\x1b[1m" in usage(run_recollect, root, **environment).stdout) is is_bold


def test_hostile_names_stay_harmless(run_recollect: RunRecollect, tmp_path: Path) -> None:
    """A branch with escape sequences reaches the terminal neither as text nor as JSON."""
    name = "x\x1b]0;owned\x07\u202e\x9b31m"
    write_lines(session_path(tmp_path, FIRST), reply("m", gitBranch=name))
    text = usage(run_recollect, tmp_path, "branch").stdout
    document = usage(run_recollect, tmp_path, "branch", "--json").stdout
    assert [each for each in text + document if each in "\x1b\x07\u202e\x9b"] == []
    assert json.loads(document)["rows"][0]["key"] == name


def test_nothing_is_changed(run_recollect: RunRecollect, root: Path) -> None:
    """Counting leaves Claude Code's files unchanged, times included."""
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*")}
    usage(run_recollect, root)
    usage(run_recollect, root, "explain", FIRST)
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*")} == before
