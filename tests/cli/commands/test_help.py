"""`recollect help`, the words of ccusage, and --jq."""

import json
from pathlib import Path

import pytest

from recollect.cli.commands.help_command import TOPICS
from recollect.cli.program import COMMANDS, USAGE_WORDS
from tests.cli.demo_home import make_demo_home, run_at
from tests.process import Finished, RunRecollect


@pytest.fixture
def home(safe_environment: None) -> Path:
    """A home with the demo data."""
    return make_demo_home()


def test_help_lists_commands_and_topics(run_recollect: RunRecollect) -> None:
    """Without a topic, the program's help is printed, with the list of topics."""
    whole = run_recollect("--help").stdout
    done = run_recollect("help")
    topics = f"\nTopics: {', '.join(TOPICS)}. See `recollect help TOPIC`.\n"
    assert done == Finished(0, whole + topics, "")


@pytest.mark.parametrize("name", ["show", "search", "usage"])
def test_help_of_a_command_is_its_own(run_recollect: RunRecollect, name: str) -> None:
    """`help NAME` prints what `NAME --help` does."""
    assert run_recollect("help", name) == run_recollect(name, "--help")


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_fits_a_terminal(run_recollect: RunRecollect, topic: str) -> None:
    """A topic is printed verbatim, in lines that fit."""
    done = run_recollect("help", topic)
    assert done == Finished(0, TOPICS[topic].rstrip() + "\n", "")
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_an_unknown_topic_is_refused(run_recollect: RunRecollect) -> None:
    """The message names the topics."""
    done = run_recollect("help", "nonsense")
    assert (done.code, done.stdout) == (2, "")
    assert done.stderr.startswith("recollect: No help for 'nonsense'.")


@pytest.mark.parametrize(("word", "group"), USAGE_WORDS.items())
def test_the_words_of_ccusage_are_groups(
    run_recollect: RunRecollect, home: Path, word: str, group: str
) -> None:
    """`recollect daily` and `recollect usage daily` are `recollect usage day`."""
    assert word not in COMMANDS
    expected = run_at(run_recollect, 100, "usage", group)
    assert expected.code == 0
    assert run_at(run_recollect, 100, word) == expected
    assert run_at(run_recollect, 100, "usage", word) == expected


def test_an_empty_day_has_nothing_to_explain(run_recollect: RunRecollect, home: Path) -> None:
    """Nothing found is 3 here too."""
    assert run_at(run_recollect, 80, "usage", "explain", "2020-01-01").code == 3


def test_tools_have_the_same_names_everywhere(run_recollect: RunRecollect, home: Path) -> None:
    """The old tool name Task is shown as Agent in both reports."""
    used = json.loads(run_at(run_recollect, 80, "usage", "tool", "--json").stdout)["rows"]
    called = json.loads(run_at(run_recollect, 80, "tools", "--json").stdout)["tools"]
    names = {name for row in used if row["key"] for name in row["key"].split(" + ")}
    assert names == {row["name"] for row in called}


def test_json_is_filtered(run_recollect: RunRecollect, home: Path) -> None:
    """Strings are printed as text, other values as JSON, one after the other."""
    pytest.importorskip("jq")
    titles = run_at(run_recollect, 80, "list", "-n", "2", "--jq", ".sessions[].id")
    assert titles == Finished(
        0,
        "ba574db1-5dd4-405b-8185-149b3afd7a31\n7aa5fa93-883b-4f00-b3b1-6090844693a9\n",
        "",
    )
    assert run_at(run_recollect, 80, "list", "--json", "--jq", ".total, null").stdout == "8\nnull\n"


@pytest.mark.parametrize("expression", [".sessions[", ".total.x"])
def test_a_wrong_filter_is_refused(
    run_recollect: RunRecollect, home: Path, expression: str
) -> None:
    """With the message of jq, and exit code 2."""
    pytest.importorskip("jq")
    done = run_at(run_recollect, 80, "list", "--jq", expression)
    assert (done.code, done.stdout, "jq expression" in done.stderr) == (2, "", True)
