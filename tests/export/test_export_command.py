"""`recollect export`: files, streams, several sessions, and messages."""

import csv
import json
import os
import re
from pathlib import Path
from random import Random

import pytest

from recollect.demo import CLAUDE_DIRECTORY
from tests.cli.demo_home import GOLDEN, make_demo_home
from tests.export.sessions import say, write_session
from tests.golden import check_golden
from tests.process import RunRecollect, run_python
from tests.redact.made_up_secrets import FAMILIES


@pytest.fixture
def place(safe_environment: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory in a home with the demo data, which is the current one."""
    place = make_demo_home() / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def test_the_suffix_of_a_file_says_the_format(run_recollect: RunRecollect, place: Path) -> None:
    """Data goes to the file, everything else to stderr."""
    result = run_recollect("export", "harbour", "-o", "x.md")
    assert (result.code, result.stdout) == (0, "")
    size = (place / "x.md").stat().st_size
    assert result.stderr == f"Wrote x.md ({size / 1000:.1f} KB)\nNo secrets found.\n"
    assert (place / "x.md").read_text("utf-8").startswith("---\ntitle: ")


def test_one_session_is_printed_without_a_file(run_recollect: RunRecollect, place: Path) -> None:
    """The output is the same as in a file."""
    run_recollect("export", "harbour", "-o", "x.md")
    for arguments in (("--format", "markdown"), ("--format", "markdown", "-o", "-")):
        result = run_recollect("export", "harbour", *arguments)
        assert (result.code, result.stdout) == (0, (place / "x.md").read_text("utf-8"))
        assert result.stderr == "No secrets found.\n"


def test_raw_lines_need_the_word_of_the_user(run_recollect: RunRecollect, place: Path) -> None:
    """With --no-redact they equal those of the transcript."""
    result = run_recollect("export", "harbour", "--format", "jsonl", "--no-redact", "-o", "x.jsonl")
    assert result.code == 0
    assert "Nothing was masked." in result.stderr
    (original,) = CLAUDE_DIRECTORY.rglob("94791a87*.jsonl")
    assert (place / "x.jsonl").read_bytes() == original.read_bytes()


def test_a_selection_is_that_of_show(run_recollect: RunRecollect, place: Path) -> None:
    """Turns, ranges and segments are selected as in `show`."""
    arguments = ("export", "harbour", "--format", "json")
    found = {}
    for words in (("--turn", "-1"), ("--turns", "2-3"), ("--segment", "1")):
        exported = json.loads(run_recollect(*arguments, *words).stdout)
        shown = json.loads(run_recollect("show", "harbour", "--json", *words).stdout)
        found[words] = [turn["number"] for turn in exported["turns"]]
        assert found[words] == [turn["number"] for turn in shown["turns"]]
    assert found == {("--turn", "-1"): [4], ("--turns", "2-3"): [2, 3], ("--segment", "1"): [3, 4]}


def test_a_place_is_its_turn(run_recollect: RunRecollect, place: Path) -> None:
    """A place, by number or by record, exports its turn."""
    whole = json.loads(run_recollect("export", "harbour", "--format", "json").stdout)
    record = whole["turns"][1]["uuids"][-1]
    for name in ("94791a87:2", f"94791a87#{record}"):
        found = json.loads(run_recollect("export", name, "--format", "json").stdout)
        assert found["turns"] == [whole["turns"][1]], name
    result = run_recollect("export", "94791a87:2", "--turn", "1", "--format", "json")
    assert (result.code, "A place cannot be used with --turn" in result.stderr) == (2, True)


def test_many_sessions_become_a_directory_with_an_index(
    run_recollect: RunRecollect, place: Path
) -> None:
    """Selected by project; the report lists the files."""
    result = run_recollect(
        "export", "--project", "tidepool", "--format", "html", "-o", "out", "--json"
    )
    document = json.loads(result.stdout)
    assert (document["schema"], document["sessions"], document["masked"]) == (
        "recollect.export/1",
        3,
        [],
    )
    names = sorted(each.name for each in (place / "out").iterdir())
    assert names == sorted(Path(file["path"]).name for file in document["files"])
    index = (place / "out" / "index.html").read_text("utf-8")
    assert [name for name in names if f'href="{name}"' in index] == names[:-1]


def test_sessions_can_be_named_or_searched_for(run_recollect: RunRecollect, place: Path) -> None:
    """Several names, and the sessions with a result."""
    run_recollect("export", "harbour", "8facb961", "--format", "text", "-o", "named")
    run_recollect("export", "--search", "normalise", "--format", "markdown", "-o", "searched")
    assert [len(list((place / name).glob("2026*"))) for name in ("named", "searched")] == [2, 1]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["8facb961", "--split"], "--split writes pages into a directory"),
        (["--all"], "Several sessions are written into a directory"),
    ],
)
def test_several_files_need_a_directory(
    run_recollect: RunRecollect, place: Path, arguments: list[str], expected: str
) -> None:
    """A target with a file name is refused, unless it is a directory."""
    target = place / "all.html"
    answer = run_recollect("export", *arguments, "-o", str(target))
    error = f"recollect: {expected}, but {target} looks like a file name.\n"
    assert (answer.code, answer.stderr, target.exists()) == (2, error, False)
    target.mkdir()
    assert run_recollect("export", *arguments, "-o", str(target)).code == 0


def test_a_table_is_not_written_into_a_directory_with_the_name_of_a_file(
    run_recollect: RunRecollect, place: Path
) -> None:
    """Other formats are written to such a file; tables would be files below it."""
    arguments = ("export", "harbour", "--format", "csv", "-o", "calls.parquet")
    answer = run_recollect(*arguments)
    expected = (
        "recollect: calls.parquet is named like parquet, but the format is csv. "
        "Specify a file ending in .csv, or a directory for all three.\n"
    )
    assert (answer.code, answer.stderr, list(place.iterdir())) == (2, expected, [])
    (place / "calls.parquet").mkdir()
    assert run_recollect(*arguments).code == 0
    assert len(list((place / "calls.parquet").glob("*.csv"))) == 3


def test_a_directory_gets_a_file_with_a_name(run_recollect: RunRecollect, place: Path) -> None:
    """Named by date, title and id."""
    (place / "out").mkdir()
    run_recollect("export", "harbour", "--format", "markdown", "-o", "out")
    assert [each.name for each in (place / "out").iterdir()] == [
        "2026-11-09-speed-up-the-harbour-import-94791a87.md"
    ]


def test_a_name_that_ends_in_a_slash_is_a_directory(
    run_recollect: RunRecollect, place: Path
) -> None:
    """It is created as a directory."""
    result = run_recollect("export", "harbour", "--format", "markdown", "-o", "new/")
    name = "2026-11-09-speed-up-the-harbour-import-94791a87.md"
    assert (result.code, [each.name for each in (place / "new").iterdir()]) == (0, [name])


def test_a_secret_of_one_session_is_masked_in_all(
    run_recollect: RunRecollect, place: Path, tmp_path: Path
) -> None:
    """Recognisable or not, and in file names."""
    family = FAMILIES["aws-secret"]
    secret = family.make(Random(4)).secrets[0]
    root = tmp_path / "other"
    write_session(root, [say(f"what is {secret}?")], "a0000000-0000-4000-8000-000000000000")
    write_session(root, [say(f"{family.key}={secret}")], "b0000000-0000-4000-8000-000000000000")
    result = run_recollect(
        "export", "--all", "--claude-dir", str(root), "--format", "markdown", "-o", "out"
    )
    assert result.code == 0
    assert "Masked " in result.stderr
    files = sorted((place / "out").iterdir())
    written = "".join(f"{each.name}\n{each.read_text('utf-8')}" for each in files)
    assert len(files) == 3
    assert secret not in written
    assert secret[:12].lower() not in written.lower()


def test_tables_of_all_sessions_are_three_files(run_recollect: RunRecollect, place: Path) -> None:
    """Or one, if the target is a file."""
    run_recollect("export", "--all", "--format", "csv", "-o", "tables")
    run_recollect("export", "--all", "--table", "usage", "-o", "usage.csv")
    assert sorted(each.name for each in (place / "tables").iterdir()) == [
        "calls.csv",
        "messages.csv",
        "usage.csv",
    ]
    assert (place / "usage.csv").read_bytes() == (place / "tables" / "usage.csv").read_bytes()


def test_the_usage_table_adds_up_to_what_usage_says(
    run_recollect: RunRecollect, place: Path
) -> None:
    """The totals equal those of `usage`."""
    run_recollect("export", "--all", "--table", "usage", "-o", "usage.csv")
    report = json.loads(run_recollect("usage", "--json").stdout)
    with (place / "usage.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    totals = report["totals"]
    sums = {name: sum(int(row[name]) for row in rows) for name in rows[0] if "tokens" in name}
    assert sums == {name: totals[name] for name in sums}
    assert (len(sums), len(rows)) == (5, totals["messages"])
    cost = sum(float(row["cost_usd"]) for row in rows if row["cost_usd"])
    assert cost == pytest.approx(totals["cost_usd"], abs=1e-4)


def test_an_unreadable_session_does_not_stop_the_others(
    run_recollect: RunRecollect, place: Path
) -> None:
    """It is named on stderr, and the exit code is 4."""
    if os.name == "nt" or os.geteuid() == 0:
        pytest.skip("every file can be read here")
    (path,) = (place.parent / ".claude").rglob("94791a87*.jsonl")
    path.chmod(0)
    result = run_recollect("export", "--project", "tidepool", "--format", "text", "-o", "out")
    assert (result.code, str(path) in result.stderr) == (4, True)
    assert len(list((place / "out").iterdir())) == 2


def test_messages_and_reports_are_kept(run_recollect: RunRecollect, place: Path) -> None:
    """The report for people and for scripts."""
    arguments = ("export", "--project", "letterpress", "--format", "text")
    said = run_recollect(*arguments, "-o", "out")
    assert (said.code, said.stdout) == (0, "")
    check_golden(GOLDEN / "export.txt", re.sub(r"\([\d.]+ \w+\)", "(SIZE)", said.stderr))
    reported = run_recollect(*arguments, "-o", "out", "--force", "--json")
    check_golden(GOLDEN / "export.json", re.sub(r'"size": \d+', '"size": 0', reported.stdout))


def test_the_help_of_exports_loads_no_views() -> None:
    """Readers and renderers are imported only for an export."""
    result = run_python("-X", "importtime", "-m", "recollect", "export", "--help")
    loaded = set(re.findall(r"recollect\.(?:session|redact|export)\.\w+", result.stderr))
    assert loaded == {"recollect.redact.own_rules"}
