"""Tests of recollect.cli.commands.setup_commands, through the program."""

import json
from pathlib import Path

import pytest

from tests.cli.demo_home import make_demo_home
from tests.process import Finished, RunRecollect, run_python

NOTHING_MASKED = {
    "redact.home": ("false", "default", None),
    "redact.users": (None, "default", None),
    "redact.hosts": (None, "default", None),
    "redact.emails": ("false", "default", None),
    "redact.patterns": (None, "default", None),
    "redact.allow": (None, "default", None),
}


@pytest.fixture
def config(safe_environment: None) -> Path:
    """The path of the user's file, in a home with the demo data; its directory exists."""
    path = make_demo_home() / ".config" / "recollect" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def origins(result: Finished) -> dict[str, tuple[object, str, str | None]]:
    """Return value, origin and place by setting."""
    settings = json.loads(result.stdout)["settings"]
    return {each["name"]: (each["value"], each["origin"], each["place"]) for each in settings}


def test_each_value_has_its_origin(run_recollect: RunRecollect, config: Path) -> None:
    """Options override the environment, which overrides the file, which overrides defaults."""
    config.write_text('prices = "/a"\ntimezone = "UTC"\n', encoding="utf-8")
    result = run_recollect(
        "config", "show", "--json", "--timezone", "Asia/Tokyo", env={"RECOLLECT_PRICES": "/b"}
    )
    root = str(config.parents[2] / ".claude")
    assert origins(result) == {
        "roots": ([root], "environment", "CLAUDE_CONFIG_DIR"),
        "timezone": ("Asia/Tokyo", "option", "--timezone"),
        "prices": ("/b", "environment", "RECOLLECT_PRICES"),
        "archive_identity": (None, "default", None),
        **NOTHING_MASKED,
    }


def test_without_anything_all_is_built_in(run_recollect: RunRecollect, config: Path) -> None:
    """Without any settings, the defaults are shown."""
    environment = {"CLAUDE_CONFIG_DIR": "", "TZ": "UTC"}
    result = run_recollect("config", "show", "--json", env=environment)
    root = str(config.parents[2] / ".claude")
    assert origins(result) == {
        "roots": ([root], "default", None),
        "timezone": ("UTC", "default", None),
        "prices": (None, "default", None),
        "archive_identity": (None, "default", None),
        **NOTHING_MASKED,
    }


def test_a_wrong_file_ends_every_command_with_its_line(
    run_recollect: RunRecollect, config: Path
) -> None:
    """An invalid config file is never silently ignored."""
    config.write_text("\ncolour = true\n", encoding="utf-8")
    valid = ", ".join(("roots", "timezone", "prices", "archive_identity", *NOTHING_MASKED))
    reason = f"Unknown setting `colour`. Valid settings: {valid}."
    message = f"recollect: {config}, line 2: {reason}\n"
    for arguments in (("config", "show"), ("usage", "--demo"), ("doctor", "--demo")):
        assert run_recollect(*arguments) == Finished(2, "", message)
    assert run_recollect("--version").code == 0


def test_commands_take_their_defaults_from_the_file(
    run_recollect: RunRecollect, config: Path
) -> None:
    """Directories and time zone come from the file unless options set them."""
    root = config.parents[2] / ".claude"
    moved = root.rename(root.with_name("moved"))
    config.write_text(f'roots = ["{moved}"]\ntimezone = "Asia/Tokyo"\n', encoding="utf-8")
    result = run_recollect("usage", "--json", env={"CLAUDE_CONFIG_DIR": ""})
    document = json.loads(result.stdout)
    assert (document["timezone"], document["totals"]["messages"]) == ("Asia/Tokyo", 53)


@pytest.mark.parametrize("command", ["usage", "doctor"])
def test_the_demo_does_not_mind_configured_directories(
    run_recollect: RunRecollect, config: Path, command: str
) -> None:
    """A configured default does not conflict with --demo."""
    config.write_text('roots = ["/nowhere"]\n', encoding="utf-8")
    assert run_recollect(command, "--demo", env={"CLAUDE_CONFIG_DIR": ""}).code == 0


def test_options_win_over_the_file(run_recollect: RunRecollect, config: Path) -> None:
    """Options override the config file."""
    config.write_text('timezone = "Asia/Tokyo"\n', encoding="utf-8")
    result = run_recollect("usage", "--demo", "--json", "--timezone", "UTC")
    assert json.loads(result.stdout)["timezone"] == "UTC"


def test_without_a_file_no_parser_of_files_is_loaded(config: Path) -> None:
    """The TOML parser is imported only if there is a file."""
    result = run_python("-X", "importtime", "-m", "recollect", "config", "show")
    assert "tomllib" not in result.stderr


def test_showing_is_what_it_does_anyway(run_recollect: RunRecollect, config: Path) -> None:
    """Without a subcommand it runs `config show`."""
    assert run_recollect("config") == run_recollect("config", "show")
